//! Finds credentials in texts, so that messages and excerpts leave them out.

mod likely;

use std::borrow::Cow;
use std::ops::Range;

pub use self::likely::likely;

/// The text that replaces a credential in output.
pub const HIDDEN: &str = "…";

/// What separates the scheme of a URL from the rest.
const AFTER_SCHEME: &str = "://";

/// The ranges of the credentials in a text, in order: private keys, tokens that are known by their form, and those of URLs: users with their passwords,
/// and the values of queries and fragments. In an `ssh` URL, the user is part of the address and is not a credential. The password in such a URL is a
/// credential.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = of_urls(text);
    found.extend(likely::token_ranges(text));
    in_order(found)
}

/// Sorts ranges, and joins overlapping ones.
fn in_order(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, kept| {
        let is_inside = next.start < kept.end;
        if is_inside {
            kept.end = kept.end.max(next.end);
        }
        is_inside
    });
    ranges
}

fn of_urls(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(AFTER_SCHEME)) {
        let start = from + at + AFTER_SCHEME.len();
        let end = start + end_of(text.get(start..).unwrap_or_default(), char::is_whitespace);
        let url = Url { text, start, end };
        let authority = url.user(&mut found);
        from = url.parameters(authority, &mut found);
    }
    found
}

/// As [`ranges`], for a text that is a single URL, possibly an invalid one: spaces and quotes do not end the URL.
pub fn ranges_of_url(text: &str) -> Vec<Range<usize>> {
    let Some(at) = text.find(AFTER_SCHEME) else {
        // `user@host:path` is an SSH address without a credential. A colon before the `@` means something else.
        let user = text.split_once('@').map_or("", |(user, _)| user);
        let colon = user.find(':');
        return colon.map(|_| 0..user.len()).into_iter().collect();
    };
    let url = Url { text, start: at + AFTER_SCHEME.len(), end: text.len() };
    let mut found = Vec::new();
    let authority = url.user(&mut found);
    let rest = text.get(authority..).unwrap_or_default();
    let parameters = rest.find(['?', '#']).map(|at| authority + at + 1..text.len());
    found.extend(parameters.filter(|range| !range.is_empty()));
    found
}

/// A text without the credentials in its URLs.
pub fn without(text: &str) -> Cow<'_, str> {
    replaced(text, &ranges(text))
}

/// A text without private keys and without tokens that are known by their form. URLs stay as they are.
pub fn without_tokens(text: &str) -> Cow<'_, str> {
    replaced(text, &likely::token_ranges(text))
}

/// A text that is a single URL, without its credentials.
pub fn without_in_url(text: &str) -> Cow<'_, str> {
    replaced(text, &ranges_of_url(text))
}

fn replaced<'t>(text: &'t str, ranges: &[Range<usize>]) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut result, mut from) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        result.push_str(text.get(from..range.start).unwrap_or_default());
        result.push_str(HIDDEN);
        from = range.end;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(result)
}

