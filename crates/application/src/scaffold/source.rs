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
    /// By `helm template` of charts of other people. None is written for a new application.
    Services,
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
