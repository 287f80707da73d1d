//! Runs every case of the suite as a test of its own.

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use testkit::suite;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(suite::FOLDER);
    let files = suite::files(folder)?;
    if std::env::var_os("KALYPSO_BLESS").is_some_and(|value| value == "1") {
        files.iter().try_for_each(|file| suite::bless(file))?;
    }
    let mut trials = vec![Trial::test("every_row_of_the_table_has_its_case", move || index(folder))];
    for file in &files {
        match suite::cases(file) {
            Ok(cases) => trials
                .extend(cases.into_iter().map(|case| Trial::test(case.name(folder), move || Ok(suite::check(&case)?)))),
            Err(error) => trials.push(Trial::test(file.display().to_string(), move || Err(error.into()))),
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn index(folder: &Path) -> Result<(), Failed> {
    let problems = suite::index::problems(folder)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}
