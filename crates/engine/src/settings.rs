//! Settings in annotations.

use model::diagnostic::{Code, Diagnostic, FieldOrigin, FieldPart, Origin};
use model::field_path::FieldPath;
use model::label::Labels;
use model::object::{config_map, environment, gitops_repo, template};
use model::object_key::ObjectKey;

/// What happens when no container sets a value that a schema requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingValues {
    /// The assignment fails.
    #[default]
    Enforce,
    /// A warning is reported. The assignment is rendered without the value.
    Warn,
}

/// What happens to namespace names that are too long for Kubernetes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongNames {
    /// The assignment fails.
    #[default]
    Error,
    /// The name is cut, and a short hash is appended.
    Shorten,
}

/// Which of several containers that set one key counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// The one with the highest priority, then the one whose name comes last.
    #[default]
    Name,
    /// The most special one by its labels, then as [`Precedence::Name`].
    Specificity,
}

/// The precedence of an environment, by its `Environment` and `BaseRepo` objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrecedenceSetting {
    pub(crate) precedence: Precedence,
    /// Why the precedence is not known. Then no assignment with values is composed: the order of its values would be a guess.
    pub(crate) problem: Option<Diagnostic>,
}

impl PrecedenceSetting {
    /// The precedence that all objects set that set one, with their annotations.
    pub(crate) fn from_objects<'o>(objects: impl IntoIterator<Item = (ObjectKey, &'o Labels)>) -> Self {
        let mut found: Option<(ObjectKey, Precedence)> = None;
        for (object, annotations) in objects {
            let problem = match (precedence(&object, annotations), &found) {
                (Ok(None), _) => continue,
                (Ok(Some(own)), None) => {
                    found = Some((object, own));
                    continue;
                }
                (Ok(Some(own)), Some((_, known))) if own == *known => continue,
                (Ok(Some(_)), Some((other, _))) => contradiction(&object, other),
                (Err(problem), _) => problem,
            };
            return Self { precedence: Precedence::default(), problem: Some(problem) };
        }
        Self { precedence: found.map(|(_, precedence)| precedence).unwrap_or_default(), problem: None }
    }
}

fn contradiction(object: &ObjectKey, other: &ObjectKey) -> Diagnostic {
    let annotation = environment::PRECEDENCE;
    let at = |object: &ObjectKey| Origin::field(object, FieldPath::from(["metadata", "annotations", annotation]));
    let message = format!("{object} and {other} set `{annotation}` to different values for one environment");
    Diagnostic::error(Code::InvalidAnnotation, message)
        .at(at(object), "set here")
        .at(at(other), "and here")
        .help("set it in one place, or to the same value")
        .about(object)
}

/// How the values of a container are merged into the values of earlier containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Mappings are merged by key. Lists are merged by the `name` of their items.
    #[default]
    Deep,
    /// The value replaces the earlier value as a whole.
    Replace,
    /// Mappings are merged by key. Lists are concatenated.
    Append,
}

/// The merge strategies of a container: a default, and exceptions by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strategies {
    default: Strategy,
    by_key: Vec<(String, Strategy)>,
}

impl Strategies {
    pub(crate) fn get(&self, key: &str) -> Strategy {
        self.by_key.iter().find(|(name, _)| name == key).map_or(self.default, |(_, strategy)| *strategy)
    }
}

/// Reads the annotation `schema.kalypso.io/missing`. None if it is not set.
pub(crate) fn missing_values(object: &ObjectKey, annotations: &Labels) -> Result<Option<MissingValues>, Diagnostic> {
    let choices = [("enforce", MissingValues::Enforce), ("warn", MissingValues::Warn)];
    choice(object, annotations, environment::MISSING_VALUES, &choices)
}

/// Reads the annotation `names.kalypso.io/long`. None if it is not set.
pub(crate) fn long_names(object: &ObjectKey, annotations: &Labels) -> Result<Option<LongNames>, Diagnostic> {
    let choices = [("error", LongNames::Error), ("shorten", LongNames::Shorten)];
    choice(object, annotations, environment::LONG_NAMES, &choices)
}

/// Reads the annotation `config.kalypso.io/precedence`. None if it is not set.
fn precedence(object: &ObjectKey, annotations: &Labels) -> Result<Option<Precedence>, Diagnostic> {
    let choices = [("name", Precedence::Name), ("specificity", Precedence::Specificity)];
    choice(object, annotations, environment::PRECEDENCE, &choices)
}

/// Reads the annotation `template.kalypso.io/missingkey`: whether a template that looks up a missing key fails, as with Go's option of this name.
pub(crate) fn requires_keys(object: &ObjectKey, annotations: &Labels) -> Result<bool, Diagnostic> {
    choice(object, annotations, template::MISSING_KEY, &[("default", false), ("error", true)])
        .map(Option::unwrap_or_default)
}

/// Reads the annotation `output.kalypso.io/fan-out`. None if it is not set.
pub(crate) fn fan_out(object: &ObjectKey, annotations: &Labels) -> Result<Option<bool>, Diagnostic> {
    choice(object, annotations, gitops_repo::FAN_OUT, &[("true", true), ("false", false)])
}

/// Reads the annotation `config.kalypso.io/priority`. 0 if it is not set.
pub(crate) fn priority(object: &ObjectKey, annotations: &Labels) -> Result<i64, Diagnostic> {
    let Some(text) = annotations.get(config_map::PRIORITY) else { return Ok(0) };
    let message = || format!("the priority of {object} must be an integer, here it is {text:?}");
    text.trim().parse().map_err(|_| refused(object, config_map::PRIORITY, message()))
}

/// Reads the annotation `config.kalypso.io/merge`: a strategy for all keys, or `KEY=strategy` for some keys, separated by commas.
pub(crate) fn strategies(object: &ObjectKey, annotations: &Labels) -> Result<Strategies, Diagnostic> {
    let mut strategies = Strategies::default();
    let Some(text) = annotations.get(config_map::MERGE) else { return Ok(strategies) };
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, word) = part.split_once('=').map_or((None, part), |(key, word)| (Some(key.trim()), word.trim()));
        let strategy = match word {
            "deep" => Strategy::Deep,
            "replace" => Strategy::Replace,
            "append" => Strategy::Append,
            _ => {
                let message = format!("{object} can't be merged by {word:?}: it is `deep`, `replace` or `append`");
                return Err(refused(object, config_map::MERGE, message));
            }
        };
        match key {
            Some(key) => strategies.by_key.push((key.to_owned(), strategy)),
            None => strategies.default = strategy,
        }
    }
    Ok(strategies)
}

fn choice<T: Copy>(
    object: &ObjectKey,
    annotations: &Labels,
    annotation: &str,
    choices: &[(&str, T)],
) -> Result<Option<T>, Diagnostic> {
    let Some(text) = annotations.get(annotation) else { return Ok(None) };
    let chosen = choices.iter().find(|(word, _)| *word == &**text).map(|(_, value)| *value);
    chosen.map(Some).ok_or_else(|| {
        let words: Vec<_> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
        refused(object, annotation, format!("`{annotation}` is {}, here it is {text:?}", words.join(" or ")))
    })
}

fn refused(object: &ObjectKey, annotation: &str, message: String) -> Diagnostic {
    let path = FieldPath::from(["metadata", "annotations", annotation]);
    let origin = Origin::Field(FieldOrigin { object: object.clone(), path, part: FieldPart::Value });
    Diagnostic::error(Code::InvalidAnnotation, message).at(origin, "").about(object)
}
