//! The subset of Markdown in which cases are written: headings, paragraphs and fenced blocks.

use std::ops::Range;

/// A part of a Markdown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// The range of lines of the part, counted from 0.
    pub(super) lines: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// A heading with its level.
    Heading(usize, String),
    /// Lines of text, joined by spaces.
    Paragraph(String),
    /// The text between two fences. Every line keeps its newline.
    Block(String),
}

/// Splits a text into parts.
///
/// # Errors
/// Returns an error if a fenced block has no end.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let part = if line.trim().is_empty() {
            at += 1;
            continue;
        } else if let Some(fence) = fence(line) {
            block(&lines, at, fence)?
        } else if let Some((level, title)) = heading(line) {
            Part { kind: PartKind::Heading(level, title.to_owned()), lines: at..at + 1 }
        } else {
            paragraph(&lines, at)
        };
        at = part.lines.end;
        parts.push(part);
    }
    Ok(parts)
}

/// The target of the first link in the text.
pub(super) fn link(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("](")?;
    rest.split_once(')').map(|(target, _)| target)
}

/// The texts between backticks.
pub(super) fn codes(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The anchor that GitHub generates for a heading.
pub(super) fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn fence(line: &str) -> Option<&str> {
    let length = line.len() - line.trim_start_matches('`').len();
    (length >= 3).then(|| &line[..length])
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (level > 0).then(|| title.strip_prefix(' ')).flatten().map(|title| (level, title.trim()))
}

fn block(lines: &[&str], start: usize, fence: &str) -> Result<Part, String> {
    let body = lines.get(start + 1..).unwrap_or_default();
    let Some(length) = body.iter().position(|line| line.trim_end() == fence) else {
        return Err(format!("the block that begins in line {} has no end", start + 1));
    };
    let text = body[..length].iter().flat_map(|line| [line, "\n"]).collect();
    Ok(Part { kind: PartKind::Block(text), lines: start..start + length + 2 })
}

fn paragraph(lines: &[&str], start: usize) -> Part {
    let goes_on = |line: &&&str| !line.trim().is_empty() && fence(line).is_none() && heading(line).is_none();
    let text: Vec<&str> = lines[start..].iter().take_while(goes_on).copied().collect();
    Part { kind: PartKind::Paragraph(text.join(" ")), lines: start..start + text.len() }
}
