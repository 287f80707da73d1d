//! The flags of a directive of `printf`.

/// The flags of one directive.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "Go's flags are independent of one another")]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`: adds field names.
    pub(super) plus_v: bool,
    /// `%#v`: uses Go syntax.
    pub(super) sharp_v: bool,
}
