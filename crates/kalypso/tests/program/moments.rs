//! Tests that old state never replaces newer state: machines with caches of different ages, delayed publishers, and branches that are reset on
//! purpose.

use std::thread;

use testkit::git_server::GitServer;
use testkit::objects::{config, gitops, pinned_base, policy, registration, workload};

use crate::company::{Company, HOST, Ran, git};

const WEST: &str = "west/shop-test/reconciler.yaml";

/// The company's repositories on a Git host, and two machines that publish. Each machine has its own cache.
struct Machines {
    company: Company,
    server: GitServer,
}

impl Machines {
    /// The first release of `shop` and a workload `cart`, both published.
    fn new() -> Self {
        let company = Company::new();
        let server = GitServer::start(&company.path("served")).unwrap();
        company.configure(&server.url(), "");
        std::fs::create_dir(company.path("other")).unwrap();
        std::fs::copy(company.path("kalypso.toml"), company.path("other/kalypso.toml")).unwrap();
        company.change("control-plane@main", "workloads/cart.yaml", &registration("cart", &format!("{HOST}cart")));
        company.change("control-plane@dev", "policies/cart.yaml", &policy("cart", "cart"));
        company.commit("cart", "main", &[("cart.yaml", workload("cart"))]);
        let machines = Self { company, server };
        machines.release("1");
        machines.one("publish -e dev --direct").ends(0);
        machines
    }

    /// The application team releases `shop`. Returns the commit.
    fn release(&self, number: &str) -> String {
        let text = workload("shop").replace("shop-deploy", &format!("shop-{number}"));
        self.company.change("shop@main", "shop.yaml", &text)
    }

    /// The application team resets its branch.
    fn reset(&self, commit: &str) {
        git(&self.company.repository("shop"), &["update-ref", "refs/heads/main", commit]);
    }

    /// The platform team changes a value of all assignments.
    fn value(&self, value: &str) {
        self.company.change(
            "control-plane@dev",
            "configs/level.yaml",
            &config("level", "", &format!("LEVEL: {value}")),
        );
    }

    /// Runs the program on the first machine.
    fn one(&self, arguments: &str) -> Ran {
        self.company.kalypso(arguments)
    }

    /// Runs the program on the second machine.
    fn other(&self, arguments: &str) -> Ran {
        self.company.kalypso(&format!("{arguments} --config other/kalypso.toml"))
    }

    /// The release of `shop` on a branch.
    #[track_caller]
    fn has(&self, branch: &str, release: &str) {
        let text = self.company.file("gitops", branch, WEST);
        assert!(
            text.contains(&format!("acme/shop-{release}\n")) || text.ends_with(&format!("acme/shop-{release}")),
            "{text}"
        );
    }

    /// Whether an assignment has a value on branch `dev`.
    fn has_value(&self, workload: &str, value: &str) -> bool {
        let path = format!("west/{workload}-test/platform-config.yaml");
        self.company.file("gitops", "dev", &path).contains(&format!("LEVEL: {value}"))
    }

    /// The commit of `shop` in the trailers of the head of branch `dev`.
    fn source(&self) -> String {
        let message = git(&self.company.repository("gitops"), &["log", "-1", "--format=%B", "dev"]);
        let line = message.lines().find_map(|line| line.strip_prefix(&format!("Kalypso-Source: {HOST}shop main ")));
        line.unwrap_or_default().to_owned()
    }

    /// Publishes on the first machine, and runs a function before its push.
    fn held_up(&self, arguments: &str, meanwhile: impl FnOnce()) -> Ran {
        self.held_at("/gitops/info/refs?service=git-receive-pack", arguments, meanwhile)
    }

    fn held_at(&self, request: &str, arguments: &str, meanwhile: impl FnOnce()) -> Ran {
        let held = self.server.hold_next(request);
        let mut command = self.company.command();
        command.args(arguments.split_whitespace());
        let running = thread::spawn(move || Ran::new(&mut command));
        assert!(held.is_reached(), "{arguments} never asks for {request}");
        meanwhile();
        held.release();
        running.join().unwrap()
    }
}

