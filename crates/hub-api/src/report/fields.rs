//! Fields of a JSON object, taken out one by one, so that what is left over is unknown.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::report::{ReportError, Status, WorkloadName};

/// Characters of foreign text that a message repeats.
const SHOWN_CHARACTERS_MAX: usize = 64;

/// How many letters may differ for a name to be the one that was meant.
const DISTANCE_MAX: usize = 2;

/// What each status is also called: by Ansible, and in the variables of CI systems (`job.status`, `CI_JOB_STATUS`).
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
];

/// An object whose fields are being taken out.
pub struct Fields {
    /// What stands before the names of its fields in messages: nothing, or `place.`.
    prefix: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of a value, which must be an object; `name` is what it is called.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
    pub fn of(value: Value, name: &str) -> Result<Self, ReportError> {
        match value {
            Value::Object(map) => Ok(Self { prefix: String::new(), map }),
            other => Err(ReportError::new(name, format!("is {}, and should be an object", kind(&other)))),
        }
    }

    /// A text; none if it is missing, null or empty.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(other) => Err(self.wrong(name, &other, "a text, in quotes")),
        }
    }

    /// A whole number of seconds or the like.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(name, &value, "a whole number, not negative and without quotes")),
            },
        }
    }

    /// An object of texts.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
    pub fn texts(&mut self, name: &str) -> Result<BTreeMap<String, String>, ReportError> {
        let Some(mut fields) = self.object(name)? else { return Ok(BTreeMap::new()) };
        let keys: Vec<String> = fields.map.keys().cloned().collect();
        keys.into_iter().map(|key| Ok((key.clone(), fields.text(&key)?.unwrap_or_default()))).collect()
    }

    /// An object.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
    pub fn object(&mut self, name: &str) -> Result<Option<Self>, ReportError> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self { prefix: format!("{}{}.", self.prefix, shown(name)), map })),
            Some(other) => Err(self.wrong(name, &other, "an object")),
        }
    }

    /// Nothing is left over: whatever is has a name that nobody knows.
    ///
    /// # Errors
    /// The field is missing, or its value is wrong.
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

/// A place out of its three parts; none without a repository and a path, because a branch alone says nothing.
///
/// # Errors
/// The field is missing, or its value is wrong.
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

/// A workload by its name, perhaps in an environment; `field` is what the name stands in.
///
/// # Errors
/// The field is missing, or its value is wrong.
pub fn workload(
    name: Option<String>,
    environment: Option<String>,
    field: &str,
) -> Result<Option<WorkloadName>, ReportError> {
    match (name, environment) {
        (Some(name), environment) => Ok(Some(WorkloadName { name, environment })),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ReportError::new(field, "is missing: an environment alone says nothing")),
    }
}

/// The status that a word means, in any case, with `-` or `_`.
///
/// # Errors
/// The field is missing, or its value is wrong.
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

/// What to say about a name that nobody knows.
pub fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(meant) => format!("is unknown: did you mean `{meant}`?"),
        None => format!("is unknown; there are {}", known.join(", ")),
    }
}

/// Foreign text, as short as a message needs it.
pub fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_CHARACTERS_MAX).collect()
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = plain(&shown(name));
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(&plain(known), &name), *known));
    distances.min().filter(|(distance, _)| *distance <= DISTANCE_MAX).map(|(_, known)| known)
}

/// Without what differs between ways to write the same name: `observed_at`, `observed-at`, `observedAt`.
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
