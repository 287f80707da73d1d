//! Classes of scalars: their types, and what they can be used for.

use super::{Resolved, resolve_plain};
use crate::label;
use crate::name::{self, is_dns_label};

/// The type that a scalar has, and whether it prints back as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TypeForm {
    /// A text.
    Text,
    /// An empty plain scalar or a word for null.
    Null,
    /// A boolean, written `true` or `false`.
    Bool,
    /// A boolean in another form, such as `yes`.
    OtherBool,
    /// A number whose usual form is the text.
    Number,
    /// A number in another form, such as `1.10`, `0755` or `83e2`.
    OtherNumber,
}

/// For each byte, what a text with it can't be.
const BYTE_CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => 0,
            b'.' => OF_NO_DNS_LABEL,
            b'A'..=b'Z' | b'_' => OF_NO_DNS_LABEL | OF_NO_NAME,
            b'/' | b'%' => OF_NO_DNS_LABEL | OF_NO_NAME | OF_NO_LABEL | OF_NO_SEGMENT,
            b'<' => OF_NO_DNS_LABEL | OF_NO_NAME | OF_NO_LABEL | ANGLE,
            _ => OF_NO_DNS_LABEL | OF_NO_NAME | OF_NO_LABEL,
        };
        byte += 1;
    }
    classes
};

/// In no DNS label.
const OF_NO_DNS_LABEL: u8 = 1;
/// In no name.
const OF_NO_NAME: u8 = 1 << 1;
/// In no value of a label.
const OF_NO_LABEL: u8 = 1 << 2;
const OF_NO_SEGMENT: u8 = 1 << 3;
const ANGLE: u8 = 1 << 4;

/// The class of a scalar: its type, and what it can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarClass {
    /// The type.
    pub form: TypeForm,
    /// What it can be used for, one bit each.
    pub(super) fits: u8,
}

impl ScalarClass {
    const DNS_LABEL: u8 = 1;
    const NAME: u8 = 1 << 1;
    const LABEL_VALUE: u8 = 1 << 2;
    /// At most 63 bytes: nothing asks for it alone, but what is said about a longer text differs.
    const WITHIN_LABEL: u8 = 1 << 3;
    const BEGINS_WITH_LETTER: u8 = 1 << 4;
    const HAS_NO_VALUE: u8 = 1 << 5;
    const PATH_SEGMENT: u8 = 1 << 6;

    /// The class of a plain scalar.
    pub fn of_plain(text: &str) -> Self {
        let form = match resolve_plain(text) {
            Resolved::Text(_) => TypeForm::Text,
            Resolved::Null => TypeForm::Null,
            Resolved::Bool(value) if text == if value { "true" } else { "false" } => TypeForm::Bool,
            Resolved::Bool(_) => TypeForm::OtherBool,
            Resolved::Int(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Uint(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Float(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_) => TypeForm::OtherNumber,
        };
        Self { form, ..Self::of_text(text) }
    }

    /// The class of a text in quotes or in a block.
    pub fn of_text(text: &str) -> Self {
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        // One look at all bytes spares most of the checks.
        let bytes = text.bytes().fold(0, |all, byte| all | BYTE_CLASSES[usize::from(byte)]);
        let has = |class: u8| bytes & class != 0;
        let is_dns_label = !has(OF_NO_DNS_LABEL) && is_dns_label(text);
        // A DNS label is a name and the value of a label.
        let fits = flag(is_dns_label, Self::DNS_LABEL)
            | flag(is_dns_label || !has(OF_NO_NAME) && name::check(text).is_ok(), Self::NAME)
            | flag(is_dns_label || !has(OF_NO_LABEL) && label::check_value(text).is_ok(), Self::LABEL_VALUE)
            | flag(text.len() <= name::LABEL_LENGTH_MAX, Self::WITHIN_LABEL)
            | flag(text.starts_with(|first: char| first.is_ascii_lowercase()), Self::BEGINS_WITH_LETTER)
            | flag(has(ANGLE) && text.contains("<no value>"), Self::HAS_NO_VALUE)
            | flag(!text.is_empty() && !has(OF_NO_SEGMENT), Self::PATH_SEGMENT);
        Self { form: TypeForm::Text, fits }
    }

    /// Whether it is a DNS label, as the name of a namespace.
    pub fn is_dns_label(self) -> bool {
        self.fits & Self::DNS_LABEL != 0
    }

    /// Whether it is a DNS label that begins with a letter, as the name of a `Service`.
    pub fn is_service_name(self) -> bool {
        self.is_dns_label() && self.fits & Self::BEGINS_WITH_LETTER != 0
    }

    /// Whether it is a DNS subdomain, as the names of most objects.
    pub fn is_name(self) -> bool {
        self.fits & Self::NAME != 0
    }

    /// Whether it can be the value of a label.
    pub fn is_label_value(self) -> bool {
        self.fits & Self::LABEL_VALUE != 0
    }

    /// Whether it is not empty and contains no `/` and no `%`, as the names of roles.
    pub fn is_path_segment(self) -> bool {
        self.fits & Self::PATH_SEGMENT != 0
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.is_label_value() && !self.is_path_segment()
    }

    /// Whether it contains what a template prints for a missing value.
    pub fn has_no_value(self) -> bool {
        self.fits & Self::HAS_NO_VALUE != 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scalar_classes_agree_with_the_naming_rules(text in "[a-cA-C0-1./%<>_ é-]{0,6}|<no value>|a{62,64}") {
            let class = ScalarClass::of_text(&text);
            prop_assert_eq!(class.is_dns_label(), is_dns_label(&text));
            prop_assert_eq!(class.is_name(), name::check(&text).is_ok());
            prop_assert_eq!(class.is_label_value(), label::check_value(&text).is_ok());
            prop_assert_eq!(class.is_path_segment(), !text.is_empty() && !text.contains(['/', '%']));
            prop_assert_eq!(class.has_no_value(), text.contains("<no value>"));
        }
    }
}