#[test]
fn copy_older_than_the_publication_is_not_used() {
    let machines = Machines::new();
    let second = machines.release("2");
    machines.other("publish -e dev --direct").ends(0);
    machines.server.set_broken(&["shop"]);
    machines.value("high");
    let said = ["K0610", "workloads/shop.yaml", "503", &second[..7], "the published output of its workloads stays"];
    machines.one("plan -e dev").ends(1).says(&said);
    machines.one("publish -e dev --direct").ends(1).says(&said);
    machines.has("dev", "2");
    assert!(machines.has_value("cart", "high") && !machines.has_value("shop", "high"));
    assert_eq!(machines.source(), second, "the kept files come from this commit");
    // The same after that was published: the other machine's commit is not the newest any more.
    machines.value("higher");
    machines.one("publish -e dev --direct").ends(1).says(&["K0610"]);
    machines.has("dev", "2");
    machines.server.set_broken(&[]);
    machines.one("publish -e dev --direct").ends(0);
    machines.has("dev", "2");
    assert!(machines.has_value("shop", "higher"));
}

#[test]
fn copy_older_than_the_proposal_is_not_used() {
    let machines = Machines::new();
    machines.release("2");
    machines.other("publish -e dev").ends(0);
    machines.server.set_broken(&["shop"]);
    machines.value("high");
    machines.one("plan -e dev").ends(1).says(&["K0610"]);
}

#[test]
fn copy_as_new_as_the_publication_is_used() {
    let machines = Machines::new();
    machines.server.set_broken(&["shop"]);
    machines.value("high");
    machines.one("publish -e dev --direct").ends(1).says(&["K0601", "the cached commit", "is used instead"]);
    assert!(machines.has_value("shop", "high"));
    machines.has("dev", "1");
}

#[test]
fn copy_newer_than_the_publication_is_used() {
    let machines = Machines::new();
    machines.release("2");
    machines.one("plan -e dev").ends(2);
    machines.server.set_broken(&["shop"]);
    machines.one("publish -e dev --direct").ends(1).says(&["K0601", "the cached commit", "is used instead"]);
    machines.has("dev", "2");
}

#[test]
fn observed_reset_stays_while_the_repository_is_unreachable() {
    let machines = Machines::new();
    let first = machines.company.head("shop", "main").unwrap();
    machines.release("2");
    machines.one("publish -e dev --direct").ends(0);
    machines.reset(&first);
    machines.one("plan -e dev").ends(2);
    machines.server.set_broken(&["shop"]);
    machines.one("publish -e dev --direct").ends(1).says(&["K0601", "the cached commit", "is used instead"]);
    machines.has("dev", "1");
}

#[test]
fn release_reverted_by_another_machine_does_not_return() {
    let machines = Machines::new();
    let first = machines.company.head("shop", "main").unwrap();
    machines.release("2");
    machines.one("publish -e dev --direct").ends(0);
    machines.reset(&first);
    machines.other("publish -e dev --direct").ends(0);
    machines.has("dev", "1");
    machines.server.set_broken(&["shop"]);
    machines.one("publish -e dev --direct").ends(1).says(&["K0610", &first[..7]]);
    machines.has("dev", "1");
}

#[test]
fn a_merged_proposal_counts_as_published() {
    let machines = Machines::new();
    machines.release("2");
    machines.other("publish -e dev").ends(0);
    let repository = machines.company.repository("gitops");
    let merge = git(
        &repository,
        &[
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=ann@example.com",
            "commit-tree",
            "kalypso/dev^{tree}",
            "-p",
            "dev",
            "-p",
            "kalypso/dev",
            "-m",
            "Merge",
        ],
    );
    git(&repository, &["update-ref", "refs/heads/dev", &merge]);
    git(&repository, &["update-ref", "-d", "refs/heads/kalypso/dev"]);
    machines.server.set_broken(&["shop"]);
    machines.one("publish -e dev --direct").ends(1).says(&["K0610"]);
    machines.has("dev", "2");
}

#[test]
fn reachable_repository_counts_even_after_a_reset() {
    let machines = Machines::new();
    let (first, level) =
        (machines.company.head("shop", "main").unwrap(), machines.company.head("control-plane", "dev"));
    machines.release("2");
    machines.value("high");
    machines.other("publish -e dev --direct").ends(0);
    // The application's branch is reset by a forced push.
    machines.reset(&first);
    machines.one("publish -e dev --direct").ends(0);
    machines.has("dev", "1");
    // A revert is a new commit.
    machines.release("2");
    machines.one("publish -e dev --direct").ends(0);
    machines.release("1");
    machines.one("publish -e dev --direct").ends(0);
    machines.has("dev", "1");
    // A history without common commits.
    git(&machines.company.repository("shop"), &["update-ref", "-d", "refs/heads/main"]);
    machines.release("0");
    machines.one("publish -e dev --direct").ends(0);
    machines.has("dev", "0");
    // The environment's own branch is reset.
    assert!(machines.has_value("shop", "high"));
    git(&machines.company.repository("control-plane"), &["update-ref", "refs/heads/dev", &level.unwrap()]);
    machines.one("publish -e dev --direct").ends(0);
    assert!(!machines.has_value("shop", "high"));
}

