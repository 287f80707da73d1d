//! Hidden markers, by which a comment or issue is found again.

/// A marker in the body of a comment or issue. People do not see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker(String);

/// The text can't be a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a marker contains only letters, digits, blanks and `-_./:`, and no `--`")]
pub struct MarkerError;

impl Marker {
    /// Creates a marker, such as `kalypso plan dev`.
    ///
    /// # Errors
    /// If the text contains characters that could end the HTML comment.
    pub fn new(text: &str) -> Result<Self, MarkerError> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || " -_./:".contains(c);
        let is_marker = !text.trim().is_empty() && text.chars().all(is_allowed) && !text.contains("--");
        if is_marker { Ok(Self(format!("<!-- {} -->", text.trim()))) } else { Err(MarkerError) }
    }

    /// The text in the body, an HTML comment.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a body contains the marker.
    pub fn is_in(&self, body: &str) -> bool {
        body.contains(&self.0)
    }

    /// The body with the marker at its end.
    pub fn added_to(&self, body: &str) -> String {
        if self.is_in(body) { body.to_owned() } else { format!("{}\n\n{}", body.trim_end(), self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_hidden_and_found_again() {
        let marker = Marker::new("kalypso plan dev").unwrap();
        let body = marker.added_to("## Plan\n");
        assert_eq!(body, "## Plan\n\n<!-- kalypso plan dev -->");
        assert_eq!(marker.added_to(&body), body);
        assert!(marker.is_in(&body) && !Marker::new("kalypso plan de").unwrap().is_in(&body));
    }

    #[test]
    fn no_marker_can_end_its_comment() {
        for text in ["", " ", "a --> b", "a--b", "ä", "a\nb"] {
            assert_eq!(Marker::new(text), Err(MarkerError), "{text:?}");
        }
    }
}
