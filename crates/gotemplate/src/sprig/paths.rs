//! Functions on paths with slashes, like Go's package `path`. They do not access any files.

use super::arguments::{bytes, text};
use super::function;
use crate::function::{Function, Type};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("base", &[Text], |_, args| Ok(Value::text(base(bytes(args, 0)?)))),
    function("clean", &[Text], |_, args| Ok(Value::text(clean(bytes(args, 0)?)))),
    function("dir", &[Text], |_, args| {
        let path = bytes(args, 0)?;
        Ok(Value::text(clean(path.get(..after_last_slash(path)).unwrap_or_default())))
    }),
    function("ext", &[Text], |_, args| Ok(Value::text(extension(bytes(args, 0)?)))),
    function("isAbs", &[Text], |_, args| Ok(Value::Bool(text(args, 0)?.as_bytes().starts_with(b"/")))),
];

fn after_last_slash(path: &[u8]) -> usize {
    path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1)
}

fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    let base = trimmed.get(after_last_slash(trimmed)..).unwrap_or_default();
    if base.is_empty() { b"/" } else { base }
}

fn extension(path: &[u8]) -> &[u8] {
    let name = path.get(after_last_slash(path)..).unwrap_or_default();
    name.iter().rposition(|&byte| byte == b'.').and_then(|at| name.get(at..)).unwrap_or_default()
}

/// The shortest equivalent path.
fn clean(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => drop(parts.pop()),
            b".." if rooted => {}
            part => parts.push(part),
        }
    }
    let relative = parts.join(&b'/');
    match (rooted, relative.is_empty()) {
        (true, _) => [b"/", relative.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => relative,
    }
}
