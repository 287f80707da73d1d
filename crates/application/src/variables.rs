//! Variables in texts: `${VERSION}`.
//!
//! `$${VERSION}` is the text `${VERSION}`, as in Flux. Everything else with a dollar sign stays as it is, such as `$VERSION`.

use std::collections::BTreeMap;

use crate::limits::VARIABLE_DEPTH_MAX;

/// The variable with the digest of the package. It exists if the package is named.
pub(crate) const PACKAGE_DIGEST: &str = "PACKAGE_SHA256";

/// The values of variables, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

/// What a text refers to, or the part of it that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// The name.
    pub name: String,
    /// The byte of the text where it begins.
    pub start: usize,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Variable { name: &'a str, start: usize },
}

/// Whether a text is the name of a variable: letters, digits and `_`, not beginning with a digit.
pub fn is_name(text: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_good) && text.starts_with(|c: char| !c.is_ascii_digit())
}

/// Whether a text refers to a variable, or contains the escape of one.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("${")
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at) {
        let inside = text.get(at + 2..).unwrap_or_default();
        let name = inside.find('}').and_then(|end| inside.get(..end)).filter(|name| is_name(name));
        let is_escaped = text.get(from..at).is_some_and(|before| before.ends_with('$'));
        let Some(name) = name else {
            parts.push(Part::Text(text.get(from..at + 2).unwrap_or_default()));
            from = at + 2;
            continue;
        };
        let end = at + 2 + name.len() + 1;
        if is_escaped {
            // Without one of the two dollar signs.
            parts.push(Part::Text(text.get(from..at - 1).unwrap_or_default()));
            parts.push(Part::Text(text.get(at..end).unwrap_or_default()));
        } else {
            parts.push(Part::Text(text.get(from..at).unwrap_or_default()));
            parts.push(Part::Variable { name, start: at });
        }
        from = end;
    }
    parts.push(Part::Text(text.get(from..).unwrap_or_default()));
    parts
}

impl Variables {
    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Replaces the variables in a text.
    ///
    /// # Errors
    /// All variables that are not known.
    pub fn substitute(&self, text: &str) -> Result<String, Vec<UnknownVariable>> {
        let (mut result, mut unknown) = (String::new(), Vec::new());
        for part in parts(text) {
            match part {
                Part::Text(text) => result.push_str(text),
                Part::Variable { name, start } => match self.get(name) {
                    Some(value) => result.push_str(value),
                    None => unknown.push(UnknownVariable { name: name.to_owned(), start }),
                },
            }
        }
        if unknown.is_empty() { Ok(result) } else { Err(unknown) }
    }

    /// Adds variables with texts that may refer to each other, and to the variables that are already known. These stay as they are. Of two with the same name,
    /// the last one counts.
    ///
    /// # Errors
    /// The names of those that refer to variables that are not known, or to themselves.
    pub fn add_all<'t>(
        &mut self,
        texts: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<(), Vec<(&'t str, UnknownVariable)>> {
        let mut open: BTreeMap<_, _> = texts.into_iter().filter(|(name, _)| !self.0.contains_key(*name)).collect();
        let mut problems = Vec::new();
        for _ in 0..VARIABLE_DEPTH_MAX {
            problems.clear();
            let mut later = BTreeMap::new();
            for (name, text) in open {
                match self.substitute(text) {
                    Ok(value) => self.set(name, value),
                    Err(unknown) => {
                        problems.extend(unknown.into_iter().map(|unknown| (name, unknown)));
                        later.insert(name, text);
                    }
                }
            }
            open = later;
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &[(&str, usize)]>) {
        let variables: Variables = [("VERSION".to_owned(), "2.4.0".to_owned())].into_iter().collect();
        let found = variables.substitute(text);
        let found = found.map_err(|unknown| unknown.into_iter().map(|one| (one.name, one.start)).collect::<Vec<_>>());
        let expected = expected.map(str::to_owned);
        assert_eq!(
            found,
            expected.map_err(|all| all.iter().map(|(name, start)| ((*name).to_owned(), *start)).collect())
        );
    }

    #[test]
    fn variables_are_replaced() {
        check("shop:${VERSION}", Ok("shop:2.4.0"));
        check("${VERSION}${VERSION}", Ok("2.4.02.4.0"));
        check("", Ok(""));
    }

    #[test]
    fn escapes_and_other_dollar_signs_stay() {
        check("$${VERSION} $VERSION ${VERSION", Ok("${VERSION} $VERSION ${VERSION"));
        check("${} ${a b} ${1a} $${cluster} $", Ok("${} ${a b} ${1a} ${cluster} $"));
    }

    #[test]
    fn all_unknown_variables_are_named() {
        check("${VERSON} ${VERSION} ${tag}", Err(&[("VERSON", 0), ("tag", 21)]));
    }
}
