//! What a version consists of, beside its number and its commit.

use serde::{Deserialize, Serialize};

use crate::version::ApplicationVersion;

/// The keys of a version that its number does not tell. A deployment records them, so that a later one with new values renders the same version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReleaseKeys {
    /// The image. None: the configuration file names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The tag of the image. None: that of the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_tag: Option<String>,
    /// The SHA-256 digest of the package, in 64 hexadecimal digits. None: the application has no package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_sha256: Option<String>,
}

impl ReleaseKeys {
    /// The keys of manifests that are only looked at, before there is a version.
    pub fn of_no_release() -> Self {
        Self { package_sha256: Some("0".repeat(64)), ..Self::default() }
    }

    /// The tag of the image of a version.
    pub fn image_tag(&self, version: &ApplicationVersion) -> String {
        self.image_tag.clone().unwrap_or_else(|| version.image_tag())
    }

    /// Whether the number of the version tells everything.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys as JSON.
    pub(super) fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Reads what [`Self::text`] writes. None if it is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
