//! Reads the fields of a JSON object one by one. Fields that remain at the end are unknown.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::report::{ReportError, Status, WorkloadName};

/// The maximum number of characters of external text in a message.
const SHOWN_CHARACTERS_MAX: usize = 64;

/// The maximum edit distance for a suggested name.
const DISTANCE_MAX: usize = 2;

/// The other names of statuses: of Ansible, and of variables of CI systems (`job.status`, `CI_JOB_STATUS`).
const STATUS_WORDS: &[(&str, Status)] = &[
    ("success", Status::Success),
    ("succeeded", Status::Success),
    ("ok", Status::Success),
    ("failure", Status::Failure),
    ("failed", Status::Failure),
    ("error", Status::Failure),
    ("canceled", Status::Failure),
    ("cancelled", Status::Failure),
    ("in_progress", Status::InProgress),
    ("inprogress", Status::InProgress),
    ("progressing", Status::InProgress),
    ("running", Status::InProgress),
    ("pending", Status::InProgress),
    (WAITING, Status::InProgress),
];

/// The word for a reconciler that only waits: [`crate::report::Report::is_waiting`].
pub(super) const WAITING: &str = "waiting";

/// An object whose fields are read one by one.
pub struct Fields {
    /// The prefix of the names of its fields in messages: empty, or `place.`.
    prefix: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of a value with this name.
    ///
    /// # Errors
    /// If the value is not an object.
    pub fn new(value: Value, name: &str) -> Result<Self, ReportError> {
        match value {
            Value::Object(map) => Ok(Self { prefix: String::new(), map }),
            other => Err(ReportError::new(name, format!("is {}, and should be an object", kind(&other)))),
        }
    }

    /// Reads a text. None if the field is missing, null or empty.
    ///
    /// # Errors
    /// If the value is not a text.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(other) => Err(self.wrong(name, &other, "a text, in quotes")),
        }
    }

    /// Reads a non-negative integer. None if the field is missing or null.
    ///
    /// # Errors
    /// If the value is not a non-negative integer.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(name, &value, "a whole number, not negative and without quotes")),
            },
        }
    }

    /// Reads an object whose values are texts.
    ///
    /// # Errors
    /// If the value is not such an object.
    pub fn texts(&mut self, name: &str) -> Result<BTreeMap<String, String>, ReportError> {
        let Some(mut fields) = self.object(name)? else { return Ok(BTreeMap::new()) };
        let keys: Vec<String> = fields.map.keys().cloned().collect();
        keys.into_iter().map(|key| Ok((key.clone(), fields.text(&key)?.unwrap_or_default()))).collect()
    }

    /// Reads an object. None if the field is missing or null.
    ///
    /// # Errors
    /// If the value is not an object.
    pub fn object(&mut self, name: &str) -> Result<Option<Self>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self { prefix: format!("{}{}.", self.prefix, shown(name)), map })),
            Some(other) => Err(self.wrong(name, &other, "an object")),
        }
    }

    /// Checks that all fields were read. `known` lists all names for the suggestion in the message.
    ///
    /// # Errors
    /// If a field is left, which is unknown.
    pub fn end(self, known: &[&str]) -> Result<(), ReportError> {
        match self.map.keys().next() {
            Some(name) => Err(ReportError::new(format!("{}{}", self.prefix, shown(name)), unknown(name, known))),
            None => Ok(()),
        }
    }

    fn wrong(&self, name: &str, value: &Value, right: &str) -> ReportError {
        ReportError::new(
            format!("{}{}", self.prefix, shown(name)),
            format!("is {}, and should be {right}", kind(value)),
        )
    }
}

/// Creates an endpoint from its three parts. None without a repository and a path.
///
/// # Errors
/// If a part is missing or not valid.
pub fn endpoint(
    repository: Option<&str>,
    branch: Option<&str>,
    path: Option<&str>,
) -> Result<Option<Endpoint>, ReportError> {
    match (repository, path) {
        (Some(repository), Some(path)) => Ok(Some(Endpoint::new(repository, branch.unwrap_or_default(), path)?)),
        _ => Ok(None),
    }
}

/// Creates a workload from its name and an optional environment. `field` is the field of the name.
///
/// # Errors
/// If there is an environment without a name.
pub fn workload(
    name: Option<String>,
    environment: Option<String>,
    field: &str,
) -> Result<Option<WorkloadName>, ReportError> {
    match (name, environment) {
        (Some(name), environment) => Ok(Some(WorkloadName { name, environment })),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ReportError::new(field, "is missing: an environment alone names no workload")),
    }
}

/// Parses a status. Upper and lower case, and `-` and `_`, are equivalent.
///
/// # Errors
/// If the field is missing, or its value is unknown.
pub fn status(field: &str, word: Option<&str>) -> Result<Status, ReportError> {
    let Some(word) = word else {
        return Err(ReportError::new(field, "is missing: `success`, `failure` or `in_progress`"));
    };
    let plain = plain(word);
    let found = STATUS_WORDS.iter().find(|(known, _)| self::plain(known) == plain);
    found.map(|(_, status)| *status).ok_or_else(|| {
        let known: Vec<_> = STATUS_WORDS.iter().map(|(word, _)| *word).collect();
        let meant = nearest(word, &known).unwrap_or("success`, `failure` or `in_progress");
        ReportError::new(field, format!("`{}` is no status: did you mean `{meant}`?", shown(word)))
    })
}

/// Whether a status says that the reconciler only waits.
pub fn is_waiting(word: Option<&str>) -> bool {
    word.is_some_and(|word| plain(word) == WAITING)
}

/// The message for an unknown name, with a suggestion.
pub fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(meant) => format!("is unknown: did you mean `{meant}`?"),
        None => format!("is unknown; there are {}", known.join(", ")),
    }
}

/// Cuts external text for a message.
pub fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_CHARACTERS_MAX).collect()
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = plain(&shown(name));
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(&plain(known), &name), *known));
    distances.min().filter(|(distance, _)| *distance <= DISTANCE_MAX).map(|(_, known)| known)
}

/// Normalizes a name, so that `observed_at`, `observed-at` and `observedAt` are equal.
fn plain(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
