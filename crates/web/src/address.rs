//! Addresses of pages: a path and a query, from texts with any characters.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters of a segment that are written as they are (RFC 3986, `unreserved`).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as a segment of a path.
pub(crate) fn encoded(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// A URL from outside, if it leads to a page of the web: other schemes could run scripts.
pub(crate) fn web_url(url: &str) -> Option<&str> {
    (url.starts_with("https://") || url.starts_with("http://")).then_some(url)
}

/// The address of a page of this site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    path: String,
    query: Vec<(String, String)>,
}

impl Address {
    /// The address of a path with these segments.
    pub(crate) fn of<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> Self {
        let path: String = segments.into_iter().map(|segment| format!("/{}", encoded(segment.as_ref()))).collect();
        Self { path: if path.is_empty() { "/".to_owned() } else { path }, query: Vec::new() }
    }

    /// The address of a path that is encoded already, with a query.
    pub(crate) fn from_encoded(path: &str, query: &str) -> Self {
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { path: path.to_owned(), query }
    }

    /// The value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(own, value)| own == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// The parameters that have a value.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(_, value)| !value.is_empty())
    }

    /// The same address with a parameter: its earlier values are replaced.
    #[must_use]
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        let mut address = self.without(name);
        address.query.push((name.to_owned(), value.to_owned()));
        address
    }

    /// The same address with more parameters.
    #[must_use]
    pub(crate) fn with_all(mut self, parameters: impl IntoIterator<Item = (String, String)>) -> Self {
        self.query.extend(parameters);
        self
    }

    /// The same address without a parameter.
    #[must_use]
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.query.retain(|(own, _)| own != name);
        self
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)?;
        if self.query.is_empty() {
            return Ok(());
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        write!(formatter, "?{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_whatever_is_in_them() {
        let name = "a/b?c#d%2F\u{202e}é\"<x>";
        let address = Address::of(["hosts", name]).with("q", "1&2=3 4").with("q", name);
        let text = address.to_string();
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>#".contains(&byte)), "{text}");
        let (path, query) = text.split_once('?').unwrap();
        assert_eq!(path.matches('/').count(), 2);
        assert_eq!(Address::from_encoded(path, query), address);
        assert_eq!(address.get("q"), Some(name));
    }

    #[test]
    fn empty_parameters_of_forms_are_no_parameters() {
        let address = Address::from_encoded("/", "a=&b=1");
        assert_eq!((address.get("a"), address.parameters().collect::<Vec<_>>()), (None, vec![("b", "1")]));
    }
}
