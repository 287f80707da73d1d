//! Finds what a chart makes up: passwords, certificates, times. Such a chart gives other manifests each time, also for the same values.

use std::path::Path;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::FileId;

use super::PreparedTargets;
use super::source::TargetSource;
use crate::difference::{ObjectChange, difference};
use crate::files::FileSet;
use crate::manifests::{self, ManifestObject};

/// The functions of Helm whose results differ each time, or have no order (<https://masterminds.github.io/sprig/>).
const FUNCTIONS: &[&str] = &[
    "ago",
    "bcrypt",
    "encryptAES",
    "genCA",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSignedCert",
    "htpasswd",
    "keys",
    "now",
    "rand",
    "shuffle",
    "uuidv4",
    "values",
];

/// The number of fields of one object that a message names.
const FIELDS_MAX: usize = 3;

impl PreparedTargets<'_> {
    /// Renders targets a second time whose charts can make something up. A difference is a warning.
    #[must_use]
    pub fn repeating(self) -> Self {
        Self { is_repeating: true, ..self }
    }
}

/// Whether the templates of a source have words that are functions whose results differ. A packed chart can have any.
pub(super) fn can_differ(source: &TargetSource<'_>) -> bool {
    let is_packed = |path: &str| path == "Chart.lock" || Path::new(path).extension().is_some_and(|end| end == "tgz");
    let can = |files: &FileSet| {
        let mut files = files.iter();
        files.any(|(path, file)| is_packed(path) || path.contains("templates/") && has_function(&file.content))
    };
    source.kind.is_helm() && source.files.is_some_and(can)
}

fn has_function(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-');
    words.any(|word| FUNCTIONS.iter().any(|function| word == *function || is_family(word, function)))
}

/// Whether a word is one of the functions that begin so: `randAlphaNum`, `genCAWithKey`.
fn is_family(word: &str, function: &str) -> bool {
    let rest = word.strip_prefix(function).unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The warnings for what differs in a second output of the same chart with the same values.
pub(super) fn check(first: &[ManifestObject], second: &[u8]) -> Vec<Diagnostic> {
    let Some(file) = first.first().map(|object| object.place.file) else { return Vec::new() };
    let again = manifests::parse(second, file).objects;
    difference(first, &again).iter().map(|change| differs(change, first, file)).collect()
}

fn differs(change: &ObjectChange, objects: &[ManifestObject], file: FileId) -> Diagnostic {
    let ObjectChange { kind, namespace, name, fields, .. } = change;
    let fields: Vec<_> = fields.iter().take(FIELDS_MAX).map(|field| format!("`{}`", field.path)).collect();
    let what = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) };
    let found = objects
        .iter()
        .find(|object| *object.id.kind == **kind && *object.id.namespace == **namespace && *object.id.name == **name);
    let origin = found.map_or(Origin::File(file), |object| Origin::Span(object.place.file, object.node.span));
    Diagnostic::warning(Code::NotReproducible, format!("{kind} {name} is another one each time it is rendered{what}"))
        .at(origin, "")
        .help("the chart makes it up, and the next change would replace it: give it in the values, or in a Secret that the values name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_as_words() {
        for text in
            ["{{ randAlphaNum 5 }}", "{{now|date}}", "{{ genCAWithKey $a }}", "(keys .Values.a)", "{{ uuidv4 }}"]
        {
            assert!(has_function(text.as_bytes()), "{text}");
        }
        for text in ["{{ .Values.keys }}", "nowhere: {{ .Release.Name }}", "random: brand", "now-or-never", "agora"] {
            assert!(!has_function(text.as_bytes()), "{text}");
        }
    }
}
