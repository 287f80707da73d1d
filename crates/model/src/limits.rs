//! Limits on what objects may contain. Many teams write objects, so each quantity that an author can grow has a limit.

/// Bytes of a mapping of texts that becomes part of manifests, such as labels and `manifests` of a deployment target. Every cluster type of the target
/// repeats them. Kubernetes allows at most 256 KiB of annotations for a whole object.
pub const PLAIN_TEXTS_BYTES_MAX: usize = 64 << 10;

/// Problems that are listed for one object.
pub const OBJECT_PROBLEMS_MAX: usize = 100;

/// Problems that are listed for the objects of one file.
pub const FILE_PROBLEMS_MAX: usize = 1_000;

/// Bytes of a word for which similar known words are searched.
pub const SIMILAR_WORD_BYTES_MAX: usize = 100;

/// Environments before one environment, gates in one list, rings of one environment, and names of one ring.
pub const PROMOTION_ITEMS_MAX: usize = 100;
