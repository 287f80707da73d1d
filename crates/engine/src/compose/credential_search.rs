//! Finds texts in values that look like credentials in clear.

use std::sync::Arc;

use gotemplate::value::Value;
use model::credential;
use model::field_path::{FieldPath, FieldStep};

use crate::compose::record::key_text;

/// A value that looks like a credential in clear.
#[derive(Clone, Debug)]
pub(crate) struct ClearCredential {
    /// The path from the key of the entry on.
    pub(crate) path: FieldPath,
    /// What the value looks like.
    pub(crate) kind: &'static str,
}

impl ClearCredential {
    /// The path that is not shown: that of the value, or of the list that contains it, because items move when lists are merged.
    pub(crate) fn hidden_path(&self) -> FieldPath {
        self.path.steps().iter().take_while(|step| matches!(step, FieldStep::Key(_))).cloned().collect()
    }

    /// The key of the entry.
    pub(crate) fn key(&self) -> &str {
        match self.path.steps().first() {
            Some(FieldStep::Key(key)) => key,
            _ => "",
        }
    }
}

/// Finds the texts in the value of a key.
pub(crate) fn of_value(key: &str, value: &Value) -> Vec<ClearCredential> {
    let mut found = Vec::new();
    collect(value, key, &mut FieldPath::from([key]), &mut found);
    found
}

/// The recursion is at most as deep as the YAML that the value was read from.
fn collect(value: &Value, key: &str, path: &mut FieldPath, found: &mut Vec<ClearCredential>) {
    match value {
        Value::Text(text) => {
            if let Some(kind) = credential::likely(key, &text.to_str()) {
                found.push(ClearCredential { path: path.clone(), kind });
            }
        }
        Value::Map(map) => {
            for (name, value) in map.entries() {
                let name = key_text(name);
                path.push(FieldStep::Key(Arc::clone(&name)));
                collect(value, &name, path, found);
                path.pop();
            }
        }
        Value::List(list) => {
            for (index, value) in list.items().iter().enumerate() {
                path.push(FieldStep::Index(index));
                collect(value, key, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
