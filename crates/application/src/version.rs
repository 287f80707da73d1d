//! The version of an application.

use std::fmt;
use std::str::FromStr;

/// A semantic version, as in [semver.org](https://semver.org), with its pre-release and build.
///
/// A `v` before it is not part of it: `v2.4.0` is the name of a tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationVersion(semver::Version);

/// The reason why a text is not a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a semantic version: {reason}")]
pub struct VersionError {
    text: String,
    reason: String,
}

impl ApplicationVersion {
    /// The version without its build: `2.4.0-rc.1`.
    pub fn without_build(&self) -> String {
        semver::Version { build: semver::BuildMetadata::EMPTY, ..self.0.clone() }.to_string()
    }

    /// The build: `57` in `2.4.0+57`. Empty without one.
    pub fn build(&self) -> &str {
        self.0.build.as_str()
    }

    /// The version of a Debian package: `2.4.0~rc.1+57`. `~` sorts before everything, so that a pre-release is older than its version
    /// ([Debian Policy 5.6.12](https://www.debian.org/doc/debian-policy/ch-controlfields.html#version)).
    pub fn debian(&self) -> String {
        let semver::Version { major, minor, patch, pre, build } = &self.0;
        let pre = if pre.is_empty() { String::new() } else { format!("~{}", pre.replace('-', ".")) };
        let build = if build.is_empty() { String::new() } else { format!("+{}", build.replace('-', ".")) };
        format!("{major}.{minor}.{patch}{pre}{build}")
    }

    /// The version as the tag of an image, in which `+` is not allowed: `2.4.0-57`.
    pub fn image_tag(&self) -> String {
        self.0.to_string().replace('+', "-")
    }
}

impl FromStr for ApplicationVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let version = semver::Version::parse(text.strip_prefix('v').unwrap_or(text));
        version.map(Self).map_err(|error| VersionError { text: text.to_owned(), reason: error.to_string() })
    }
}

/// Writes `2.4.0-rc.1+57`.
impl fmt::Display for ApplicationVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_of_debian_packages_are_sorted_as_semantic_versions() {
        let debian = |text: &str| text.parse::<super::ApplicationVersion>().unwrap().debian();
        assert_eq!(debian("2.4.0"), "2.4.0");
        assert_eq!(debian("2.4.0-rc.1+57"), "2.4.0~rc.1+57");
        // A hyphen begins the revision of a package.
        assert_eq!(debian("2.4.0-pre-1+a-b"), "2.4.0~pre.1+a.b");
    }

    use super::*;

    fn check(text: &str, expected: [&str; 3]) {
        let version: ApplicationVersion = text.parse().unwrap();
        assert_eq!([&version.without_build(), version.build(), &version.image_tag()], expected);
    }

    #[test]
    fn versions_have_a_pre_release_and_a_build() {
        check("2.4.0", ["2.4.0", "", "2.4.0"]);
        check("v2.4.0-rc.1+57.a", ["2.4.0-rc.1", "57.a", "2.4.0-rc.1-57.a"]);
    }

    #[test]
    fn other_texts_are_errors() {
        for text in ["", "2.4", "latest", "2.4.0 ", "2.4.0\n", "02.4.0", "vv1.0.0"] {
            assert!(text.parse::<ApplicationVersion>().is_err(), "{text}");
        }
        let error = "2.4".parse::<ApplicationVersion>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`2.4` is not a semantic version: unexpected end of input while parsing minor version number"
        );
    }
}
