//! What holds for every publication: the body of the fuzz target, which also runs with fixed seeds.

use hub_api::publication::Publication;
use serde::Deserialize as _;
use serde_json::Value;

use super::DesiredUpdate;

/// Reads bytes as a publication. Nothing is expected but that it ends without panic, that what is taken has only texts that can be stored, and that it can
/// be written down and read again.
pub fn fuzz(input: &[u8]) {
    let Ok(mut publication) = serde_json::from_slice::<Publication>(input) else { return };
    if publication.commit.is_none() {
        // Nothing is made of it.
        publication.range = None;
    }
    let written = serde_json::to_value(&publication).unwrap_or_default();
    assert_eq!(Publication::deserialize(&written).ok().as_ref(), Some(&publication));
    if DesiredUpdate::of_publication(publication).iter().all(|update| update.check().is_ok()) {
        assert!(can_be_stored(&written), "{written}");
    }
}

/// Whether no text in it is one that a database refuses. JSON that was read is not deep.
fn can_be_stored(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(can_be_stored),
        Value::Object(fields) => fields.iter().all(|(key, value)| !key.contains('\0') && can_be_stored(value)),
        _ => true,
    }
}
