//! Changes of labels, and of other pairs, on a command line.

use std::sync::Arc;

use authoring::field_changes::PairChanges;
use authoring::objects::LabelList;

use super::labels;
use crate::exit::Failure;

/// The failure of a command line that changes nothing.
pub(in crate::commands) fn nothing() -> Failure {
    Failure::usage("there is nothing to change").help("`--help` lists what can be set")
}

/// Changes of labels on a command line: `a=b,c-`.
pub(in crate::commands) fn label_changes(options: &[String]) -> Result<PairChanges, Failure> {
    let parts = options.iter().flat_map(|option| option.split(',')).map(str::trim).filter(|part| !part.is_empty());
    pair_changes(parts, labels)
}

/// Changes of pairs on a command line. `read` reads those to set.
pub(in crate::commands) fn pair_changes<'t>(
    parts: impl Iterator<Item = &'t str>,
    read: impl FnOnce(&[String]) -> Result<LabelList, Failure>,
) -> Result<PairChanges, Failure> {
    let removed = |part: &'t str| part.strip_suffix('-').filter(|key| !key.is_empty() && !key.contains('='));
    let (mut set, mut remove) = (Vec::new(), Vec::new());
    for part in parts {
        match removed(part) {
            Some(key) => remove.push(Arc::from(key)),
            None => set.push(part.to_owned()),
        }
    }
    let set = read(&set)?;
    if let Some((key, _)) = set.iter().find(|(key, _)| remove.contains(key)) {
        return Err(Failure::usage(format!("`{key}` is set and removed")));
    }
    Ok(PairChanges { set, remove })
}

/// What changes, for people.
pub(in crate::commands) fn notes(changes: &PairChanges) -> impl Iterator<Item = String> + '_ {
    let set = changes.set.iter().map(|(key, value)| format!("{key}={value}"));
    set.chain(changes.remove.iter().map(|key| format!("{key} removed")))
}
