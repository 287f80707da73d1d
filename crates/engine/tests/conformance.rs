//! Small control planes render to the same trees as with Microsoft's Kalypso. Each one is a test of its own.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let folder = std::env::var_os("KALYPSO_CONFORMANCE").map(PathBuf::from);
    let trials =
        testkit::corpus::trials(folder, |folder| {
            let cases = cases(&folder.join("conformance/fleets"));
            let found = cases.len();
            let count = Trial::test("the_corpus_is_whole", move || {
                if found >= 38 { Ok(()) } else { Err(Failed::from(found.to_string())) }
            });
            cases.into_iter().map(trial).chain([count]).collect()
        });
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut cases: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|case| case.path()).collect();
    cases.sort();
    cases
}

fn trial(case: PathBuf) -> Trial {
    let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name, move || Ok(testkit::corpus::check_fleet(&case)?))
}
