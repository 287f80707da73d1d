//! URLs as Go's package net/url parses and writes them.

use std::net::Ipv6Addr;

/// The parts of a URL. All but the query are unescaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: Vec<u8>,
    /// The text after the scheme, if it does not begin with a slash.
    pub(crate) opaque: Vec<u8>,
    pub(crate) user: Option<User>,
    /// The host with the port.
    pub(crate) host: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) query: Vec<u8>,
    pub(crate) fragment: Vec<u8>,
}

/// The user name and the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// A part of a URL. It determines which characters must be escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlPart {
    Fragment,
    Host,
    Path,
    UserPassword,
    Zone,
}

impl Url {
    /// Parses `text` (`url.Parse`). The error is Go's message.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let (rest, fragment) = cut(text, b'#');
        let mut url = Self::parse_without_fragment(rest)?;
        url.fragment = unescape(fragment, UrlPart::Fragment)?;
        Ok(url)
    }

    fn parse_without_fragment(text: &[u8]) -> Result<Self, String> {
        if text.iter().any(|&byte| byte < b' ' || byte == 0x7f) {
            return Err("invalid control character in URL".to_owned());
        }
        let (scheme, rest) = split_scheme(text)?;
        let (mut rest, query) = cut(rest, b'?');
        let mut url = Self { scheme: scheme.to_ascii_lowercase(), query: query.to_vec(), ..Self::default() };
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_authority = !url.scheme.is_empty() || !rest.starts_with(b"///");
        if let Some(authority) = rest.strip_prefix(b"//").filter(|_| has_authority) {
            let end = authority.iter().position(|&byte| byte == b'/').unwrap_or(authority.len());
            let (authority, path) = authority.split_at(end);
            (url.user, url.host) = parse_authority(authority)?;
            rest = path;
        }
        url.path = unescape(rest, UrlPart::Path)?;
        Ok(url)
    }

    /// The host without port and brackets.
    pub(crate) fn hostname(&self) -> &[u8] {
        let port = self.host.iter().rposition(|&byte| byte == b':');
        let port = port.filter(|&at| is_port(self.host.get(at..).unwrap_or_default()));
        let host = self.host.get(..port.unwrap_or(self.host.len())).unwrap_or_default();
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    /// The URL as a text (`URL.String`).
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(&mut out);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            escape(&mut out, &self.fragment, UrlPart::Fragment);
        }
        out
    }

    fn write_hierarchy(&self, out: &mut Vec<u8>) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
            out.extend_from_slice(b"//");
        }
        if let Some(user) = &self.user {
            out.extend_from_slice(&user.write());
            out.push(b'@');
        }
        escape(out, &self.host, UrlPart::Host);
        let mut path = Vec::new();
        if self.path == b"*" {
            path.push(b'*');
        } else {
            escape(&mut path, &self.path, UrlPart::Path);
        }
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            out.push(b'/');
        }
        // Without `./`, a first segment with a colon would be parsed as a scheme.
        if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
            out.extend_from_slice(b"./");
        }
        out.extend_from_slice(&path);
    }
}

impl User {
    /// `name` or `name:password`, escaped.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let password = self.password.as_deref();
        if self.name.is_empty() && password.is_none_or(<[u8]>::is_empty) {
            return out;
        }
        escape(&mut out, &self.name, UrlPart::UserPassword);
        if let Some(password) = password {
            out.push(b':');
            escape(&mut out, password, UrlPart::UserPassword);
        }
        out
    }
}

/// The text before the first `separator`, and the text after it.
fn cut(text: &[u8], separator: u8) -> (&[u8], &[u8]) {
    let at = text.iter().position(|&byte| byte == separator);
    let parts = at.and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?)));
    parts.unwrap_or((text, &[]))
}

fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok(cut(text, b':')),
            _ => break,
        }
    }
    Ok((&[], text))
}

