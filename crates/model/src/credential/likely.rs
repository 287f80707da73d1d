//! Recognizes texts that are probably credentials in clear, by their form or by the key that they stand at.

use std::ops::Range;

use super::{AFTER_SCHEME, in_order, of_urls};

/// Beginnings of tokens, the smallest number of characters after them, and what such a token is.
const PREFIXES: [(&str, usize, &str); 31] = [
    ("ghp_", 12, "a token of GitHub"),
    ("gho_", 12, "a token of GitHub"),
    ("ghu_", 12, "a token of GitHub"),
    ("ghs_", 12, "a token of GitHub"),
    ("ghr_", 12, "a token of GitHub"),
    ("github_pat_", 12, "a token of GitHub"),
    ("glpat-", 10, "a token of GitLab"),
    ("gldt-", 10, "a token of GitLab"),
    ("glrt-", 10, "a token of GitLab"),
    ("glptt-", 10, "a token of GitLab"),
    ("xoxb-", 10, "a token of Slack"),
    ("xoxp-", 10, "a token of Slack"),
    ("xoxa-", 10, "a token of Slack"),
    ("xoxr-", 10, "a token of Slack"),
    ("xoxs-", 10, "a token of Slack"),
    ("xapp-", 10, "a token of Slack"),
    ("AKIA", 12, "an access key of AWS"),
    ("ASIA", 12, "an access key of AWS"),
    ("sk_live_", 8, "a key of Stripe"),
    ("rk_live_", 8, "a key of Stripe"),
    ("whsec_", 12, "a key of Stripe"),
    ("sk-ant-", 12, "a key of an API"),
    ("sk-proj-", 12, "a key of an API"),
    ("AIza", 30, "a key of Google"),
    ("ya29.", 12, "a token of Google"),
    ("hvs.", 12, "a token of Vault"),
    ("npm_", 30, "a token of npm"),
    ("pypi-", 30, "a token of PyPI"),
    ("dckr_pat_", 10, "a token of Docker"),
    ("SG.", 30, "a key of SendGrid"),
    ("dop_v1_", 20, "a token of DigitalOcean"),
];

/// Words in connection strings that stand before a password or a key.
const IN_CONNECTIONS: [&str; 7] =
    ["password", "pwd", "accountkey", "sharedaccesskey", "sharedsecret", "clientsecret", "authtoken"];

/// What the text of a value probably is, such as `a token of GitHub`. None if it does not look like a credential. The text itself is in no answer.
pub fn likely(key: &str, text: &str) -> Option<&'static str> {
    let text = text.trim().trim_matches(['\'', '"']);
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    let of_word = words_of(text).find_map(|(_, word)| of_word(word));
    of_word
        .or_else(|| has_url_password(text).then_some("an address with a password"))
        .or_else(|| has_connection_password(text).then_some("a connection string with a password"))
        .or_else(|| (is_secret_key(key) && is_in_clear(key, text)).then_some("a password or token, by its key"))
}

/// The ranges of private keys and of tokens that are known by their form, in order.
pub(super) fn token_ranges(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    const HEAD_MAX: usize = 64;
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(BEGIN)) {
        let start = from + at;
        let rest = text.get(start..).unwrap_or_default();
        let head: String = rest.chars().take(HEAD_MAX).take_while(|c| *c != '\n').collect();
        from = start + BEGIN.len();
        if head.contains("PRIVATE KEY") {
            from = start + rest.find(END).unwrap_or(rest.len());
            found.push(start..from);
        }
    }
    let tokens = words_of(text).filter(|(_, word)| of_word(word).is_some());
    found.extend(tokens.map(|(start, word)| start..start + word.len()));
    in_order(found)
}

/// The words of a text that can be tokens, with their positions.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const LEAST: usize = 12;
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let words = text.split(move |c: char| !is_part(c));
    let start = move |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    words.filter(|word| word.len() >= LEAST).map(move |word| (start(word), word))
}

