//! Texts as HTML: the descriptions of work items are HTML, and Azure DevOps removes its comments.

/// A text as HTML that shows the same characters, line by line.
pub(crate) fn from_text(text: &str) -> String {
    text.lines().map(line).collect()
}

fn line(line: &str) -> String {
    let trimmed = line.trim_start_matches(' ');
    let indent = "&nbsp;".repeat(line.len() - trimmed.len());
    let escaped = trimmed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if line.is_empty() { "<div><br></div>".to_owned() } else { format!("<div>{indent}{escaped}</div>") }
}

/// The text that HTML shows. The reverse of [`from_text`], also if Azure DevOps or an editor wrote the same in another way.
pub(crate) fn to_text(html: &str) -> String {
    let (mut text, mut rest) = (String::new(), html);
    // Whether the line has ended already: a break at the end of a block adds no line.
    let mut is_ended = false;
    while let Some(character) = rest.chars().next() {
        let (shown, length) = match character {
            '<' => match tag(rest) {
                Some((name, length)) => {
                    let is_break = matches!(name.as_str(), "br" | "br/");
                    if is_break || (matches!(name.as_str(), "/div" | "/p" | "/li") && !is_ended) {
                        text.push('\n');
                    }
                    is_ended = is_break;
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
                None => (Some('<'), 1),
            },
            '&' => entity(rest),
            // Line ends of the source show nothing.
            '\n' | '\r' => (None, 1),
            other => (Some(other), other.len_utf8()),
        };
        if let Some(shown) = shown {
            text.push(if shown == '\u{a0}' { ' ' } else { shown });
            is_ended = false;
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    text.trim_end().to_owned()
}

/// The name of the tag at the begin in lower case, such as `/div`, and the length of the tag.
fn tag(html: &str) -> Option<(String, usize)> {
    let end = html.find('>')?;
    let name = html.get(1..end)?.split_whitespace().next().unwrap_or_default();
    Some((name.to_ascii_lowercase(), end + 1))
}

/// The character of the entity at the begin, and its length. Without a known entity, the `&` itself.
fn entity(html: &str) -> (Option<char>, usize) {
    let found = html.find(';').filter(|end| *end < 10).and_then(|end| Some((html.get(1..end)?, end + 1)));
    let character = found.and_then(|(name, _)| match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "nbsp" => Some(' '),
        number => {
            let digits = number.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            char::from_u32(code.ok()?)
        }
    });
    match (character, found) {
        (Some(character), Some((_, length))) => (Some(character), length),
        _ => (Some('&'), 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn html_shows_the_text() {
        let text = "# Errors\n\n- `a<b>` & c\n  more\n\n<!-- kalypso dev -->";
        let html = from_text(text);
        assert_eq!(
            html,
            "<div># Errors</div><div><br></div><div>- `a&lt;b&gt;` &amp; c</div><div>&nbsp;&nbsp;more</div>\
             <div><br></div><div>&lt;!-- kalypso dev --&gt;</div>"
        );
        assert_eq!(to_text(&html), text);
    }

    #[test]
    fn equivalent_html_forms_are_read() {
        let check = |html: &str, text: &str| assert_eq!(to_text(html), text, "{html}");
        check("<P class=\"a\">a &#60;b&#x3E;</P>\r\n<p>c&nbsp;d<br/></p>e", "a <b>\nc d\ne");
        check("one<br>two<!-- no --> <b>3</b>", "one\ntwo 3");
        check("a < b &unknown; & <", "a < b &unknown; & <");
        check("<", "<");
        check("&#xFFFFFFFF;", "&#xFFFFFFFF;");
    }

    proptest! {
        #[test]
        fn texts_round_trip_through_html(lines in proptest::collection::vec("[ -~äß€\u{1F600}]{0,20}", 0..6)) {
            let text = lines.join("\n");
            prop_assert_eq!(to_text(&from_text(&text)), text.trim_end());
        }

        #[test]
        fn any_html_is_read(html in "(<|>|&|;|#|x|br|div|/| |é|9){0,30}") {
            to_text(&html);
        }
    }
}
