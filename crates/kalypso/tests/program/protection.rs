//! `kalypso check` asks the git host whether branches are protected.

use std::fs;
use std::time::Duration;

use git_host::double::{DoubleFault, FaultAnswer};
use git_host::hosts::memory::BranchRule;

use crate::company::Ran;
use crate::serving::Hosted;

const PROMOTION: &str =
    "{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {name: to-dev}, spec: {to: dev}}\n";

/// A new file that is no object.
const PATCH: &str =
    "diff --git a/note.txt b/note.txt\nnew file mode 100644\n--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+text\n";

/// A company with a promotion to `dev`, on a host that protects nothing.
struct World(Hosted);

impl World {
    fn new() -> Self {
        let hosted = Hosted::new("");
        hosted.company.change("control-plane@main", ".environments/to-dev.yaml", PROMOTION);
        Self(hosted)
    }

    fn protect(&self, repository: &str, branch: &str, required_status: Option<&str>) {
        let rule = BranchRule { required_status: required_status.map(str::to_owned), required_review: false };
        self.0.memory().repository(repository).unwrap().rules.insert(branch.to_owned(), rule);
    }

    fn check(&self) -> Ran {
        self.0.kalypso("check -e dev")
    }

    /// The number of questions about branches so far.
    fn questions(&self) -> usize {
        self.0.requests().iter().filter(|target| target.contains("/branches/")).count()
    }

    /// The next questions have this answer.
    fn fail(&self, answer: FaultAnswer) {
        let fault = DoubleFault { method: "GET", target: "/branches/".to_owned(), is_done: false, answer, times: 99 };
        self.0.replace_faults(fault);
    }

    fn is_silent(&self) {
        let ran = self.check().ends(0);
        assert!(!ran.err.contains("K0533") && !ran.out.contains("K0533"), "{}{}", ran.out, ran.err);
        assert!(!ran.err.contains("protected"), "{}", ran.err);
    }
}

#[test]
fn branches_without_protection_are_reported_until_they_are_protected() {
    let world = World::new();
    world.0.kalypso("publish -e dev --direct").ends(0);
    let of_main = "the branch `main` of acme/control-plane is not protected, and declares the promotions";
    let of_output = "the branch `dev` of acme/gitops is not protected, and clusters pull it";
    let help = "on GitHub, add a branch ruleset for `dev` with `Require a pull request before merging`";
    let place = ".environments/to-dev.yaml:1";
    world.check().ends(0).says(&["K0533", of_main, of_output, help, place]);
    world.0.kalypso("check --strict").ends(1).says(&[of_main, of_output]);
    world.protect("acme/control-plane", "main", None);
    world.protect("acme/gitops", "dev", None);
    world.protect("acme/control-plane", "kalypso-rollouts/dev", None);
    let of_status = "the branch `dev` of acme/gitops does not require the status `kalypso/admission`";
    world.check().ends(0).says(&["K0533", of_status, "on GitHub, set `Require status checks to pass`"]);
    world.protect("acme/gitops", "dev", Some("kalypso/admission"));
    world.is_silent();
}

#[test]
fn acknowledgements_stay_valid_while_protection_is_unknown() {
    let world = World::new();
    let file = world.0.company.path("kalypso.toml");
    let object = "[[acknowledge]]\ncode = \"K0533\"\nreason = \"a hook\"\nobject = ";
    let entries = format!("{object}\"Promotion/to-dev\"\n{object}\"GitOpsRepo/dev\"\n");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &entries).unwrap();
    world.0.kalypso("publish -e dev --direct").ends(0);
    world.0.kalypso("check --strict").ends(0).says(&["3 warnings are acknowledged"]);
    world.fail(FaultAnswer::None);
    world.0.kalypso("check --strict").ends(0);
}

#[test]
fn a_branch_with_states_needs_protection() {
    let world = World::new();
    world.0.kalypso("publish -e dev --direct").ends(0);
    world.0.kalypso("hold -e dev --reason outage").ends(0);
    let of_states =
        "the branch `kalypso-rollouts/dev` of acme/control-plane is not protected, and records what is admitted";
    world.check().says(&[of_states, "a branch ruleset for `kalypso-rollouts/*` with `Restrict updates`"]);
    world.protect("acme/control-plane", "kalypso-rollouts/dev", None);
    let ran = world.check();
    assert!(!ran.out.contains("kalypso-rollouts"), "{}", ran.out);
}

#[test]
fn only_checks_of_present_branches_query_protection() {
    let world = World::new();
    // The first one records what the environment has, and the next one names its commit in the output.
    ["first", "second"].iter().for_each(|_| drop(world.0.kalypso("publish -e dev --direct").ends(0)));
    let (folder, patch) = (world.0.company.write_plain("plain"), world.0.company.path("new.patch"));
    fs::write(&patch, PATCH).unwrap();
    let plain = format!("check --from {} -e dev", folder.display());
    let patched = format!("check -e dev --patch {}", patch.display());
    let rendered = "render -e dev --out rendered";
    for command in ["plan -e dev", rendered, "check -e dev --commit dev", &plain, &patched] {
        world.0.kalypso(command).ends(0);
    }
    assert_eq!(world.questions(), 0);
    world.check().ends(0);
    assert!(world.questions() > 0);
}

#[test]
fn unknown_protection_gives_no_findings() {
    let world = World::new();
    let refusal = |status| FaultAnswer::Answer { status, headers: Vec::new(), body: r#"{"message": "no"}"#.to_owned() };
    let late = FaultAnswer::Late(Duration::from_mins(1));
    for answer in [refusal(403), refusal(404), refusal(500), FaultAnswer::None, late] {
        world.fail(answer);
        world.is_silent();
    }
    world.fail(refusal(401));
    // The user can act on this one.
    world.check().ends(0).says(&["note: it is not known whether branches are protected: GET /repos/acme/", "401"]);
    let without_token = Ran::new(world.0.command("check -e dev").env_remove("HOST_TOKEN"));
    assert!(!without_token.ends(0).err.contains("HOST_TOKEN"));
}
