//! How much a YAML text may hold.

/// The bounds of one reading. The texts come from other teams, so every quantity that an author can grow has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one text.
    pub text_bytes: usize,
    /// Documents in one text.
    pub documents: usize,
    /// Nodes written in one text.
    pub nodes: usize,
    /// Nodes that aliases add to one document. A scalar counts as one more for every [`Limits::BYTES_PER_NODE`] of its text.
    pub alias_nodes: usize,
    /// Collections inside one another, those that come through aliases included.
    pub depth: usize,
    /// Problems told about one text; the last one says that reading stopped.
    pub problems: usize,
}

impl Limits {
    /// The bounds used everywhere:
    ///
    /// - 8 MiB: Kubernetes refuses objects above 1.5 MB, and a file of ten thousand objects still has half of it.
    /// - 100,000 documents: more than fit as objects, so only floods of `---` meet it.
    /// - 2,000,000 nodes: what a dense text of that size has; keeps one file under some 200 MB of memory.
    /// - 1,000,000 nodes through aliases: as many as nobody writes, few enough to walk in a blink.
    /// - depth 100: objects have some twenty levels; whoever walks a tree by recursion is safe with it on any stack.
    /// - 100 problems: nobody reads on.
    pub const DEFAULT: Self = Self {
        text_bytes: 8 << 20,
        documents: 100_000,
        nodes: 2_000_000,
        alias_nodes: 1_000_000,
        depth: 100,
        problems: 100,
    };

    /// How many bytes of text weigh like a node when aliases repeat them.
    pub const BYTES_PER_NODE: usize = 64;

    /// Nodes that aliases may add to a document of any size.
    pub const FREE_ALIAS_NODES: usize = 10_000;

    /// How many nodes aliases may add for every node written: the ratio at which Go's YAML libraries give up on a document ("excessive aliasing").
    pub const ALIAS_RATIO: usize = 99;
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
