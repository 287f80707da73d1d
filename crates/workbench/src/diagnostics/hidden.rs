//! The ranges of bytes in files that are not shown. Each file is parsed only once for them.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use model::field_path::FieldPath;
use model::source::File;

/// The hidden ranges of files. The values at the sensitive paths are hidden.
pub struct HiddenBytes<'s> {
    sensitive: &'s BTreeSet<FieldPath>,
    /// By the address of the file, which is the same for all findings about it. So a file with thousands of problems is parsed once.
    known: RefCell<HashMap<*const File, Rc<[Range<usize>]>>>,
}

impl<'s> HiddenBytes<'s> {
    /// Hides the values at these paths.
    pub fn new(sensitive: &'s BTreeSet<FieldPath>) -> Self {
        Self { sensitive, known: RefCell::default() }
    }

    /// The hidden ranges of a file, in order and without overlap.
    pub fn ranges(&self, file: &File) -> Rc<[Range<usize>]> {
        let mut known = self.known.borrow_mut();
        let read = || engine::masking::hidden_in(&file.content, self.sensitive).into();
        Rc::clone(known.entry(std::ptr::from_ref(file)).or_insert_with(read))
    }
}

/// The ranges that have a byte in common with a part. The ranges are in order and do not overlap. An empty part has a byte in common with the range
/// around it.
pub fn touching<'r>(ranges: &'r [Range<usize>], part: &Range<usize>) -> &'r [Range<usize>] {
    let first = ranges.partition_point(|range| range.end <= part.start);
    let rest = ranges.get(first..).unwrap_or_default();
    rest.get(..rest.partition_point(|range| range.start < part.end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_a_part_are_found() {
        let ranges = [2..4, 6..8, 8..9];
        for (part, expected) in
            [(0..2, 0..0), (0..3, 0..1), (3..3, 0..1), (4..6, 0..0), (3..7, 0..2), (7..20, 1..3), (9..20, 0..0)]
        {
            assert_eq!(touching(&ranges, &part), &ranges[expected], "{part:?}");
        }
    }
}
