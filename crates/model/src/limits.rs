//! How much of what objects say is taken: they are written by many teams.

/// Bytes of a mapping of texts that becomes part of manifests, such as labels and `manifests` of a deployment target. Every cluster type that the target is
/// for repeats them; Kubernetes takes at most 256 KiB of annotations for a whole object.
pub const PLAIN_TEXTS_BYTES_MAX: usize = 64 << 10;

/// Problems told about one object: nobody reads on.
pub const OBJECT_PROBLEMS_MAX: usize = 100;

/// Problems told about the objects of one file.
pub const FILE_PROBLEMS_MAX: usize = 1_000;

/// Bytes of a word that is compared with the words that could have been meant.
pub const SIMILAR_WORD_BYTES_MAX: usize = 100;
