//! The address under which browsers reach the hub.

use std::str::FromStr;

use reqwest::Url;

use super::is_safe;

/// The address under which browsers reach the hub: a scheme and a host, perhaps with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// The text can't be the address of the hub for browsers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has to be an https:// URL without a path, such as https://hub.example (http:// only on this machine)")]
pub struct PublicUrlError;

impl PublicUrl {
    /// The address as browsers write it in the header `Origin`.
    pub fn origin(&self) -> &str {
        &self.0
    }

    /// The address to which the issuer sends the browser back. It must be registered at the issuer.
    pub fn redirect_uri(&self) -> String {
        format!("{}/sign-in/callback", self.0)
    }
}

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let url = Url::parse(text).ok().filter(|_| is_safe(text)).ok_or(PublicUrlError)?;
        // The cookies of sessions and the pages are for a whole origin.
        let is_origin = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_origin || !url.username().is_empty() || url.password().is_some() {
            return Err(PublicUrlError);
        }
        Ok(Self(url.origin().ascii_serialization()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<String> {
        text.parse::<PublicUrl>().ok().map(|url| url.redirect_uri())
    }

    #[test]
    fn the_address_is_an_origin() {
        let expected = Some("https://hub.example/sign-in/callback".to_owned());
        assert_eq!(check("https://hub.example"), expected);
        assert_eq!(check("https://HUB.example:443/"), expected);
        assert_eq!(check("http://localhost:8080").as_deref(), Some("http://localhost:8080/sign-in/callback"));
        for wrong in [
            "",
            "hub.example",
            "http://hub.example",
            "https://hub.example/kalypso",
            "https://hub.example?a",
            "https://hub.example/#a",
            "https://ann@hub.example",
            "ftp://localhost",
        ] {
            assert_eq!(check(wrong), None, "{wrong}");
        }
    }
}
