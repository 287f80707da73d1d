//! The file of a named release.

use super::NamedRelease;
use crate::states::state_file::{self, StateFileError};

/// The kind of the file. It is not a kind of objects of a fleet.
const KIND: &str = "Release";

/// The text of a release.
pub(super) fn write(release: &NamedRelease) -> String {
    state_file::write(&[("kind", KIND), ("name", &release.name)], release)
}

/// Reads the file of a release.
pub(super) fn read(name: &str, file: (&str, &str)) -> Result<NamedRelease, StateFileError> {
    let release = state_file::read(file, &[("kind", KIND), ("name", name)])?;
    Ok(NamedRelease { name: name.into(), ..release })
}

/// The version of a workload, with its key.
pub(super) mod version {
    use std::sync::Arc;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Version = Option<(Arc<str>, Arc<str>)>;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        key: Option<Arc<str>>,
        version: Option<Arc<str>>,
    }

    pub(crate) fn serialize<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, version) = version.clone().unzip();
        Fields { key, version }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        match Fields::deserialize(deserializer)? {
            Fields { key: None, version: Some(_) } => Err(D::Error::custom("`version` needs a `key`")),
            Fields { key, version } => Ok(key.zip(version)),
        }
    }
}
