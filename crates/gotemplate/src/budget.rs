//! The limits of a rendering, and what is left of them.

/// The limits of one rendering, for all its passes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderLimits {
    /// Evaluated nodes, function calls and loop iterations, and the work that functions charge for (about one step per item or per 64 bytes).
    pub steps: u64,
    /// Bytes of the output, and bytes of texts that functions return.
    pub output_bytes: u64,
    /// Nested template calls, bodies and parentheses. The default fits into half of a 2 MiB stack in a build without optimization.
    pub depth: u32,
    /// Passes, the first included. Output that contains `{{` is rendered in another pass.
    pub passes: u32,
}

impl Default for RenderLimits {
    fn default() -> Self {
        Self { steps: 1_000_000, output_bytes: 16 * 1024 * 1024, depth: 400, passes: 8 }
    }
}

/// The part of the [`RenderLimits`] that is left.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: RenderLimits,
    steps: u64,
    output_bytes: u64,
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// [`RenderLimits::steps`]
    Steps(u64),
    /// [`RenderLimits::output_bytes`]
    OutputBytes(u64),
    /// [`RenderLimits::depth`]
    Depth(u32),
    /// [`RenderLimits::passes`]
    Passes(u32),
}

impl Budget {
    /// Nothing is spent yet.
    pub fn new(limits: RenderLimits) -> Self {
        Self { limits, steps: limits.steps, output_bytes: limits.output_bytes }
    }

    /// The limits at the start of the rendering.
    pub fn limits(&self) -> &RenderLimits {
        &self.limits
    }

    /// Spends steps.
    ///
    /// # Errors
    /// Returns an error if fewer steps are left.
    #[inline]
    pub fn steps(&mut self, count: u64) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(count).ok_or(Exhausted::Steps(self.limits.steps))?;
        Ok(())
    }

    /// The steps and the output bytes that are left.
    pub(crate) fn left(&self) -> (u64, u64) {
        (self.steps, self.output_bytes)
    }

    /// Spends as much as is left, if that is less than `steps` and `output_bytes`.
    pub(crate) fn spend_up_to(&mut self, steps: u64, output_bytes: u64) {
        self.steps = self.steps.saturating_sub(steps);
        self.output_bytes = self.output_bytes.saturating_sub(output_bytes);
    }

    /// The output bytes that are left.
    pub fn output_left(&self) -> usize {
        usize::try_from(self.output_bytes).unwrap_or(usize::MAX)
    }

    /// Spends output bytes.
    ///
    /// # Errors
    /// Returns an error if fewer bytes are left.
    #[inline]
    pub fn output(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let left = self.output_bytes.checked_sub(bytes as u64);
        self.output_bytes = left.ok_or(Exhausted::OutputBytes(self.limits.output_bytes))?;
        Ok(())
    }
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(limit) => write!(f, "it takes more than {limit} steps"),
            Self::OutputBytes(limit) => write!(f, "it writes more than {limit} bytes"),
            Self::Depth(limit) => write!(f, "it is nested more than {limit} levels deep"),
            Self::Passes(limit) => write!(f, "its output still contains `{{{{` after {limit} passes"),
        }
    }
}

impl std::error::Error for Exhausted {}
