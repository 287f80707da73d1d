//! Names as types. The compiler keeps names of different kinds apart, and every name is checked.
//!
//! Every name is a DNS subdomain as Kubernetes defines it (RFC 1123: lower case letters, digits, `-` and `.`, at most 253
//! characters), so it is also safe as a path segment.

use std::fmt;
use std::sync::Arc;

/// The longest name Kubernetes allows for an object, in bytes.
pub const NAME_LENGTH_MAX: usize = 253;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name can't be empty")]
    Empty,
    /// The text has more than [`NAME_LENGTH_MAX`] bytes.
    #[error("the name has {0} characters, at most {NAME_LENGTH_MAX} are allowed")]
    TooLong(usize),
    /// The text contains a character that is not allowed in names.
    #[error("{0:?} can't be in a name: only a-z, 0-9, `-` and `.` can")]
    Character(char),
    /// The text, or one of its parts between dots, does not begin and end with a letter or digit.
    #[error("a name, and each part of it between dots, begins and ends with a letter or digit")]
    Edge,
}

/// Checks that `text` is a DNS subdomain.
///
/// # Errors
/// The first reason why it is not.
pub fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    let is_allowed = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if let Some(character) = text.chars().find(|c| !is_allowed(c)) {
        return Err(NameError::Character(character));
    }
    if text.len() > NAME_LENGTH_MAX {
        return Err(NameError::TooLong(text.len()));
    }
    let is_edged = |part: &str| part.is_empty() || part.starts_with('-') || part.ends_with('-');
    if text.split('.').any(is_edged) { Err(NameError::Edge) } else { Ok(()) }
}

/// The longest DNS label, in bytes.
pub const LABEL_LENGTH_MAX: usize = 63;

/// Whether `text` is a DNS label as Kubernetes defines it (RFC 1123): lower case letters, digits and `-`, at most [`LABEL_LENGTH_MAX`] characters. The name of
/// a namespace is one.
pub fn is_dns_label(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    let is_allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    !text.is_empty()
        && text.len() <= LABEL_LENGTH_MAX
        && text.iter().all(is_allowed)
        && !text.starts_with(b"-")
        && !text.ends_with(b"-")
}

/// Whether Kubernetes takes `text` as a key of the data of a `ConfigMap` or `Secret`: letters, digits, `-`, `_` and `.`, at most [`NAME_LENGTH_MAX`]
/// characters, and not the name of a folder above.
pub fn is_data_key(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty()
        && text.len() <= NAME_LENGTH_MAX
        && text.bytes().all(is_allowed)
        && text != "."
        && !text.starts_with("..")
}

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "Arc<str>")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a text, and takes it as a name.
            ///
            /// # Errors
            /// The text is not a DNS subdomain.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, NameError> {
                let text = text.into();
                check(&text).map(|()| Self(text))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The name as a shared text.
            pub fn as_arc(&self) -> &Arc<str> {
                &self.0
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NameError;

            fn try_from(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl TryFrom<Arc<str>> for $name {
            type Error = NameError;

            fn try_from(text: Arc<str>) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl AsRef<Arc<str>> for $name {
            fn as_ref(&self) -> &Arc<str> {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+};
}

names! {
    /// The name of a deployment descriptor.
    DeploymentDescriptorName;
    /// The name of an environment, such as `dev`, `stage` or `prod`.
    EnvironmentName;
    /// The name of a cluster type.
    ClusterTypeName;
    /// The name of a cluster.
    ClusterName;
    /// The name of a place: of a cluster type or of a cluster. A cluster never has the name of a cluster type.
    PlaceName;
    /// The name of a workload.
    WorkloadName;
    /// The whole name of a deployment target, `<workload>-<target>`.
    DeploymentTargetName;
    /// The name of a scheduling policy.
    PolicyName;
    /// The name of a label mapping.
    LabelMappingName;
    /// The name of a release pin.
    ReleasePinName;
    /// The name of a promotion.
    PromotionName;
    /// The name of a template.
    TemplateName;
    /// The name of a `ConfigMap`.
    ConfigMapName;
    /// The name of a `ConfigSchema`.
    ConfigSchemaName;
    /// The name of a workload registration.
    RegistrationName;
    /// The name of a base repository.
    BaseRepoName;
    /// The name of a GitOps repository.
    GitOpsRepoName;
}

impl From<&ClusterTypeName> for PlaceName {
    fn from(name: &ClusterTypeName) -> Self {
        Self(Arc::clone(&name.0))
    }
}

impl From<&ClusterName> for PlaceName {
    fn from(name: &ClusterName) -> Self {
        Self(Arc::clone(&name.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_name(text: &str, expected: Result<(), NameError>) {
        assert_eq!(check(text), expected, "{text:?}");
    }

    #[test]
    fn dns_subdomains_are_names() {
        for good in ["a", "0", "west-us.large", "a--b", &"x".repeat(253)] {
            check_name(good, Ok(()));
        }
    }

    #[test]
    fn a_dns_label_has_no_dots_and_at_most_63_characters() {
        assert!(["a", "0-a", &"x".repeat(63)].into_iter().all(is_dns_label));
        assert!(!["", "a.b", "A", "-a", "a-", "ä", &"x".repeat(64)].into_iter().any(is_dns_label));
    }

    #[test]
    fn names_unsafe_as_paths_are_refused() {
        check_name("", Err(NameError::Empty));
        check_name("..", Err(NameError::Edge));
        check_name("a/b", Err(NameError::Character('/')));
        check_name("a b", Err(NameError::Character(' ')));
        check_name("A", Err(NameError::Character('A')));
        check_name("-a", Err(NameError::Edge));
        check_name("a.-b", Err(NameError::Edge));
        check_name(&"x".repeat(300), Err(NameError::TooLong(300)));
    }
}