fn of_word(word: &str) -> Option<&'static str> {
    let is_token = |rest: &str, least: usize| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        rest.len() >= least && rest.chars().all(is_plain)
    };
    let of_prefix = PREFIXES.iter().find(|(prefix, least, _)| {
        word.strip_prefix(prefix).is_some_and(|rest| is_token(rest, *least) && is_as_written(prefix, rest))
    });
    of_prefix.map(|(.., kind)| *kind).or_else(|| is_web_token(word).then_some("a JSON Web Token"))
}

/// Whether the rest of a token has the form of its kind: access keys of AWS have only capitals and digits.
fn is_as_written(prefix: &str, rest: &str) -> bool {
    !matches!(prefix, "AKIA" | "ASIA") || rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// A JSON Web Token has three parts in base64, and the first two are JSON objects.
fn is_web_token(word: &str) -> bool {
    let parts: Vec<_> = word.split('.').collect();
    let is_base64 =
        |part: &&str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    matches!(parts.as_slice(), [head, body, _] if head.starts_with("eyJ") && body.starts_with("eyJ"))
        && parts.iter().all(is_base64)
}

/// Whether a URL in the text has a user with a password in clear.
fn has_url_password(text: &str) -> bool {
    of_urls(text).into_iter().any(|range| {
        let before = text.get(..range.start).unwrap_or_default();
        let behind = text.get(range.end..).unwrap_or_default();
        let user = text.get(range.clone()).unwrap_or_default();
        let password = user.split_once(':').map_or("", |(_, password)| password);
        // In an ssh URL, the range is only the password.
        let is_user = before.ends_with(AFTER_SCHEME) && behind.starts_with('@');
        is_user && !password.is_empty() && !is_reference(password)
    })
}

fn has_connection_password(text: &str) -> bool {
    let parts = text
        .split([';', '\n'])
        .flat_map(|part| if text.contains(';') { vec![part] } else { part.split_whitespace().collect() });
    let pairs = parts.filter_map(|part| part.split_once('='));
    let is_password = |(name, value): (&str, &str)| {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let value = value.trim().trim_matches(['\'', '"']);
        IN_CONNECTIONS.contains(&name.as_str()) && !value.is_empty() && !is_reference(value)
    };
    text.matches('=').count() > 1 && pairs.into_iter().any(is_password)
}

/// Whether a key names a password, token or key: by its last word, as in `DB_PASSWORD`, `apiToken` or `client-secret`. `PASSWORD_FILE` names a file.
fn is_secret_key(key: &str) -> bool {
    let words = words(key);
    let [.., last] = words.as_slice() else { return false };
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map_or("", String::as_str);
    match last.as_str() {
        "password" | "passwd" | "passphrase" | "pwd" | "token" | "secret" | "apikey" | "accesskey" | "secretkey"
        | "privatekey" | "authtoken" | "apitoken" | "clientsecret" => true,
        "key" => {
            matches!(before, "api" | "access" | "secret" | "private" | "account" | "encryption" | "signing" | "auth")
        }
        _ => false,
    }
}

/// The words of a key, in lower case: parts between signs, and between a small and a capital letter.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in key.chars() {
        let is_start = c.is_uppercase() && was_small;
        if (is_start || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the text at a key that names a credential is one, and not a name, a number, a switch or a reference.
fn is_in_clear(key: &str, text: &str) -> bool {
    const LEAST: usize = 6;
    let is_password = words(key).last().is_some_and(|word| word.starts_with("pass") || word == "pwd");
    let is_switch =
        matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "none" | "null");
    let is_name = text.bytes().all(|b| b.is_ascii_lowercase() || b".-_".contains(&b));
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_structure = text.starts_with(['{', '[']) || text.contains('\n') || text.contains(' ');
    if text.is_empty() || is_switch || is_reference(text) || is_structure {
        return false;
    }
    is_password || (text.len() >= LEAST && !is_name && !is_number)
}

/// Whether a text refers to a credential that is elsewhere, or stands for one that is filled in later.
fn is_reference(text: &str) -> bool {
    const MARKS: [&str; 9] = ["${", "$(", "{{", "<", "ENC[", "@Microsoft.KeyVault", "vault", "secrets/", "%("];
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let has_scheme = scheme.len() > 1
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        && !scheme.bytes().all(|b| b.is_ascii_digit());
    let is_variable =
        text.strip_prefix('$').is_some_and(|name| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
            || (text.len() > 2 && text.starts_with('%') && text.ends_with('%'));
    let is_path = text.starts_with('/') || text.starts_with("./");
    let is_hidden = text.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…' | '-' | '_'));
    has_scheme || is_variable || is_path || is_hidden || MARKS.iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, text: &str, expected: Option<&str>) {
        assert_eq!(likely(key, text), expected, "{key}: {text}");
    }

    #[test]
    fn tokens_are_recognized_by_their_form() {
        check("A", "ghp_0123456789abcdefghij0123456789abcdef", Some("a token of GitHub"));
        check("A", "url: https://x?t=github_pat_11ABCDEFG0abcdefghijk", Some("a token of GitHub"));
        check("A", "glpat-abcdefghij1234567890", Some("a token of GitLab"));
        check("A", "xoxb-123456789012-abcdef", Some("a token of Slack"));
        check("A", "AKIAIOSFODNN7EXAMPLE", Some("an access key of AWS"));
        check("A", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", Some("a key of Stripe"));
        check("A", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", Some("a private key"));
        check("A", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", Some("a JSON Web Token"));
        for text in ["ghp_", "ghp_short", "AKIAsmall", "eyJ.eyJ.x", "-----BEGIN CERTIFICATE-----", "skip_live_x"] {
            check("A", text, None);
        }
    }

    #[test]
    fn passwords_in_addresses_and_connection_strings_are_recognized() {
        check("DATABASE_URL", "postgres://till:hunter2@db.example/till", Some("an address with a password"));
        check("A", "Server=db;User Id=till;Password=hunter2;", Some("a connection string with a password"));
        check("A", "host=db user=till password=hunter2", Some("a connection string with a password"));
        check(
            "A",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=YWJj",
            Some("a connection string with a password"),
        );
        for text in [
            "postgres://till:${DB_PASSWORD}@db.example/till",
            "postgres://till@db.example/till",
            "ssh://git@git.example/a",
            "Server=db;User Id=till;Password=${PASSWORD};",
            "https://h.example/a?b=c",
            "password=x",
        ] {
            check("A", text, None);
        }
    }

    #[test]
    fn keys_that_name_credentials_count_unless_the_value_is_a_reference() {
        for key in ["DB_PASSWORD", "dbPassword", "password", "API_TOKEN", "api-key", "client-secret", "SIGNING_KEY"] {
            check(key, "Hunter2-Hunter2", Some("a password or token, by its key"));
            for reference in [
                "vault:secret/db#password",
                "${DB}",
                "op://a/b",
                "/run/secrets/db",
                "ENC[AES256,a]",
                "{{ .X }}",
                "<fill in>",
                "****",
                "$DB_PASSWORD",
                "",
            ] {
                check(key, reference, None);
            }
        }
        check("PASSWORD", "hunter", Some("a password or token, by its key"));
        for (key, text) in [
            ("PASSWORD_FILE", "Hunter2-x"),
            ("TOKEN_TTL", "3600"),
            ("PASSWORD", "true"),
            ("IMAGE_PULL_SECRET", "regcred"),
            ("SECRET_NAME", "Hunter2-x"),
            ("KEY", "Hunter2-x"),
            ("sort-key", "Name2-x"),
            ("TOKEN", "12345678"),
        ] {
            check(key, text, None);
        }
    }
}
