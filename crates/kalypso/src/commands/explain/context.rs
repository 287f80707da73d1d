//! The data that all texts of an explanation need.

use model::diagnostic::Origin;
use model::locate::Locator;

use crate::places;

/// The data that all texts need.
pub(super) struct ExplanationContext<'a, 'f> {
    pub(super) environment: &'a str,
    /// The description of the assignment's place.
    pub(super) place_text: &'a str,
    pub(super) locator: &'a mut Locator<'f>,
}

impl ExplanationContext<'_, '_> {
    pub(super) fn place(&mut self, origin: &Origin) -> String {
        places::shown(origin, self.locator)
    }
}
