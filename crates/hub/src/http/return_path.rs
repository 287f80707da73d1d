//! The path to return to after a sign-in. It comes from outside, so it must not lead to another site.

use crate::limits::RETURN_CHARACTERS_MAX;

/// The path of a sign-in, and those below it: a return to them would not end.
const SIGN_IN: &str = "/sign-in";

/// The path and query to return to: the text if it is a path on this origin, and `/` otherwise.
pub(super) fn return_path(text: Option<&str>) -> &str {
    text.filter(|text| is_here(text)).unwrap_or("/")
}

/// Whether a browser stays on this origin. It takes `//` and `/\` for the beginning of a host, and ignores tabs and line breaks.
fn is_here(text: &str) -> bool {
    let is_harmless = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let behind = text.strip_prefix(SIGN_IN);
    let is_sign_in = behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['/', '?', '#']));
    text.starts_with('/')
        && !text.starts_with("//")
        && text.len() <= RETURN_CHARACTERS_MAX
        && text.bytes().all(is_harmless)
        && !is_sign_in
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::Url;

    use super::*;

    #[test]
    fn paths_on_this_origin_are_kept() {
        for path in
            ["/", "/environments?at=2026-11-01T00:00:00Z&workload=a%2Fb", "/a//b", "/sign-in-help", "/?return=//x"]
        {
            assert_eq!(return_path(Some(path)), path);
        }
    }

    #[test]
    fn other_sites_and_sign_ins_are_not_returned_to() {
        let long = format!("/{}", "a".repeat(RETURN_CHARACTERS_MAX));
        for text in [
            "",
            "a",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/a b",
            "/ü",
            "https://evil.example",
            "javascript:alert(1)",
            "\\\\evil.example",
            "/sign-in",
            "/sign-in?return=/sign-in",
            "/sign-in/oidc",
            &long,
        ] {
            assert_eq!(return_path(Some(text)), "/", "{text}");
        }
        assert_eq!(return_path(None), "/");
    }

    proptest! {
        #[test]
        fn a_browser_always_stays_on_this_origin(text in r"[/\\]{0,3}[a-z@:.?#%\\/\t\n\r \x00ü-]{0,30}") {
            let hub: Url = "https://hub.example/sign-in".parse().unwrap();
            let path = return_path(Some(&text));
            let there = hub.join(path).unwrap();
            prop_assert_eq!(there.origin(), hub.origin());
            prop_assert!(path == "/" || path == text);
        }

        #[test]
        fn any_text_is_a_header_and_stays_on_this_origin(text in any::<String>()) {
            let path = return_path(Some(&text));
            let hub: Url = "https://hub.example".parse().unwrap();
            prop_assert!(http::HeaderValue::from_str(path).is_ok());
            prop_assert_eq!(hub.join(path).unwrap().origin(), hub.origin());
        }
    }
}
