//! Properties of every publication: the body of the fuzz target, which also runs with fixed seeds.

use hub_api::publication::Publication;
use serde::Deserialize as _;
use serde_json::Value;

use super::DesiredUpdate;

/// Reads bytes as a publication, and checks the result: reading does not panic; an accepted publication has only texts that can be stored; and it
/// equals itself after serialization and deserialization.
pub fn fuzz(input: &[u8]) {
    let Ok(mut publication) = serde_json::from_slice::<Publication>(input) else { return };
    if publication.commit.is_none() {
        // Without a commit, the range is not used.
        publication.range = None;
    }
    let written = serde_json::to_value(&publication).unwrap_or_default();
    assert_eq!(Publication::deserialize(&written).ok().as_ref(), Some(&publication));
    if DesiredUpdate::of_publication(publication).iter().all(|update| update.check().is_ok()) {
        assert!(can_be_stored(&written), "{written}");
    }
}

/// Whether a database accepts all texts in the value. The recursion is limited, because the parser limits the depth of JSON.
fn can_be_stored(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(can_be_stored),
        Value::Object(fields) => fields.iter().all(|(key, value)| !key.contains('\0') && can_be_stored(value)),
        _ => true,
    }
}
