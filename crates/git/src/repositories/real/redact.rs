//! Makes messages of git safe to show: without credentials and control characters, and with a limited length.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::settings::HttpToken;

/// The maximum number of shown lines. The last lines are shown, because they contain the error.
const LINES_MAX: usize = 12;
/// The maximum number of shown characters of a line.
const LINE_MAX: usize = 300;

/// The user name that is sent with a token. GitHub requires this one; other hosts accept any.
pub(super) const TOKEN_USER: &str = "x-access-token";

/// The message to show for git's standard error.
pub(super) fn shown_message(messages: &str, token: Option<&HttpToken>) -> String {
    let mut text = messages.to_owned();
    if let Some(token) = token.filter(|token| !token.reveal().is_empty()) {
        let header = BASE64.encode(format!("{TOKEN_USER}:{}", token.reveal()));
        for secret in [header, BASE64.encode(token.reveal()), token.reveal().to_owned()] {
            text = text.replace(&secret, "…");
        }
    }
    let text = model::credential::without(&text);
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).take(LINE_MAX).collect::<String>();
    let lines: Vec<_> = text.split(['\n', '\r']).map(clean).filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(LINES_MAX);
    let shown = lines.get(from..).unwrap_or_default().join("; ");
    if shown.is_empty() { "git failed and said nothing".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &str, shown: &str) {
        assert_eq!(shown_message(messages, Some(&HttpToken::new("s3cret"))), shown, "{messages:?}");
    }

    #[test]
    fn the_token_is_not_shown_in_any_form() {
        check("fatal: s3cret is bad", "fatal: … is bad");
        check("Authorization: Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0", "Authorization: Basic …");
        check("https://user:other@git.example/app and ssh://git@x/y", "https://…@git.example/app and ssh://git@x/y");
        check("'https://a@b@git.example/app'", "'https://…@git.example/app'");
        check("ssh://git:other@git.example/app", "ssh://git:…@git.example/app");
        check("https://git.example/app?access_token=other", "https://git.example/app?access_token=…");
        check("proxy http://user:ot/her@proxy:3128", "proxy http://…@proxy:3128");
    }

    #[test]
    fn control_characters_of_servers_are_removed() {
        check("remote: \u{1b}[2Jhello\r\nfatal: no\n\n", "remote: [2Jhello; fatal: no");
        check("", "git failed and said nothing");
        assert!(shown_message(&"long line\n".repeat(1_000), None).len() < 200);
    }
}
