//! What a registry asks for: the header `WWW-Authenticate` of an answer without access, as in RFC 9110, section 11.6.1.

use std::collections::BTreeMap;

/// A way to get access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A token of this server.
    Bearer(TokenServer),
    /// The user and the password.
    Basic,
}

/// The server that gives tokens, and what it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenServer {
    pub(super) realm: String,
    pub(super) service: Option<String>,
    pub(super) scope: Option<String>,
}

/// The best challenge of the values of the header. None: none that is known.
pub(super) fn parse<'h>(values: impl Iterator<Item = &'h str>) -> Option<Challenge> {
    let mut found = None;
    for value in values {
        for (scheme, mut parameters) in challenges(value) {
            match (scheme.as_str(), parameters.remove("realm")) {
                ("bearer", Some(realm)) => {
                    let (service, scope) = (parameters.remove("service"), parameters.remove("scope"));
                    return Some(Challenge::Bearer(TokenServer { realm, service, scope }));
                }
                ("basic", _) => found = Some(Challenge::Basic),
                _ => {}
            }
        }
    }
    found
}

/// The challenges of one value: schemes in lower case, with their parameters.
fn challenges(value: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut found: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            return found;
        }
        let word = word.to_ascii_lowercase();
        let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') else {
            found.push((word, BTreeMap::new()));
            rest = after;
            continue;
        };
        let (text, after) = parameter(value.trim_start_matches([' ', '\t']));
        if let Some((_, parameters)) = found.last_mut() {
            parameters.insert(word, text);
        }
        rest = after;
    }
}

/// The value of a parameter, with or without quotes, and the text after it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.to_owned(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, quoted.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: Option<(&str, Option<&str>, Option<&str>)>) {
        let expected = expected.map(|(realm, service, scope)| {
            let (service, scope) = (service.map(str::to_owned), scope.map(str::to_owned));
            Challenge::Bearer(TokenServer { realm: realm.to_owned(), service, scope })
        });
        assert_eq!(parse(values.iter().copied()), expected, "{values:?}");
    }

    #[test]
    fn token_servers_are_found() {
        let hub = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull,push""#;
        let scope = Some("repository:library/nginx:pull,push");
        check(&[hub], Some(("https://auth.docker.io/token", Some("registry.docker.io"), scope)));
        check(&["bearer realm=https://a/t , SERVICE = \"a \\\"b\\\"\""], Some(("https://a/t", Some("a \"b\""), None)));
        check(&[r#"Basic realm="x", Bearer realm="https://a""#], Some(("https://a", None, None)));
        check(&["Negotiate", r#"Bearer realm="https://a""#], Some(("https://a", None, None)));
    }

    #[test]
    fn broken_headers_are_no_challenge() {
        for value in
            ["", ",", "=", "Bearer", "Bearer service=x", "realm=\"x", "Negotiate", "\"\"\"", "Bearer \u{e9}=\\"]
        {
            check(&[value], None);
        }
        assert_eq!(parse([r#"Basic realm="r.io"#].into_iter()), Some(Challenge::Basic));
    }
}
