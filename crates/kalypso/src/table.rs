//! Tables for people: aligned columns that fit the width of the terminal.
//!
//! Output that does not go to a terminal is never cut or wrapped, so that `grep` and `awk` find whole rows.

/// The number of blanks between columns.
const GAP: usize = 2;
/// The minimum width that tables are fitted to, in columns of the terminal.
const NARROWEST: usize = 40;
/// The minimum width of the last column beside the others. If there is less room, the last column stands below its row.
const LAST_MIN: usize = 24;
/// The indentation of a column below its row.
const BELOW: usize = 4;
/// The maximum number of lines of a cell. The output of `-o json` has the whole text.
const LINES_MAX: usize = 4;

/// Formats rows with aligned columns, two blanks apart.
pub(crate) fn table<const COLUMNS: usize>(rows: impl Iterator<Item = [String; COLUMNS]>) -> String {
    indented(rows, 0)
}

/// Formats rows as [`table()`] does, with an indentation.
pub(crate) fn indented<const COLUMNS: usize>(rows: impl Iterator<Item = [String; COLUMNS]>, indent: usize) -> String {
    let rows: Vec<_> = rows.collect();
    let text = laid_out(&rows, terminal_width().map(|width| width.max(NARROWEST).saturating_sub(indent)));
    let indent = " ".repeat(indent);
    text.lines().map(|line| format!("{}\n", format!("{indent}{line}").trim_end())).collect()
}

/// Formats rows as [`table()`] does. Every row has the same number of columns.
pub(crate) fn of_rows(rows: &[Vec<String>]) -> String {
    laid_out(rows, terminal_width().map(|width| width.max(NARROWEST)))
}

/// Wraps lines that are longer than the terminal. The continuation lines are indented.
pub(crate) fn fitted(text: &str) -> String {
    match terminal_width() {
        Some(width) => fitted_to(text, width.max(NARROWEST)),
        None => text.to_owned(),
    }
}

fn fitted_to(text: &str, width: usize) -> String {
    let fit = |line: &str| {
        if columns(line) <= width {
            return format!("{line}\n");
        }
        let text = line.trim_start();
        let indent = (columns(line) - columns(text)).min(width / 2);
        let mut fitted = String::new();
        let mut used = indent;
        fitted.push_str(&" ".repeat(indent));
        for (number, word) in text.split(' ').enumerate() {
            if number > 0 && used + 1 + columns(word) > width && !word.is_empty() {
                fitted.truncate(fitted.trim_end().len());
                fitted.push('\n');
                fitted.push_str(&" ".repeat(indent + BELOW));
                used = indent + BELOW;
            } else if number > 0 {
                fitted.push(' ');
                used += 1;
            }
            fitted.push_str(word);
            used += columns(word);
        }
        format!("{}\n", fitted.trim_end())
    };
    text.lines().map(fit).collect()
}

/// The width of the terminal, if standard output is a terminal.
fn terminal_width() -> Option<usize> {
    let terminal = console::Term::stdout();
    let (_, width) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(width.into())
}

/// The width of a text on a terminal. Letters of many scripts take two columns.
pub(crate) fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Pads a text with blanks to this width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

fn laid_out(rows: &[impl AsRef<[String]>], width: Option<usize>) -> String {
    let count = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.as_ref().get(column)).map(|cell| columns(cell)).max();
    let mut widths: Vec<usize> = (0..count).map(|column| widest(column).unwrap_or(0)).collect();
    let mut beside = widths.len();
    if let (Some(width), Some((last, others))) = (width, widths.split_last_mut()) {
        let of_others: usize = others.iter().map(|width| width + GAP).sum();
        let left = width.saturating_sub(of_others);
        if *last > left && left >= LAST_MIN {
            *last = left;
        } else if *last > left {
            beside = fitting(&widths, width);
        }
        if let [first, ..] = &mut widths[..] {
            *first = (*first).min(width);
        }
    }
    rows.iter().map(|row| line(row.as_ref(), (&widths, beside), width.unwrap_or(usize::MAX))).collect()
}

/// The number of columns, from the first, that fit beside one another. Names are not broken to make room.
fn fitting(widths: &[usize], width: usize) -> usize {
    let mut used = 0;
    let fits = |column: &&usize| {
        used += **column + GAP;
        used <= width + GAP
    };
    widths.iter().take_while(fits).count().max(1)
}