/// A URL in a text, starting after its scheme.
struct Url<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl Url<'_> {
    fn rest(&self, from: usize) -> &str {
        self.text.get(from..self.end).unwrap_or_default()
    }

    /// Finds the user, and returns where the part before the path ends.
    fn user(&self, found: &mut Vec<Range<usize>>) -> usize {
        let rest = self.rest(self.start);
        let length = end_of(rest, |c| matches!(c, '/' | '?' | '#'));
        let authority = rest.get(..length).unwrap_or_default();
        let at = authority.rfind('@').or_else(|| self.user_with_path(authority));
        let Some(at) = at else { return self.start + length };
        let scheme = self.text.get(..self.start - AFTER_SCHEME.len()).unwrap_or_default();
        let user = rest.get(..at).unwrap_or_default();
        let is_ssh = scheme.ends_with("ssh") || scheme.ends_with("ssh+git");
        // The user of `ssh://git@host` names a common account, and is not secret.
        let from = if is_ssh { user.find(':').map_or(at, |colon| colon + 1) } else { 0 };
        if from < at {
            found.push(self.start + from..self.start + at);
        }
        let behind = self.start + at + 1;
        behind + end_of(self.rest(behind), |c| matches!(c, '/' | '?' | '#'))
    }

    /// The `@` after a password that contains a `/` (instead of `%2F`). Then the text before the `/` only looks like a port.
    fn user_with_path(&self, authority: &str) -> Option<usize> {
        let (_, port) = authority.rsplit_once(':')?;
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) || authority.ends_with(']');
        if is_port { None } else { self.rest(self.start).rfind('@') }
    }

    /// Finds the values of the query, and of a fragment with parameters. Returns where the URL ends.
    fn parameters(&self, from: usize, found: &mut Vec<Range<usize>>) -> usize {
        let is_end = |c: char| matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '}' | '|');
        let end = from + end_of(self.rest(from), is_end);
        let text = self.text.get(from..end).unwrap_or_default();
        let Some(query) = text.find(['?', '#']) else { return end };
        let mut at = from + query;
        while at < end {
            let is_fragment = self.text.as_bytes().get(at) == Some(&b'#');
            let start = at + 1;
            let rest = self.text.get(start..end).unwrap_or_default();
            let stop = start + end_of(rest, |c| matches!(c, '&' | '#' | ';'));
            let part = self.text.get(start..stop).unwrap_or_default();
            match part.find('=') {
                Some(equals) if start + equals + 1 < stop => found.push(start + equals + 1..stop),
                None if !is_fragment && !part.is_empty() => found.push(start..stop),
                _ => {}
            }
            at = stop;
        }
        end
    }
}

fn end_of(text: &str, is_end: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| is_end(c) || c.is_control()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(without(text), expected, "{text:?}");
        assert_eq!(without(&without(text)), expected, "{text:?}");
    }

    #[test]
    fn users_and_passwords_are_left_out() {
        check("repo: https://user:s3cret@git.example/app", "repo: https://…@git.example/app");
        check("`https://t0ken@git.example/app` and http://a@b@c/d", "`https://…@git.example/app` and http://…@c/d");
        check("http://user:pa/ss@proxy:3128 failed", "http://…@proxy:3128 failed");
        check("postgres://hub:secret@db/hub", "postgres://…@db/hub");
        check("ssh://git@git.example/app", "ssh://git@git.example/app");
        check("git+ssh://git:s3cret@git.example/app", "git+ssh://git:…@git.example/app");
    }

    #[test]
    fn tokens_in_queries_and_fragments_are_left_out() {
        check("https://h/a?access_token=s3cret&x=1#id_token=y rest", "https://h/a?access_token=…&x=…#id_token=… rest");
        check("'https://h/a?s3cret'", "'https://h/a?…'");
        check("https://h/page.html#section", "https://h/page.html#section");
    }

    #[test]
    fn tokens_are_hidden_by_their_form() {
        let token = "ghp_0123456789abcdefghij0123456789abcdef";
        check(&format!("token: {token}, x"), "token: …, x");
        check(&format!("https://u:{token}@h/a {token}"), "https://…@h/a …");
        check("-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----", "…-----END PRIVATE KEY-----");
        check(&format!("{token}\n-----BEGIN PRIVATE KEY-----\n{token}"), "…\n…");
        assert_eq!(without_tokens(&format!("https://h/a?b=c {token}")), "https://h/a?b=c …");
    }

    #[test]
    fn texts_without_credentials_are_unchanged() {
        for text in ["https://git.example:8443/a@b", "a@b.example", "no URL://", "://@", "https://[::1]:80/x", ""] {
            check(text, if text == "://@" { "://@" } else { text });
        }
    }

    #[test]
    fn spaces_do_not_end_a_url_that_is_the_whole_text() {
        let check = |text: &str, expected: &str| assert_eq!(without_in_url(text), expected, "{text:?}");
        check("https://user:my pass@git.example/app", "https://…@git.example/app");
        check("https://git.example/app#s3cret", "https://git.example/app#…");
        check("https://git.example/app?a=b c", "https://git.example/app?…");
        check("user:s3cret@git.example:app", "…@git.example:app");
        check("git@git.example:app", "git@git.example:app");
    }
}
