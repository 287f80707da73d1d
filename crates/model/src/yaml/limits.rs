//! Limits on what a YAML text may contain.

/// The limits for reading one text. The texts come from other teams, so each quantity that an author can grow has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YamlLimits {
    /// Bytes of one text.
    pub text_bytes: usize,
    /// Documents in one text.
    pub documents: usize,
    /// Nodes written in one text.
    pub nodes: usize,
    /// Nodes that aliases add to one document. A scalar counts as one more for every [`YamlLimits::BYTES_PER_NODE`] of its text.
    pub alias_nodes: usize,
    /// The depth of nested collections, including collections from aliases.
    pub depth: usize,
    /// Problems that are listed for one text. The last one reports that reading stopped.
    pub problems: usize,
}

impl YamlLimits {
    /// The default limits:
    ///
    /// - 8 MiB of text: Kubernetes rejects objects above 1.5 MB, and a file with ten thousand objects has half of this size.
    /// - 100,000 documents: more than 8 MiB of objects contain, so only texts with many empty documents reach it.
    /// - 2,000,000 nodes: the number in a dense text of that size. It keeps the memory for one file below about 200 MB.
    /// - 1,000,000 nodes from aliases: more than authors write, and few enough to process fast.
    /// - depth 100: objects have about twenty levels, and recursive functions are safe on every stack.
    /// - 100 problems: readers do not need more.
    pub const DEFAULT: Self = Self {
        text_bytes: 8 << 20,
        documents: 100_000,
        nodes: 2_000_000,
        alias_nodes: 1_000_000,
        depth: 100,
        problems: 100,
    };

    /// The number of bytes of text that count as one node if aliases repeat them.
    pub const BYTES_PER_NODE: usize = 64;

    /// The number of nodes that aliases may add to a document of any size.
    pub const FREE_ALIAS_NODES: usize = 10_000;

    /// The number of nodes that aliases may add for each written node. At the same ratio, Go's YAML libraries reject a document ("excessive aliasing").
    pub const ALIAS_RATIO: usize = 99;
}

impl Default for YamlLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
