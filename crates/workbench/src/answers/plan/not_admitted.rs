//! What was not admitted into an environment.

use delivery::publication::enforcement::NotAdmitted;
use serde::Serialize;

/// A revision that was not admitted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotAdmittedFields {
    source: String,
    revision: String,
    admitted: Option<String>,
    waits_for: &'static str,
    gates: Vec<GateFields>,
}

#[derive(Serialize)]
struct GateFields {
    name: String,
    since: String,
    text: String,
}

impl NotAdmittedFields {
    /// The revisions that were not admitted.
    pub fn all(found: &[NotAdmitted]) -> Vec<Self> {
        found.iter().map(Self::new).collect()
    }

    fn new(found: &NotAdmitted) -> Self {
        let gates = found.gates.iter().map(|gate| GateFields {
            name: gate.name.to_string(),
            since: gate.since.to_string(),
            text: gate.text.to_string(),
        });
        Self {
            source: found.source.to_string(),
            revision: found.revision.to_string(),
            admitted: found.admitted.as_deref().map(str::to_owned),
            waits_for: found.waits_for.name(),
            gates: gates.collect(),
        }
    }
}
