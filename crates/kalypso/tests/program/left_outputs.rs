//! Tests of output that no `GitOpsRepo` names any more.

use testkit::objects::{config, gitops};

use crate::company::{Company, git};

const ANY_MORE: &str = "no GitOpsRepo of dev names this path any more";

#[test]
fn folders_of_a_removed_gitops_repo_are_named_until_they_are_removed() {
    let company = Company::new();
    company.change("control-plane@dev", "gitops.yaml", &gitops("dev", "dev", "./old/clusters"));
    company.change("control-plane@dev", "new.yaml", &gitops("new", "dev", "./new"));
    let company = company.published();
    let quiet = company.kalypso("plan -e dev").ends(0);
    assert!(!quiet.out.contains("K0512"), "{}", quiet.out);
    company.remove("control-plane", "dev", "gitops.yaml");
    let message = format!("gitops@dev stay published: {ANY_MORE}");
    let said = ["K0512", "2 folders in `old/clusters` of ", &message, "git rm -r --quiet old/clusters"];
    company.kalypso("plan -e dev --strict").ends(1).says(&said);
    company.change("control-plane@dev", "configs/new.yaml", &config("new", "", "NEW: value"));
    company.kalypso("publish -e dev --direct").ends(0).says(&said);
    // The newest publication does not know the path any more.
    company.kalypso("plan -e dev").ends(0).says(&said);
    company.kalypso("publish -e dev").ends(0).says(&said);
    let json = company.kalypso("plan -e dev -o json").ends(0).json();
    let codes: Vec<_> = json["report"]["diagnostics"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    assert_eq!(codes, ["K0512"]);
    company.remove("gitops", "dev", "old");
    let quiet = company.kalypso("plan -e dev").ends(0);
    assert!(!quiet.out.contains("K0512"), "{}", quiet.out);
}

#[test]
fn folders_at_the_root_are_named_too() {
    let company = Company::new();
    company.change("control-plane@dev", "new.yaml", &gitops("new", "dev", "./new"));
    let company = company.published();
    company.remove("control-plane", "dev", "gitops.yaml");
    let said = ["K0512", "2 folders in the root of ", ANY_MORE, "remove `.kalypso` and the folders"];
    company.kalypso("plan -e dev").ends(0).says(&said);
}

#[test]
fn a_branch_that_is_left_is_named_by_the_plans_of_the_others() {
    let company = Company::new();
    company.commit("gitops", "edge", &[("README.md", "Edge\n".to_owned())]);
    company.change("control-plane@dev", "edge.yaml", &gitops("edge", "edge", "."));
    let company = company.published();
    company.remove("control-plane", "dev", "edge.yaml");
    let said =
        ["K0512", "branch `edge` of ", "stays published: no GitOpsRepo of dev names it any more", "--delete edge"];
    company.kalypso("plan -e dev").ends(0).says(&said);
    company.kalypso("publish -e dev --direct").ends(0).says(&said);
    assert!(git(&company.repository("gitops"), &["ls-tree", "edge"]).contains("west"));
}
