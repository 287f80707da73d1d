//! What a new application renders.

/// How a source is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewSourceKind {
    /// By `helm template`.
    Chart,
    /// By `kustomize build`.
    Kustomize,
    /// Its files are copied.
    Manifests,
    /// Charts of other people, or files for hosts. It exists: none is written for a new application.
    Existing,
}

/// What is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSource {
    /// How.
    pub kind: NewSourceKind,
    /// The folder.
    pub folder: String,
    /// The folder inside of it that Kustomize builds.
    pub overlay: Option<String>,
    /// Whether its files are to be written.
    pub is_new: bool,
}
