//! The methods of versions that templates can call.

use std::cmp::Ordering;

use super::method;
use crate::function::{Function, FunctionError, Type};
use crate::semver::Version;
use crate::value::{Struct, Value};

/// The methods of `*semver.Version`.
pub(crate) const METHODS: &[Function] = &[
    method("Compare", &[Type::Any, Type::Any], |_, args| Ok(Value::int(order(args)? as i64))),
    method("Equal", &[Type::Any, Type::Any], |_, args| Ok(Value::Bool(order(args)?.is_eq()))),
    method("GreaterThan", &[Type::Any, Type::Any], |_, args| Ok(Value::Bool(order(args)?.is_gt()))),
    method("IncMajor", &[Type::Any], |_, args| Ok(next(version(args, 0)?, VersionPart::Major))),
    method("IncMinor", &[Type::Any], |_, args| Ok(next(version(args, 0)?, VersionPart::Minor))),
    method("IncPatch", &[Type::Any], |_, args| Ok(next(version(args, 0)?, VersionPart::Patch))),
    method("LessThan", &[Type::Any, Type::Any], |_, args| Ok(Value::Bool(order(args)?.is_lt()))),
    method("Major", &[Type::Any], |_, args| Ok(Value::int64(version(args, 0)?.major))),
    method("Metadata", &[Type::Any], |_, args| Ok(Value::text(version(args, 0)?.metadata.as_str()))),
    method("Minor", &[Type::Any], |_, args| Ok(Value::int64(version(args, 0)?.minor))),
    method("Original", &[Type::Any], |_, args| Ok(Value::text(version(args, 0)?.original.as_str()))),
    method("Patch", &[Type::Any], |_, args| Ok(Value::int64(version(args, 0)?.patch))),
    method("Prerelease", &[Type::Any], |_, args| Ok(Value::text(version(args, 0)?.prerelease.as_str()))),
    method("String", &[Type::Any], |_, args| Ok(Value::text(version(args, 0)?.to_string()))),
];

/// The part of a version that is incremented.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionPart {
    Major,
    Minor,
    Patch,
}

fn version(args: &[Value], index: usize) -> Result<&Version, FunctionError> {
    if let Some(Value::Version(version)) = args.get(index) {
        return Ok(version);
    }
    Err(FunctionError::error("wrong type of argument for a method of *semver.Version"))
}

fn order(args: &[Value]) -> Result<Ordering, FunctionError> {
    Ok(version(args, 0)?.compare(version(args, 1)?))
}

/// The next version, as Go returns it: a struct whose fields templates can print. It has no methods.
fn next(version: &Version, part: VersionPart) -> Value {
    let (major, minor, patch) = match part {
        VersionPart::Major => (version.major.wrapping_add(1), 0, 0),
        VersionPart::Minor => (version.major, version.minor.wrapping_add(1), 0),
        // A prerelease is before its version.
        VersionPart::Patch if !version.prerelease.is_empty() => (version.major, version.minor, version.patch),
        VersionPart::Patch => (version.major, version.minor, version.patch.wrapping_add(1)),
    };
    let original = format!("{}{major}.{minor}.{patch}", if version.original.starts_with('v') { "v" } else { "" });
    let fields = vec![
        ("major", Value::int64(major)),
        ("minor", Value::int64(minor)),
        ("patch", Value::int64(patch)),
        ("pre", Value::text("")),
        ("metadata", Value::text("")),
        ("original", Value::text(original)),
    ];
    Value::Struct(Struct { type_name: "semver.Version", fields }.into())
}
