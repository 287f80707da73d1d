//! The cookies of browsers.
//!
//! The prefix `__Host-` binds a cookie to exactly one host: no other site, not even below the same domain, can set it. Browsers accept it over HTTPS, and over
//! HTTP only from this machine.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};

use crate::authentication::random_secret::RandomSecret;

/// The cookie with the secret of a session.
pub(super) const SESSION: &str = "__Host-kalypso-session";
/// The cookie that binds an attempt to sign in at the OIDC issuer to its browser.
pub(super) const SIGN_IN: &str = "__Host-kalypso-sign-in";

/// The values of all cookies with a name.
pub(super) fn values<'h>(headers: &'h HeaderMap, name: &str) -> Vec<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.split_once('='));
    cookies.filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim()).collect()
}

/// The secret in a cookie; none if there is no such cookie, or several.
pub(super) fn secret(headers: &HeaderMap, name: &str) -> Option<RandomSecret> {
    match values(headers, name).as_slice() {
        [value] => RandomSecret::parse(value),
        _ => None,
    }
}

/// The header that sets a cookie for some time.
pub(super) fn set(name: &str, secret: &RandomSecret, age: Duration) -> HeaderValue {
    header_of(name, secret.reveal(), age)
}

/// The header that removes a cookie.
pub(super) fn remove(name: &str) -> HeaderValue {
    header_of(name, "", Duration::ZERO)
}

fn header_of(name: &str, value: &str, age: Duration) -> HeaderValue {
    let text = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={}", age.as_secs());
    // Names and secrets have only characters that are possible here.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (header::COOKIE, HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn cookies_are_found_in_all_headers() {
        let headers =
            headers(&["a=1; __Host-kalypso-session=x", "__Host-kalypso-session = y ;b", "c=__Host-kalypso-session=z"]);
        assert_eq!(values(&headers, SESSION), ["x", "y"]);
        assert_eq!(values(&headers, "c"), ["__Host-kalypso-session=z"]);
        assert!(values(&headers, SIGN_IN).is_empty() && secret(&headers, SESSION).is_none());
    }

    #[test]
    fn cookies_are_for_this_host_only_and_not_for_scripts() {
        let secret = RandomSecret::random().unwrap();
        let expected =
            format!("__Host-kalypso-session={}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60", secret.reveal());
        assert_eq!(set(SESSION, &secret, Duration::from_mins(1)), expected);
        assert_eq!(remove(SIGN_IN), "__Host-kalypso-sign-in=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    }
}
