//! Functions have few parameters, and tuples do not hide them.

use super::Finding;
use crate::workspace::Workspace;

/// The largest number of parameters. A tuple of three is three; `self` counts, as for clippy.
const PARAMETERS_MAX: usize = 4;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let functions = workspace.rust.iter().flat_map(|(path, source)| {
        source.functions.iter().filter(|function| function.parameters > PARAMETERS_MAX).map(move |function| {
            let message = format!(
                "parameter law: `{}` has more than {PARAMETERS_MAX} parameters: give them a struct with names",
                function.name
            );
            Finding::new(path, *function.lines.start(), message)
        })
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(parameters: &str) -> Vec<String> {
        let text = format!("//! A.\nfn f({parameters}) {{}}\n");
        check_law(super::check, &[("crates/a/src/lib.rs", &text)])
    }

    #[test]
    fn four_parameters_are_accepted() {
        assert_eq!(check("a: A, (b, c): (B, C), d: D"), Vec::<String>::new());
    }

    #[test]
    fn elements_of_tuples_are_parameters() {
        for parameters in
            ["a: A, b: B, (c, d, e): (C, D, E)", "a: A, all: &(B, C, D, E)", "a: A, ((b, c), d, e): ((B, C), D, E)"]
        {
            let found = check(parameters);
            assert!(
                found[0].starts_with("crates/a/src/lib.rs:2: parameter law: `f` has more than 4 parameters"),
                "{found:?}"
            );
        }
    }
}
