//! Adaptive Cards for workflows of Microsoft Teams that begin with "When a Teams webhook request is received":
//! <https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#send-adaptive-cards-using-an-incoming-webhook>.

use serde_json::{Value as Json, json};

use super::Notice;

/// The version of Adaptive Cards that all clients of Teams support.
const CARD_VERSION: &str = "1.4";

/// The message with the card. Its texts are text runs, in which Markdown has no effect: no name and no message of a host can hide a link.
pub(in super::super) fn message(notice: &Notice) -> Json {
    let colour = if notice.is_resolved() { "good" } else { "attention" };
    let title =
        json!({"type": "TextRun", "text": notice.title(), "weight": "bolder", "size": "large", "color": colour});
    let mut body = vec![rich(vec![title]), text(&notice.summary())];
    body.extend(notice.facts().iter().map(|(name, value)| {
        let name = json!({"type": "TextRun", "text": format!("{name}: "), "weight": "bolder"});
        rich(vec![name, json!({"type": "TextRun", "text": value})])
    }));
    body.extend(notice.lines().iter().map(|line| text(line)));
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": CARD_VERSION,
        "fallbackText": format!("{}. {}", notice.title(), notice.summary()),
        "msteams": {"width": "Full"},
        "body": body,
    });
    let attachment =
        json!({"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null, "content": card});
    json!({"type": "message", "attachments": [attachment]})
}

fn text(text: &str) -> Json {
    rich(vec![json!({"type": "TextRun", "text": text})])
}

fn rich(runs: Vec<Json>) -> Json {
    json!({"type": "RichTextBlock", "inlines": runs})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::formats::tests::notice;

    #[test]
    fn a_card_is_an_attachment_of_a_message() {
        let message = message(&notice("rule.resolved"));
        assert_eq!(message["type"], "message");
        let attachment = &message["attachments"][0];
        assert_eq!(attachment["contentType"], "application/vnd.microsoft.card.adaptive");
        let card = &attachment["content"];
        assert_eq!((&card["type"], &card["version"]), (&"AdaptiveCard".into(), &"1.4".into()));
        let body = card["body"].as_array().unwrap();
        let texts: Vec<_> = body.iter().map(|block| block["inlines"][0]["text"].as_str().unwrap()).collect();
        let summary = "27 of 300 reconcilers failed, limit 5 %. It was above the limit since 2026-11-21T13:44:15.003Z.";
        let line = "chicago-02/checkout: <!channel> & [x](http://evil) *b*";
        assert_eq!(texts, ["Resolved: stage-failing", summary, "Environment: ", line]);
        assert_eq!(body[0]["inlines"][0]["color"], "good");
        assert!(body.iter().all(|block| block["type"] == "RichTextBlock"));
    }
}