#[test]
fn an_older_commit_can_be_promoted_again() {
    let machines = Machines::new();
    let company = &machines.company;
    let promote = |commit: &str| {
        company.change("control-plane@dev", "base.yaml", &pinned_base(commit));
    };
    let before = company.head("control-plane", "main").unwrap();
    let after = company.change("control-plane@main", "configs/all.yaml", &config("all", "", "LEVEL: new"));
    promote(&after);
    machines.other("publish -e dev --direct").ends(0);
    assert!(machines.has_value("shop", "new"));
    promote(&before);
    machines.one("publish -e dev --direct").ends(0);
    assert!(!machines.has_value("shop", "new"));
    let message = git(&company.repository("gitops"), &["log", "-1", "--format=%B", "dev"]);
    let main = format!("Kalypso-Source: {HOST}control-plane");
    assert!(message.contains(&format!("{main} {before} {before}\n")), "{message}");
    assert!(message.contains(&format!("{main} main {after}\n")), "{message}");
}

#[test]
fn delayed_publisher_reads_everything_again() {
    let machines = Machines::new();
    machines.release("2");
    machines
        .held_up("publish -e dev --direct", || {
            machines.release("3");
            machines.value("high");
            machines.other("publish -e dev --direct").ends(0);
        })
        .ends(0)
        .says(&["Nothing to do"]);
    machines.has("dev", "3");
    assert!(machines.has_value("shop", "high"));
}

#[test]
fn delayed_proposal_reads_everything_again() {
    let machines = Machines::new();
    machines.release("2");
    machines
        .held_up("publish -e dev", || {
            machines.release("3");
            machines.other("publish -e dev").ends(0);
        })
        .ends(0)
        .says(&["kalypso/dev proposes this for gitops@dev already"]);
    machines.has("kalypso/dev", "3");
}

#[test]
fn proposal_for_a_moved_branch_is_computed_again() {
    let machines = Machines::new();
    machines.release("2");
    // The same change was proposed and merged, and its branch is deleted. Kalypso's own branch did not change.
    machines
        .held_up("publish -e dev", || {
            machines.release("3");
            machines.other("publish -e dev --direct").ends(0);
        })
        .ends(0)
        .says(&["gitops@dev is up to date", "kalypso/dev, which proposed something else, was removed"]);
    machines.has("dev", "3");
    assert_eq!(machines.company.head("gitops", "kalypso/dev"), None);
}

#[test]
fn publication_between_reads_of_branch_and_source_wins() {
    let machines = Machines::new();
    machines.release("2");
    machines
        .held_at("/shop/info/refs", "publish -e dev --direct", || {
            machines.release("3");
            machines.other("publish -e dev --direct").ends(0);
        })
        .ends(0);
    machines.has("dev", "3");
}

#[test]
fn platform_is_read_again_after_the_branch() {
    let machines = Machines::new();
    machines.value("low");
    machines.held_at("/gitops/info/refs", "publish -e dev --direct", || machines.value("high")).ends(0);
    assert!(machines.has_value("shop", "high"));
}

#[test]
fn one_of_several_places_may_lose_a_race() {
    let machines = Machines::new();
    let company = &machines.company;
    company.commit("edge", "main", &[("README.md", "Edge\n".to_owned())]);
    let edge = gitops("edge", "main", ".").replace("acme/gitops", "acme/edge");
    company.change("control-plane@dev", "edge.yaml", &edge);
    machines.release("2");
    let request = "/edge/info/refs?service=git-receive-pack";
    let ran = machines.held_at(request, "publish -e dev --direct", || {
        machines.release("3");
        machines.other("publish -e dev --direct --gitops-repo edge").ends(0);
    });
    // The first run published the state before the race. The next run publishes the current state.
    ran.ends(0).says(&["Published dev to dev", "edge@main is up to date"]);
    assert!(company.file("edge", "main", WEST).contains("shop-3"));
    machines.has("dev", "2");
    machines.one("publish -e dev --direct").ends(0);
    machines.has("dev", "3");
}
