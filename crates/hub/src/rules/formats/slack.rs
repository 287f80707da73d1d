//! Messages for incoming webhooks of Slack: <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/>.

use serde_json::{Value as Json, json};

use super::{Notice, cut};

/// Maximum number of characters of a header block.
const HEADER_MAX: usize = 150;
/// Maximum number of characters of the text of a section.
const SECTION_MAX: usize = 3_000;

/// The message. Its blocks contain plain text: no name and no message of a host can mention people or hide a link. Clients without blocks, and
/// notifications on devices, show `text`, in which Slack's three control characters are escaped.
pub(in super::super) fn message(notice: &Notice) -> Json {
    let (title, summary) = (notice.title(), notice.summary());
    let facts: Vec<_> = notice.facts().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut blocks = vec![json!({"type": "header", "text": plain(&title, HEADER_MAX)})];
    let sections = [vec![summary.clone()], facts, notice.lines()];
    let sections = sections.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"));
    blocks.extend(sections.map(|text| json!({"type": "section", "text": plain(&text, SECTION_MAX)})));
    json!({"text": escaped(&format!("{title}. {summary}")), "blocks": blocks})
}

fn plain(text: &str, max: usize) -> Json {
    json!({"type": "plain_text", "text": cut(text, max), "emoji": false})
}

/// Escapes a text for Slack's mrkdwn: <https://docs.slack.dev/messaging/formatting-message-text/#escaping>.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::formats::tests::notice;

    #[test]
    fn a_message_has_a_text_and_plain_blocks() {
        let message = message(&notice("rule.firing"));
        let summary = "27 of 300 reconcilers failed, limit 5 %, since 2026-11-21T13:44:15.003Z.";
        assert_eq!(message["text"], format!("Firing: stage-failing. {summary}"));
        let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
        let section = |text: &str| json!({"type": "section", "text": plain(text)});
        let expected = json!([
            {"type": "header", "text": plain("Firing: stage-failing")},
            section(summary),
            section("Environment: stage"),
            section("chicago-02/checkout: <!channel> & [x](http://evil) *b*"),
        ]);
        assert_eq!(message["blocks"], expected);
    }

    #[test]
    fn control_characters_of_slack_are_escaped() {
        assert_eq!(escaped("<!here> & more"), "&lt;!here&gt; &amp; more");
    }
}
