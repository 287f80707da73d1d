//! Durations in texts: `30m`, `12h`, `1h30m`, `2d`.

use std::fmt::Write as _;
use std::time::Duration;

/// The units with their seconds, the largest first. A day has 24 hours.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// The longest duration: ten years.
pub const DURATION_MAX: Duration = Duration::from_hours(3_650 * 24);

/// A text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a duration is a number with `d`, `h`, `m` or `s`, such as `30m` or `1h30m`, and at most `3650d`")]
pub struct DurationError;

/// Parses a duration: numbers with units, each unit at most once, the largest first.
///
/// # Errors
/// The text has another form, or the duration is longer than [`DURATION_MAX`].
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let (mut rest, mut seconds) = (text, 0_u64);
    for (unit, of_unit) in UNITS {
        let Some((number, after)) = rest.split_once(unit) else { continue };
        if number.is_empty() || number.len() > 10 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DurationError);
        }
        let number: u64 = number.parse().map_err(|_| DurationError)?;
        seconds = number.checked_mul(of_unit).and_then(|part| seconds.checked_add(part)).ok_or(DurationError)?;
        rest = after;
    }
    let duration = Duration::from_secs(seconds);
    if text.is_empty() || !rest.is_empty() || duration > DURATION_MAX { Err(DurationError) } else { Ok(duration) }
}

/// Writes a duration as [`parse`] reads it, rounded down to whole seconds.
pub fn text(duration: Duration) -> String {
    let mut rest = duration.as_secs();
    let mut text = String::new();
    for (unit, of_unit) in UNITS {
        if rest >= of_unit {
            let _ = write!(text, "{}{unit}", rest / of_unit);
            rest %= of_unit;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_and_written() {
        for (written, seconds) in [("30m", 1_800), ("12h", 43_200), ("2d", 172_800), ("1h30m", 5_400), ("0s", 0)] {
            assert_eq!(parse(written), Ok(Duration::from_secs(seconds)), "{written}");
            assert_eq!(text(Duration::from_secs(seconds)), written);
        }
        assert_eq!(parse("90m").map(text), Ok("1h30m".to_owned()));
    }

    #[test]
    fn other_texts_are_no_durations() {
        for wrong in ["", "30", "m", "1.5h", "-1h", "30m1h", "1h1h", "1 h", "1w", "1H", "3651d", "99999999999d", "1h30"]
        {
            assert_eq!(parse(wrong), Err(DurationError), "{wrong}");
        }
    }
}
