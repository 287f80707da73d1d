//! Go's `time.Duration`: parsing and printing.

/// The nanoseconds of each unit.
const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a text such as `-1.5h30m` to nanoseconds (`time.ParseDuration`). None if it is not a duration or is out of range.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanoseconds, following) = parse_part(rest)?;
        total = total.checked_add(nanoseconds).filter(|&total| total <= 1 << 63)?;
        rest = following;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

/// Parses a number with its unit. Returns the nanoseconds and the rest of the text.
fn parse_part(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let unit_end = rest.find(|char: char| char == '.' || char.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    let (_, size) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let nanoseconds = whole.checked_mul(*size)?.checked_add(part_of(fraction, *size))?;
    Some((nanoseconds, rest))
}

/// The nanoseconds of a fraction of a unit. As in Go, computed in floating point and truncated.
fn part_of(fraction: &str, unit: u64) -> u64 {
    let (mut number, mut scale) = (0_u64, 1.0_f64);
    for digit in fraction.bytes() {
        let next = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|&next| next <= 1 << 63) else { break };
        number = next;
        scale *= 10.0;
    }
    (number as f64 * (unit as f64 / scale)) as u64
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len()))
}

/// Formats nanoseconds as Go prints a duration: `1h30m0s`, `1.5ms`.
pub(crate) fn show(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    let shown = match size {
        0 => return "0s".to_owned(),
        1..1_000 => format!("{size}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(size, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(size, 1_000_000)),
        _ => {
            let minutes = size / 60_000_000_000;
            let seconds = format!("{}s", decimal(size % 60_000_000_000, 1_000_000_000));
            match minutes {
                0 => seconds,
                1..60 => format!("{minutes}m{seconds}"),
                _ => format!("{}h{}m{seconds}", minutes / 60, minutes % 60),
            }
        }
    };
    format!("{sign}{shown}")
}

/// `number / unit`, exactly. The unit is a power of ten.
fn decimal(number: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let fraction = format!("{:0width$}", number % unit);
    let fraction = fraction.trim_end_matches('0');
    let whole = number / unit;
    if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
}