/// Formats a row with as many lines as its longest cell needs. The columns that do not fit stand below the others.
fn line(row: &[String], (widths, beside): (&[usize], usize), width: usize) -> String {
    let (row, rest) = row.split_at(beside.min(row.len()));
    let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let rest: Vec<_> = rest.iter().filter(|cell| !cell.is_empty()).map(String::as_str).collect();
    let below = wrapped(&rest.join(&" ".repeat(GAP)), width.saturating_sub(BELOW).max(1));
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for number in 0..height {
        let parts =
            cells.iter().zip(widths).map(|(lines, width)| padded(lines.get(number).map_or("", String::as_str), *width));
        let parts: Vec<_> = parts.collect();
        text.push_str(parts.join(&" ".repeat(GAP)).trim_end());
        text.push('\n');
    }
    for part in below.iter().filter(|part| !part.is_empty()) {
        text.push_str(&" ".repeat(BELOW));
        text.push_str(part);
        text.push('\n');
    }
    text
}

/// Wraps a text to this width: at blanks, or inside of words that are longer than a line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_full = |line: &String, more: usize| columns(line) + more > width;
        if let Some(last) = lines.last_mut().filter(|last| !last.is_empty()) {
            if is_full(last, 1 + columns(word)) {
                lines.push(String::new());
            } else {
                last.push(' ');
            }
        }
        for letter in word.chars() {
            let needed = columns(letter.encode_utf8(&mut [0; 4]));
            if lines.last().is_none_or(|line| !line.is_empty() && is_full(line, needed)) {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(letter);
            }
        }
    }
    cut(lines, width)
}

/// Removes the lines above the maximum, and adds a note about it.
fn cut(mut lines: Vec<String>, width: usize) -> Vec<String> {
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX);
        if let Some(last) = lines.last_mut() {
            while columns(last) >= width && last.pop().is_some() {}
            last.push('…');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[[&str; 3]], width: Option<usize>) -> String {
        laid_out(&rows.iter().map(|row| row.map(str::to_owned)).collect::<Vec<_>>(), width)
    }

    const ROWS: [[&str; 3]; 3] = [
        ["HOST", "STATUS", "MESSAGE"],
        ["門真-1", "failed", "HelmRelease not ready: image pull back-off"],
        ["dallas-04.stores.example", "succeeded", ""],
    ];

    #[test]
    fn columns_are_aligned_in_any_script() {
        let rows = [["NAME", "FOR", ""], ["é", "x", ""], ["門真", "y", "z"]];
        assert_eq!(check(&rows, None), "NAME  FOR\né     x\n門真  y    z\n");
    }

    #[test]
    fn output_without_a_terminal_is_not_wrapped() {
        assert_eq!(check(&ROWS, None), check(&ROWS, Some(200)));
        assert!(check(&ROWS, None).contains("failed     HelmRelease not ready: image pull back-off\n"));
    }

    #[test]
    fn last_column_uses_the_remaining_width() {
        let expected = "\
HOST                      STATUS     MESSAGE
門真-1                    failed     HelmRelease not ready:
                                     image pull back-off
dallas-04.stores.example  succeeded
";
        assert_eq!(check(&ROWS, Some(64)), expected);
    }

    #[test]
    fn last_column_moves_below_on_narrow_terminals() {
        let expected = "\
HOST                      STATUS
    MESSAGE
門真-1                    failed
    HelmRelease not ready: image pull
    back-off
dallas-04.stores.example  succeeded
";
        assert_eq!(check(&ROWS, Some(40)), expected);
    }

    #[test]
    fn names_are_not_wrapped() {
        let rows = [["HOST", "TARGET", "STATUS"], ["prod-chicago-edge-02", "checkout-performance-test", "in progress"]];
        let expected = "\
HOST
    TARGET  STATUS
prod-chicago-edge-02
    checkout-performance-test  in progress
";
        assert_eq!(check(&rows, Some(42)), expected);
    }

    #[test]
    fn long_lines_continue_with_indentation() {
        let text = "  set by        ConfigMap north-europe   control-plane@prod:configs/europe.yaml:18\n  short\n";
        let expected =
            "  set by        ConfigMap north-europe\n      control-plane@prod:configs/europe.yaml:18\n  short\n";
        assert_eq!(fitted_to(text, 48), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_gets_lost() {
        let long = "wörter門".repeat(9);
        for width in 40..90 {
            let text = check(&[["HOST", "KIND", "MESSAGE"], [&long, "flux", &long]], Some(width));
            assert!(text.lines().all(|line| columns(line) <= width), "{width}:\n{text}");
            let letters = text.chars().filter(|letter| *letter == '門').count();
            assert_eq!(letters, 18, "{width}:\n{text}");
        }
    }

    #[test]
    fn cells_with_too_many_lines_are_cut() {
        let lines = wrapped(&"x".repeat(100), 10);
        assert_eq!(lines.len(), LINES_MAX);
        assert_eq!(lines.last().unwrap(), "xxxxxxxxx…");
    }
}
