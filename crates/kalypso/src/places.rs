//! Shows the places of origins: file and line.

use model::diagnostic::Origin;
use model::locate::Locator;

/// The place of an origin, for people: `control-plane@prod:configs/west.yaml:9`.
pub(crate) fn shown(origin: &Origin, locator: &mut Locator<'_>) -> String {
    locator.shown(origin).unwrap_or_else(|| "(unknown place)".to_owned())
}
