//! Results of functions that read a whole list or map, kept with it.

use std::sync::OnceLock;

use crate::budget::Budget;

/// What functions have made of a list or map. It is computed once, although tens of thousands of sets of values may contain the list or map.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The visit of all levels.
    pub(crate) visit: Once<()>,
    /// The result of `hash`. None if it contains a value that can't be hashed.
    pub(crate) hash: Once<Option<u64>>,
    /// The YAML document.
    pub(crate) yaml: Once<Box<[u8]>>,
}

/// A result, and the cost of computing it. Each rendering that uses it pays for it as if it had computed it itself.
#[derive(Debug)]
pub(crate) struct Once<T>(OnceLock<Paid<T>>);

#[derive(Debug)]
struct Paid<T> {
    result: T,
    steps: u64,
    output_bytes: u64,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Once<T> {
    /// The result. It is computed the first time, and whenever what is left of the limits does not cover its cost: then `compute` says which limit is reached.
    ///
    /// # Errors
    /// Returns the error of `compute`.
    pub(crate) fn get<E>(
        &self,
        budget: &mut Budget,
        compute: impl FnOnce(&mut Budget) -> Result<T, E>,
    ) -> Result<&T, E> {
        let before = budget.left();
        if let Some(paid) = self.0.get().filter(|paid| paid.steps <= before.0 && paid.output_bytes <= before.1) {
            budget.spend_up_to(paid.steps, paid.output_bytes);
            return Ok(&paid.result);
        }
        let result = compute(budget)?;
        let left = budget.left();
        let paid = || Paid { result, steps: before.0 - left.0, output_bytes: before.1 - left.1 };
        Ok(&self.0.get_or_init(paid).result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Exhausted, RenderLimits};

    #[test]
    fn each_use_is_charged_for_the_result() {
        let once = Once::default();
        let budget = |steps| Budget::new(RenderLimits { steps, ..RenderLimits::default() });
        let compute = |budget: &mut Budget| {
            budget.steps(3)?;
            budget.output(5)?;
            Ok::<_, Exhausted>(7)
        };
        let (mut first, mut second) = (budget(4), budget(4));
        assert_eq!(once.get(&mut first, compute), Ok(&7));
        assert_eq!(once.get(&mut second, |_| panic!("it is known")), Ok::<_, Exhausted>(&7));
        assert_eq!(first.left(), second.left());
        assert_eq!(first.left().0, 1);
        assert_eq!(once.get(&mut budget(2), compute), Err(Exhausted::Steps(2)));
    }
}
