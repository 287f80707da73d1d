//! The values that fields have if state files do not contain them.

/// Whether a value is the one of an absent field.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
