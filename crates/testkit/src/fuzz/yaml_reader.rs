//! The fuzz target for the YAML reader.

/// Checks that the result of reading any bytes satisfies [`model::yaml::invariant`].
pub fn yaml_reader(input: &[u8]) {
    let result = model::yaml::invariant::check(input);
    assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
}
