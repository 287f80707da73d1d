//! Finds functions by their names.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::function::Function;
use crate::{builtins, kalypso, sprig};

/// The meaning of a name in a template.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    /// A function.
    Callee(Callee),
    /// A function of sprig whose result would not depend on the inputs alone. The text is the reason and an alternative.
    Forbidden(&'static str),
    /// No function has this name.
    Unknown,
}

/// The function that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// `and`, which stops evaluating at the first false argument.
    And,
    /// `or`, which stops evaluating at the first true argument.
    Or,
    /// Any other function.
    Function(&'static Function),
}

const DEPENDS_ON_MACHINE: &str =
    "would make the output depend on the machine it is rendered on: write the value into the configuration data";
const DEPENDS_ON_TIME: &str =
    "would make the output depend on the time of rendering: write the date into the configuration data";
const IS_RANDOM: &str =
    "would make the output differ from rendering to rendering: write the value into the configuration data";
const MAKES_SECRETS: &str = "would make the output differ from rendering to rendering, and put a key into it: keep keys in a vault and refer to them";

/// The functions of sprig 2.22.0 that are refused, each with the reason.
const FORBIDDEN: &[(&str, &str)] = &[
    ("ago", DEPENDS_ON_TIME),
    ("buildCustomCert", MAKES_SECRETS),
    ("env", DEPENDS_ON_MACHINE),
    ("expandenv", DEPENDS_ON_MACHINE),
    ("genCA", MAKES_SECRETS),
    ("genPrivateKey", MAKES_SECRETS),
    ("genSelfSignedCert", MAKES_SECRETS),
    ("genSignedCert", MAKES_SECRETS),
    ("getHostByName", DEPENDS_ON_MACHINE),
    ("now", DEPENDS_ON_TIME),
    ("randAlpha", IS_RANDOM),
    ("randAlphaNum", IS_RANDOM),
    ("randAscii", IS_RANDOM),
    ("randNumeric", IS_RANDOM),
    ("shuffle", IS_RANDOM),
    ("uuidv4", IS_RANDOM),
];

/// Finds the function with this name. Kalypso's functions replace sprig's, and sprig's replace the built-in ones.
pub(crate) fn find(name: &str) -> Name {
    static NAMES: OnceLock<HashMap<&'static str, Name>> = OnceLock::new();
    NAMES.get_or_init(names).get(name).copied().unwrap_or(Name::Unknown)
}

/// The names of all functions, the refused ones included.
#[cfg(test)]
pub(crate) fn all() -> Vec<&'static str> {
    names().into_keys().collect()
}

fn names() -> HashMap<&'static str, Name> {
    let forbidden = FORBIDDEN.iter().map(|(name, reason)| (*name, Name::Forbidden(reason)));
    let special = [("and", Name::Callee(Callee::And)), ("or", Name::Callee(Callee::Or))];
    let functions = builtins::FUNCTIONS.iter().chain(sprig::FUNCTIONS).chain(kalypso::FUNCTIONS);
    let functions = functions.map(|function| (function.name, Name::Callee(Callee::Function(function))));
    forbidden.chain(special).chain(functions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_function_differs_from_an_unknown_one() {
        assert!(matches!(find("now"), Name::Forbidden(_)));
        assert!(matches!(find("nosuch"), Name::Unknown));
        assert!(matches!(find("len"), Name::Callee(_)));
    }

    #[test]
    fn no_forbidden_function_is_also_provided() {
        for (name, _) in FORBIDDEN {
            assert!(matches!(find(name), Name::Forbidden(_)), "{name}");
        }
    }
}
