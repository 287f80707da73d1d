//! The branch with the states of an environment counts only if its head is signed, where the configuration names keys.

use std::fs;

use testkit::keys;

use crate::company::git;
use crate::rewritten_states::WithStates;

const BRANCH: &str = "refs/heads/kalypso-rollouts/dev";
/// The keys that count, and the key of this program.
const KEYS: &str = "\n[promotion]\nstate-key-file = \"state-key\"\n[promotion.state-keys]\nservice = \"KEY\"\n";
/// The configuration of a program that reads the states, and has no key.
const READS: &str = "\n[promotion.state-keys]\nservice = \"KEY\"\n";

struct Signed(WithStates);

impl Signed {
    /// `dev` has states, which are not signed.
    fn new() -> Self {
        let world = WithStates::new();
        fs::write(world.company.path("state-key"), keys::SIGNING.0).unwrap();
        Self(world)
    }

    fn configure(&self, more: &str) {
        let more = more.replace("KEY", keys::SIGNING.1.trim());
        self.0.company.configure(&self.0.server.url(), &more);
    }

    fn head(&self) -> String {
        self.0.company.head("control-plane", "kalypso-rollouts/dev").unwrap()
    }

    /// Somebody who may push, and has no key, moves the branch: the files of the head, in a commit with this message.
    fn forge(&self, message: &str) -> String {
        let repository = self.0.company.repository("control-plane");
        let who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"];
        let tree = format!("{BRANCH}^{{tree}}");
        let forged = git(&repository, &[&who[..], &["commit-tree", &tree, "-p", BRANCH, "-m", message]].concat());
        git(&repository, &["update-ref", BRANCH, &forged]);
        forged
    }

    fn refuses(&self, words: &[&str]) {
        self.0.refuses(&[words, &["no key of `promotion.state-keys` signed for this environment"]].concat());
    }
}

#[test]
fn a_commit_without_a_signature_does_not_count() {
    let world = Signed::new();
    let before = world.head();
    world.configure(KEYS);
    // The states from before the keys are signed once, by a person who has read them.
    world.refuses(&["nor the commits before it", &format!("restore -e dev --to {before} --reason")]);
    world.0.decide(&["rollout", "restore", "-e", "dev", "--to", &before], 0);
    world.0.decide(&["hold", "-e", "dev", "application/shop"], 0);
    world.0.run("check -e dev", 0);
    let signed = world.head();
    // git verifies the same signature with `allowedSignersFile`.
    let text = git(&world.0.company.repository("control-plane"), &["cat-file", "commit", &signed]);
    assert!(text.contains("gpgsig -----BEGIN SSH SIGNATURE-----\n"), "{text}");
    // Whoever may push can't add a decision, or say that one is restored.
    for message in ["kalypso: dev", "dev\n\nKalypso-Environment: dev\nKalypso-Restored: baseline"] {
        world.forge(message);
        world.refuses(&[&format!("The newest signed commit is {}", &signed[..7])]);
    }
    world.0.decide(&["rollout", "restore", "-e", "dev", "--to", &signed], 0);
    world.0.run("publish -e dev --direct", 0);
    world.0.run("rollout status -e dev", 0).says(&["application/shop", "numbers are checked"]);
}

#[test]
fn a_program_without_a_key_reads_and_does_not_write() {
    let world = Signed::new();
    world.configure(KEYS);
    let before = world.head();
    world.0.decide(&["rollout", "restore", "-e", "dev", "--to", &before], 0);
    let signed = world.head();
    for (configuration, reason) in [
        (READS, "neither `promotion.state-key-file` nor `promotion.state-key-env` is set"),
        ("", "neither `promotion.state-key-file` nor"),
        (&KEYS.replace("\"state-key\"", "\"gone\""), "gone` can't be read"),
    ] {
        world.configure(configuration);
        world.0.run("check -e dev", 0);
        world.0.run("publish -e dev --direct --no-step", 0);
        world.0.decide(&["hold", "-e", "dev"], 1).says(&["must be signed, and this program can't sign them", reason]);
        assert_eq!(world.head(), signed, "{configuration}");
    }
    fs::write(world.0.company.path("state-key"), keys::OTHER.0).unwrap();
    world.configure(KEYS);
    let advice = format!("is not in `promotion.state-keys`. Add it: NAME = \"{}\"", keys::OTHER.1.trim());
    world.0.decide(&["hold", "-e", "dev"], 1).says(&[&advice]);
    world.0.run("serve --listen 127.0.0.1:0", 64).says(&["the service could store no states", &advice]);
}
