//! Random numbers for generated inputs.

/// The generator `SplitMix64`: small, fast, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator. Each seed gives a different sequence.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates one of several generators with the same seed. Each number gives a different sequence.
    pub fn with_number(seed: u64, number: u64) -> Self {
        Self::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True in `chance` percent of all cases.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// A number in a range, inclusive.
    pub fn within(&mut self, range: &std::ops::RangeInclusive<i64>) -> i64 {
        range.start() + self.below((range.end() - range.start() + 1).max(1) as u64) as i64
    }

    /// A range of at most 15 positions in a sequence of this length.
    pub fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length as u64 + 1) as usize;
        start..length.min(start + self.below(16) as usize)
    }

    /// One of the choices.
    ///
    /// # Panics
    /// If there are no choices.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
