//! Small control planes give the trees that Microsoft's Kalypso makes of them.

#[test]
fn fleets_give_the_expected_trees() {
    let Some(folder) = std::env::var_os("KALYPSO_CONFORMANCE").map(std::path::PathBuf::from) else {
        eprintln!("skipped: conformance corpora not present");
        return;
    };
    let cases = std::fs::read_dir(folder.join("conformance/fleets")).expect("the corpus has fleets");
    let cases = cases.map(|case| case.expect("a case is readable").path());
    let (mut count, mut failures) = (0, Vec::new());
    for case in cases {
        count += 1;
        if let Err(differences) = testkit::corpus::check_fleet(&case) {
            failures.push(format!("{}:\n{differences}", case.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {count} differ\n{}", failures.len(), failures.join("\n\n"));
    assert!(count >= 38, "only {count} cases were found");
}
