//! Finds the lines of an assignment's files that depend on a value.

use std::collections::BTreeSet;
use std::sync::Arc;

use gotemplate::Value;
use model::field_path::FieldPath;

use crate::compile::Prepared;
use crate::compose::trace;
use crate::compose::{Composition, compose};
use crate::masking::variant::Variant;

/// Returns, for each file of an assignment that depends on the value at `path`, the first line that differs (from 1). To find the lines,
/// the assignment is rendered a second time with another value at `path`.
pub(crate) fn lines_of(prepared: &Prepared, (place, target): (u32, u32), path: &FieldPath) -> Vec<(Arc<str>, usize)> {
    const OTHER: &str = "kalypso-other-value";
    let (containers, _) = prepared.inputs_of(place, target);
    let data = compose(&containers).data;
    let Some(other) = trace::with_value(&data, path.steps(), &Value::text(OTHER)) else { return Vec::new() };
    let has_nested = containers.iter().any(|container| container.has_nested);
    let render = |data| {
        let composition = Composition::new(data, BTreeSet::new());
        Variant { assigned: (place, target), composition: &composition, has_nested, manifests: None }.files(prepared)
    };
    let (Some(before), Some(after)) = (render(data), render(other)) else { return Vec::new() };
    let first_line = |(name, bytes): (&Arc<str>, &Arc<[u8]>)| {
        let other = after.get(name)?;
        let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        let (before, after) = (lines(bytes), lines(other));
        let differs = before.iter().zip(&after).position(|(before, after)| before != after);
        Some((Arc::clone(name), 1 + differs?))
    };
    before.iter().filter_map(first_line).collect()
}
