//! Reading of YAML.

/// Whatever the bytes are, what is read of them keeps to [`model::yaml::invariant`].
pub fn yaml_reader(input: &[u8]) {
    let result = model::yaml::invariant::check(input);
    assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
}
