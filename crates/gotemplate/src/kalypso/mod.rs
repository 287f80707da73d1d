//! The functions that Kalypso adds to those of sprig.

mod hash;
mod short_name;
mod stringify;
mod to_yaml;
mod unquote;

pub use self::short_name::short_label;
use crate::function::Function;
use crate::text::Text;
use crate::value::Value;

/// The functions, each with its name.
pub(crate) const FUNCTIONS: &[Function] =
    &[hash::FUNCTION, short_name::FUNCTION, stringify::FUNCTION, to_yaml::FUNCTION, unquote::FUNCTION];

/// A YAML document without the newline at its end, as templates insert it.
fn without_newline(mut yaml: Vec<u8>) -> Value {
    if yaml.ends_with(b"\n") {
        yaml.pop();
    }
    Value::Text(Text::from(yaml))
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;
    use crate::budget::{Budget, Exhausted, RenderLimits};
    use crate::function::{Call, FunctionError};
    use crate::map_changes::MapChanges;
    use crate::value::Value;

    /// Calls the function `name` with `argument`.
    pub(super) fn call(name: &str, argument: Value) -> Result<String, FunctionError> {
        let function = FUNCTIONS.iter().find(|function| function.name == name).expect("a function of that name");
        let (changes, budget) =
            (&mut MapChanges::default(), &mut Budget::new(RenderLimits { steps: 20_000, ..RenderLimits::default() }));
        match (function.body)(&mut Call { changes, budget }, &[argument])? {
            Value::Text(text) => Ok(text.to_string()),
            other => panic!("{name} gave {other:?}"),
        }
    }

    #[test]
    fn values_nested_too_deeply_are_refused() {
        let nested = (0..300).fold(Value::Nil, |inner, _| Value::list(vec![inner]));
        for name in ["hash", "stringify", "toYaml"] {
            assert_eq!(call(name, nested.clone()), Err(Exhausted::Depth(200).into()), "{name}");
        }
    }

    #[test]
    fn small_values_that_unfold_into_huge_ones_exhaust_the_steps() {
        let bomb = (0..40).fold(Value::int(1), |inner, _| Value::list(vec![inner.clone(), inner]));
        for name in ["hash", "stringify", "toYaml"] {
            assert_eq!(call(name, bomb.clone()), Err(Exhausted::Steps(20_000).into()), "{name}");
        }
    }
}
