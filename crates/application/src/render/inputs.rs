//! The digest of everything that the manifests of a target depend on.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::source::TargetSource;
use super::{PreparedTarget, RenderRequest};
use crate::settings::SourceKind;

/// Changes if this program writes other bytes from the same inputs.
const FORMAT: &str = "1";

/// The number of bytes of a digest that are used.
const BYTES: usize = 16;

/// A digest. Targets with the same one have the same manifests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputsId(String);

impl InputsId {
    /// A digest that was written with `Display`.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The digest of a target. None: its source has no files.
    pub(super) fn new(request: &RenderRequest<'_>, target: &PreparedTarget, source: &TargetSource<'_>) -> Option<Self> {
        let files = target.own_files.as_ref().or(source.files)?;
        let settings = request.settings;
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        };
        add(FORMAT);
        add(request.program_version);
        add(&files.listing());
        add(&format!("{:?}", source.kind));
        add(&format!("{:?} {} {}", settings.output.namespaces, settings.output.file, settings.output.kustomization));
        if source.kind.is_helm() {
            add(&format!("{:?}", super::output::helm_options(&settings.helm, source.service)));
            add(&target.json);
        }
        add(&super::output::release(request, &target.path, source));
        // The digests are no inputs: a tag that moves changes nothing by itself.
        if request.images.is_some() && *source.kind != SourceKind::Files {
            add("pinned images");
        }
        let bytes = digest.finalize();
        Some(Self(bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()))
    }
}

/// Writes 32 hexadecimal digits.
impl fmt::Display for InputsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
