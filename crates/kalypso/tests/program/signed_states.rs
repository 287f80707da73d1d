//! The branch with the states of an environment counts only if its head is signed, where the configuration names keys.

use std::fs;

use testkit::git_server::GitServer;
use testkit::keys;

use crate::company::{Company, HOST, Ran, git};
use crate::objects;

const BRANCH: &str = "refs/heads/kalypso-rollouts/dev";
/// The keys that count, and the key of this program.
const KEYS: &str = "\n[promotion]\nstate-key-file = \"state-key\"\n[promotion.state-keys]\nservice = \"KEY\"\n";
/// The configuration of a program that reads the states, and has no key.
const READS: &str = "\n[promotion.state-keys]\nservice = \"KEY\"\n";

struct Signed {
    company: Company,
    server: GitServer,
}

impl Signed {
    /// `dev` has states, which are not signed.
    fn new() -> Self {
        let company = Company::new();
        let server = GitServer::start(&company.path("served")).unwrap();
        fs::write(company.path("state-key"), keys::SIGNING.0).unwrap();
        let world = Self { company, server };
        world.configure("");
        let promotion = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {name: to-dev}\nspec: {to: dev, delivery: direct}\n";
        let first = world.company.change("control-plane@main", ".environments/to-dev.yaml", promotion);
        let spec = format!("repo: {HOST}control-plane\nbranch: main\npath: .\ncommit: {first}");
        world.company.change("control-plane@dev", "base.yaml", &objects::object("BaseRepo", "main", &spec));
        world.run("publish -e dev --direct", 0);
        world.run("rollout advance -e dev", 2);
        world
    }

    fn configure(&self, more: &str) {
        self.company.configure(&self.server.url(), &more.replace("KEY", keys::SIGNING.1.trim()));
    }

    fn run(&self, arguments: &str, status: i32) -> Ran {
        self.company.kalypso(arguments).ends(status)
    }

    fn decide(&self, arguments: &[&str], status: i32) -> Ran {
        Ran::of(self.company.command().args(arguments).args(["--reason", "numbers are checked"])).ends(status)
    }

    fn head(&self) -> String {
        self.company.head("control-plane", "kalypso-rollouts/dev").unwrap()
    }

    /// Somebody who may push, and has no key, moves the branch: the files of the head, in a commit with this message.
    fn forge(&self, message: &str) -> String {
        let repository = self.company.repository("control-plane");
        let who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"];
        let tree = format!("{BRANCH}^{{tree}}");
        let forged = git(&repository, &[&who[..], &["commit-tree", &tree, "-p", BRANCH, "-m", message]].concat());
        git(&repository, &["update-ref", BRANCH, &forged]);
        forged
    }

    fn refuses(&self, words: &[&str]) {
        let words = [words, &["no key of `promotion.state-keys` signed for this environment"]].concat();
        self.run("publish -e dev --direct", 1).says(&words);
        self.run("rollout advance -e dev", 1).says(&words);
        self.run("rollout status -e dev", 0).says(&words);
        self.run("check -e dev", 1).says(&words).says(&["K0527"]);
        self.decide(&["hold", "-e", "dev"], 1).says(&words);
    }
}

#[test]
fn a_commit_without_a_signature_does_not_count() {
    let world = Signed::new();
    let before = world.head();
    world.configure(KEYS);
    // The states from before the keys are signed once, by a person who has read them.
    world.refuses(&["as every commit before it", &format!("restore -e dev --to {before} --reason")]);
    world.decide(&["rollout", "restore", "-e", "dev", "--to", &before], 0);
    world.decide(&["hold", "-e", "dev", "application/shop"], 0);
    world.run("check -e dev", 0);
    let signed = world.head();
    // git verifies the same signature with `allowedSignersFile`.
    let text = git(&world.company.repository("control-plane"), &["cat-file", "commit", &signed]);
    assert!(text.contains("gpgsig -----BEGIN SSH SIGNATURE-----\n"), "{text}");
    // Whoever may push can't add a decision, or say that one is restored.
    for message in ["kalypso: dev", "dev\n\nKalypso-Environment: dev\nKalypso-Restored: baseline"] {
        world.forge(message);
        world.refuses(&[&format!("The newest commit that counts is {}", &signed[..7])]);
    }
    world.decide(&["rollout", "restore", "-e", "dev", "--to", &signed], 0);
    world.run("publish -e dev --direct", 0);
    world.run("rollout status -e dev", 0).says(&["application/shop", "numbers are checked"]);
}

#[test]
fn a_program_without_a_key_reads_and_does_not_write() {
    let world = Signed::new();
    world.configure(KEYS);
    let before = world.head();
    world.decide(&["rollout", "restore", "-e", "dev", "--to", &before], 0);
    let signed = world.head();
    for (configuration, reason) in [
        (READS, "neither `promotion.state-key-file` nor `promotion.state-key-env` is set"),
        ("", "neither `promotion.state-key-file` nor"),
        (&KEYS.replace("\"state-key\"", "\"gone\""), "gone` can't be read"),
    ] {
        world.configure(configuration);
        world.run("check -e dev", 0);
        world.run("publish -e dev --direct --no-step", 0);
        world.decide(&["hold", "-e", "dev"], 1).says(&["must be signed, and this program can't sign them", reason]);
        assert_eq!(world.head(), signed, "{configuration}");
    }
    fs::write(world.company.path("state-key"), keys::OTHER.0).unwrap();
    world.configure(KEYS);
    let advice = format!("is not in `promotion.state-keys`. Add it: NAME = \"{}\"", keys::OTHER.1.trim());
    world.decide(&["hold", "-e", "dev"], 1).says(&[&advice]);
    world.run("serve --listen 127.0.0.1:0", 64).says(&["the service could store no states", &advice]);
}