fn parse_authority(text: &[u8]) -> Result<(Option<User>, Vec<u8>), String> {
    let Some(at) = text.iter().rposition(|&byte| byte == b'@') else { return Ok((None, parse_host(text)?)) };
    let (user, host) = text.split_at(at);
    let host = parse_host(host.get(1..).unwrap_or_default())?;
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
    if !user.iter().all(is_valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(user, b':');
    let has_password = user.contains(&b':');
    let password = if has_password { Some(unescape(password, UrlPart::UserPassword)?) } else { None };
    Ok((Some(User { name: unescape(name, UrlPart::UserPassword)?, password }), host))
}

fn parse_host(host: &[u8]) -> Result<Vec<u8>, String> {
    if host.contains(&b'[') {
        return parse_ip_literal(host);
    }
    if let Some(colon) = host.iter().position(|&byte| byte == b':') {
        check_port(host.get(colon..).unwrap_or_default())?;
    }
    unescape(host, UrlPart::Host)
}

/// Parses a host like `[fe80::1%25en0]:80`.
fn parse_ip_literal(host: &[u8]) -> Result<Vec<u8>, String> {
    let inner = host.strip_prefix(b"[").ok_or("invalid character '[' in host name")?;
    let close = inner.iter().rposition(|&byte| byte == b']').ok_or("missing ']' in host")?;
    let (address, port) = inner.split_at(close);
    let port = port.get(1..).unwrap_or_default();
    check_port(port)?;
    let zone = address.windows(3).position(|part| part == b"%25").unwrap_or(address.len());
    let (address, zone) = address.split_at(zone);
    let (address, zone) = (unescape(address, UrlPart::Host)?, unescape(zone, UrlPart::Zone)?);
    let is_address = std::str::from_utf8(&address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    if !is_address || zone == b"%" {
        return Err("invalid host: not an IPv6 address in brackets".to_owned());
    }
    Ok([b"[", address.as_slice(), &zone, b"]", port].concat())
}

fn check_port(text: &[u8]) -> Result<(), String> {
    if is_port(text) {
        return Ok(());
    }
    Err(format!("invalid port {:?} after host", String::from_utf8_lossy(text)))
}

/// Whether the text is empty, or a colon and digits.
fn is_port(text: &[u8]) -> bool {
    text.is_empty() || text.strip_prefix(b":").is_some_and(|port| port.iter().all(u8::is_ascii_digit))
}

fn unescape(text: &[u8], part: UrlPart) -> Result<Vec<u8>, String> {
    let in_host = matches!(part, UrlPart::Host | UrlPart::Zone);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, following)) = rest.split_first() {
        if byte != b'%' {
            if in_host && byte.is_ascii() && must_escape(byte, part) {
                return Err(format!("invalid character {:?} in host name", char::from(byte)));
            }
            out.push(byte);
            rest = following;
            continue;
        }
        let escape = rest.get(..3).unwrap_or(rest);
        let decoded = hexadecimal(escape).filter(|&decoded| match part {
            UrlPart::Host => decoded >= 0x80 || decoded == b'%',
            UrlPart::Zone => decoded == b'%' || decoded == b' ' || !must_escape(decoded, UrlPart::Host),
            _ => true,
        });
        out.push(decoded.ok_or_else(|| format!("invalid URL escape {:?}", String::from_utf8_lossy(escape)))?);
        rest = rest.get(3..).unwrap_or_default();
    }
    Ok(out)
}

/// The byte of an escape like `%41`.
fn hexadecimal(escape: &[u8]) -> Option<u8> {
    let [b'%', high, low] = escape else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

fn escape(out: &mut Vec<u8>, text: &[u8], part: UrlPart) {
    for &byte in text {
        if must_escape(byte, part) {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            out.push(byte);
        }
    }
}

fn must_escape(byte: u8, part: UrlPart) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    let allowed: &[u8] = match part {
        UrlPart::Host | UrlPart::Zone => b"!$&'()*+,;=:[]<>\"",
        UrlPart::Path => b"$&+,/:;=@",
        UrlPart::UserPassword => b"$&+,;=",
        UrlPart::Fragment => b"$&+,/:;=?@!()*",
    };
    !allowed.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::Url;

    fn check(text: &str, expected: &str) {
        let shown = match Url::parse(text.as_bytes()) {
            Ok(url) => String::from_utf8(url.write()).unwrap(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn urls_are_escaped_when_printed() {
        check("HTTPS://user:pa%20ss@h:8443/a b?x=1#é", "https://user:pa%20ss@h:8443/a%20b?x=1#%C3%A9");
        check("mailto:a@b", "mailto:a@b");
        check("//net/path", "//net/path");
        check("http://[fe80::1%25en0]:80/", "http://[fe80::1%25en0]:80/");
    }

    #[test]
    fn an_invalid_url_is_an_error() {
        check("http://%zz", "error: invalid URL escape \"%zz\"");
        check("http://h:port/", "error: invalid port \":port\" after host");
        check("git@github.com:o/r", "error: first path segment in URL cannot contain colon");
        check("http://::1/", "error: invalid port \"::1\" after host");
        check("http://[1.2.3.4]/", "error: invalid host: not an IPv6 address in brackets");
        check(":x", "error: missing protocol scheme");
        check("a\nb", "error: invalid control character in URL");
    }
}
