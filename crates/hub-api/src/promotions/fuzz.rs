//! Properties of every list of events of promotions: the body of the fuzz target, which also runs with fixed seeds.

use serde_json::Value as Json;

use super::PromotionEvent;

/// Reads bytes as the body of a request with events, and checks the result: reading does not panic; each event equals itself after serialization and
/// deserialization; and an accepted one has only texts that can be stored.
pub fn fuzz(input: &[u8]) {
    for event in serde_json::from_slice::<Vec<PromotionEvent>>(input).unwrap_or_default() {
        let written = serde_json::to_value(&event).unwrap_or_default();
        assert_eq!(serde_json::from_value(written.clone()).ok().as_ref(), Some(&event));
        match event.check() {
            Ok(()) => assert!(can_be_stored(&written) && event.bytes() > event.text.len(), "{written}"),
            Err(error) => assert!(written.get(error.field).is_some(), "{error}"),
        }
    }
}

/// Whether a database accepts all texts in the value. The recursion is limited, because the parser limits the depth of JSON.
fn can_be_stored(value: &Json) -> bool {
    match value {
        Json::String(text) => !text.contains('\0'),
        Json::Array(items) => items.iter().all(can_be_stored),
        Json::Object(fields) => fields.iter().all(|(key, value)| !key.contains('\0') && can_be_stored(value)),
        _ => true,
    }
}
