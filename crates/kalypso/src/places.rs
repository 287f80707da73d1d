//! Shows the places of origins: file and line.

use model::diagnostic::Origin;
use model::locate::Locator;
use serde_json::{Value as Json, json};
use workbench::listing::position::SourcePosition;

/// The place of an origin, for people: `control-plane@prod:configs/west.yaml:9`.
pub(crate) fn shown(origin: &Origin, locator: &mut Locator<'_>) -> String {
    locator.shown(origin).unwrap_or_else(|| "(unknown place)".to_owned())
}

/// The place of an origin, for programs. Null if it is not known.
pub(crate) fn json(origin: &Origin, locator: &mut Locator<'_>) -> Json {
    json!(SourcePosition::find(origin, locator))
}
