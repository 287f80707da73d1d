//! Edits that keep the meaning: they change comments, order or file names.

use simulator::random::Random;

use super::draft::Draft;
use super::object::{DATA_KINDS, LABELS, METADATA, body, mapping, parts, with_mapping};
use super::state::{State, pick};

const COMMENT: &str = "# Note ";

/// Adds a comment as the first line of an object or before its metadata.
pub(super) fn comment_added(state: &State, random: &mut Random) -> Option<Draft> {
    let objects = state.all();
    let object = pick(&objects, random)?;
    let comment = format!("{COMMENT}{}\n", state.turn);
    let is_first = random.below(2) == 0;
    let text = if is_first {
        format!("{comment}{}", object.text)
    } else {
        object.text.replacen("metadata:\n", &format!("{comment}metadata:\n"), 1)
    };
    Some(state.replace(object, text, format!("comment added to {object}")))
}

/// Changes or removes a comment.
pub(super) fn comment_changed(state: &State, random: &mut Random) -> Option<Draft> {
    let mut objects = state.all();
    objects.retain(|object| object.text.lines().any(|line| line.starts_with(COMMENT)));
    let object = pick(&objects, random)?;
    let old = object.text.lines().find(|line| line.starts_with(COMMENT))?;
    let (new, verb) = match random.below(3) {
        0 => (String::new(), "removed from"),
        _ => (format!("{COMMENT}{}\n", state.turn), "changed in"),
    };
    let text = object.text.replacen(&format!("{old}\n"), &new, 1);
    Some(state.replace(object, text, format!("comment {verb} {object}")))
}

/// Changes the order of the fields of an object: at the top level, of its labels, or of its values.
pub(super) fn keys_reordered(state: &State, random: &mut Random) -> Option<Draft> {
    let objects = state.all();
    let object = pick(&objects, random)?;
    let turned = |text: &str, indent: usize| {
        let mut parts = parts(text, indent);
        let steps = parts.len().min(1);
        parts.rotate_left(steps);
        parts.concat()
    };
    let text = match random.below(3) {
        0 => turned(&object.text, 0),
        1 => {
            let mut labels = mapping(&object.text, METADATA, LABELS);
            labels.reverse();
            with_mapping(&object.text, (METADATA, LABELS), &labels)
        }
        _ => {
            let (before, inside, after) = DATA_KINDS.iter().find_map(|begins| body(&object.text, begins))?;
            format!("{before}{}{after}", turned(inside, 2))
        }
    };
    Some(state.replace(object, text, format!("keys of {object} reordered")))
}

/// Changes the order of the objects in a file.
pub(super) fn objects_reordered(state: &State, random: &mut Random) -> Option<Draft> {
    let objects = state.all();
    let second: Vec<_> = objects.iter().filter(|object| object.index == 1).collect();
    let path = &pick(&second, random)?.path;
    let mut texts: Vec<&str> = state.files[path].split("---\n").collect();
    texts.rotate_left(1);
    Some(Draft::new(format!("objects of {path} reordered"), [(path.clone(), Some(texts.join("---\n")))]))
}

/// Renames a file. The new name may change the order of the files.
pub(super) fn file_renamed(state: &State, random: &mut Random) -> Option<Draft> {
    let paths: Vec<&String> = state.files.keys().filter(|path| !state.broken.contains_key(*path)).collect();
    let path = *pick(&paths, random)?;
    let (folder, _) = path.split_once('/')?;
    let new = format!("{folder}/{}renamed-{}.yaml", random.pick(&["0-", "z-"]), state.turn);
    let changes = [(path.clone(), None), (new.clone(), Some(state.files[path].clone()))];
    Some(Draft::new(format!("file {path} renamed to {new}"), changes))
}

/// Moves an object to the end of another file.
pub(super) fn object_moved(state: &State, random: &mut Random) -> Option<Draft> {
    let objects = state.all();
    let (object, onto) = (pick(&objects, random)?, pick(&objects, random)?);
    if object.path == onto.path || object.path.starts_with("copies/") {
        return None;
    }
    let text = format!("{}---\n{}", state.files[&onto.path], object.text);
    let changes = [(object.path.clone(), state.with(object, None)), (onto.path.clone(), Some(text))];
    Some(Draft::new(format!("{object} moved to {}", onto.path), changes))
}
