//! What people write past the gates before an environment: they merge a proposal before its approvals, spell a commit of the main branch in another way, or pin
//! a cluster to an earlier release. A branch contains it at once; clusters get it when its gates hold.

use std::fs;

use serde_json::Value as Json;
use testkit::company::{CompanyRepositories as _, pinned, place_files};
use testkit::git_server::GitServer;
use testkit::objects;

use crate::company::{Company, HOST, Ran, git};
use crate::promotion_world::{self, ENVIRONMENTS, PROMOTIONS, World};
use crate::stepping;

/// A workload in an application repository, with these releases in `dev`, `stage` and `prod`.
fn shop(releases: [&str; 3]) -> String {
    let target = |(name, tag): (&str, &str)| {
        objects::target((name, name), "shop", &format!("repo: {HOST}shop-deploy, tag: \"{tag}\", path: ."))
    };
    let targets: Vec<_> = ENVIRONMENTS.into_iter().zip(releases).map(target).collect();
    objects::workload_with("shop", &targets)
}

/// A platform that promotes the releases of `shop`. All environments have 1.0.0.
struct Releases(World);

impl Releases {
    fn new(promotions: &str) -> Self {
        Self::at(promotions, |_| "1.0.0".to_owned())
    }

    /// `manifests` may create the repository of the manifests. It says what the release is called then.
    fn at(promotions: &str, manifests: impl FnOnce(&Company) -> String) -> Self {
        let reconciler = "kind: Reconciler\nrepo: {{ .Manifests.repo }}\n\
                          {{ with .Manifests.tag }}tag: {{ . }}\n{{ end }}\
                          {{ with .Manifests.commit }}commit: {{ . }}\n{{ end }}\
                          {{ with .Manifests.version }}version: {{ . }}\n{{ end }}";
        let files = [
            ("workloads/shop.yaml", objects::registration("shop", &format!("{HOST}shop"))),
            ("templates/flux.yaml", objects::template("flux", "reconciler", reconciler)),
        ];
        let promotions = promotions.replace("  to: ", "  select: {platform: true, workloadSelector: {}}\n  to: ");
        let company = promotion_world::company(&promotions, &files);
        company.commit("shop", "main", &[("shop.yaml", shop(["1.0.0"; 3]))]);
        let release = manifests(&company);
        let world = World::start(company, None);
        let first = world.company.head("control-plane", "main").unwrap();
        world.until("the first release in prod", || world.proves("prod", &first));
        let platform = Self(world);
        platform.rests_at(&release);
        platform
    }

    /// The application team releases a version in `dev`.
    fn release(&self, version: &str) {
        self.0.company.change("shop@main", "shop.yaml", &shop([version, "1.0.0", "1.0.0"]));
    }

    /// The release of `prod` with its state.
    fn in_prod(&self) -> Json {
        let graph = self.0.run("rollout status -e prod -o json").ends(0).json();
        let subjects = graph["environments"][0]["subjects"].as_array().unwrap();
        // Another subject of this name is what moves through the rings.
        subjects.iter().find(|subject| subject["subject"] == "shop").cloned().unwrap_or_default()
    }

    /// Waits until `prod` has proved a release, and nothing moves there.
    fn rests_at(&self, version: &str) {
        self.0.until(version, || {
            let release = self.in_prod();
            let status = self.0.run("rollout status -e prod").out;
            release["proved"]["revision"] == version && release["moving"].is_null() && !status.contains(" moves since ")
        });
    }

    /// Whether a cluster of `prod` gets a release.
    fn has(&self, cluster: &str, version: &str) -> bool {
        self.has_line("prod", cluster, &format!("tag: {version}"))
    }

    fn has_line(&self, environment: &str, cluster: &str, line: &str) -> bool {
        self.folder_has(environment, &format!("{cluster}/shop-{environment}"), line)
    }

    fn folder_has(&self, environment: &str, folder: &str, line: &str) -> bool {
        let path = format!("{folder}/reconciler.yaml");
        self.0.company.file("gitops", environment, &path).lines().any(|found| found.replace('"', "") == line)
    }
}

#[test]
fn release_merged_before_its_approvals_reaches_no_cluster() {
    let proposed = PROMOTIONS.replace("to: prod\n  delivery: direct", "to: prod\n  delivery: pullRequest");
    let platform = Releases::new(&proposed.replace("{count: 1}}", "{count: 1}, for: [release]}"));
    let Releases(world) = &platform;
    platform.release("2.0.0");
    let branch = "kalypso-promote/prod--shop";
    world.until("the proposal", || world.company.head("control-plane", branch).is_some());
    world.company.merge("control-plane", "prod", branch);
    // A value after it is published, so the merge has been read.
    world.company.change("control-plane@prod", "later.yaml", &objects::config("later", "", "LATER: value"));
    let has_later = |cluster: &str| world.value("prod", cluster).contains("LATER");
    world.until("the value in prod", || has_later("east") && has_later("west"));
    let is_at_rest = || !world.run("rollout status -e prod").out.contains(" moves since ");
    world.until("the end of the rollout", is_at_rest);
    assert!(platform.has("east", "1.0.0") && platform.has("west", "1.0.0"));
    world.run("rollout status -e prod").ends(0).says(&["2.0.0 waits before", "waiting  managers: 0 of 2 approvals"]);
    let check = world.run("check -e prod").ends(0);
    check.says(&["release 2.0.0 of shop waits before `prod`", "the output stays at release 1.0.0", "gate `managers`"]);
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod shop", person))
            .ends(0)
            .says(&["shop 2.0.0: approve for the gate"]);
    }
    platform.rests_at("2.0.0");
    assert!(platform.has("east", "2.0.0") && platform.has("west", "2.0.0"));
}

#[test]
fn target_edits_of_application_teams_are_not_released_to_prod() {
    let platform = Releases::new(PROMOTIONS);
    let Releases(world) = &platform;
    world.company.change("shop@main", "shop.yaml", &shop(["1.0.0", "1.0.0", "2.0.0"]));
    // A value after it is published, so the target has been read.
    world.company.change("control-plane@prod", "later.yaml", &objects::config("later", "", "LATER: value"));
    for person in 0..2 {
        world.until("the value before prod", || {
            Ran::new(&mut world.command("approve -e prod values", person)).out.contains("approve for the gate")
        });
    }
    world.until("the value in prod", || world.value("prod", "west").contains("LATER"));
    for cluster in ["east", "west"] {
        assert!(platform.has(cluster, "1.0.0") && !platform.has(cluster, "2.0.0"), "{cluster}");
    }
    // From dev on, it is one.
    platform.release("2.0.0");
    world.until("the approvals", || world.run("rollout status -e prod").out.contains("2.0.0 waits before"));
    assert!(platform.has("east", "1.0.0"));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod shop", person)).ends(0);
    }
    platform.rests_at("2.0.0");
    assert!(platform.has("west", "2.0.0"));
}

#[test]
fn the_versions_of_clusters_and_hosts_move_together() {
    // The targets of hosts have versions of a package.
    let both = |releases: [&str; 3]| {
        let hosts = ENVIRONMENTS.into_iter().zip(releases).map(|(name, version)| {
            format!(
                "    - name: hosts-{name}\n      labels: {{purpose: shop}}\n      environment: {name}\n      \
                 manifests: {{repo: {HOST}packages, version: \"{version}-1\", path: .}}\n"
            )
        });
        format!("{}{}", shop(releases), hosts.collect::<String>())
    };
    let platform = Releases::at(&PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", ""), |company| {
        company.change("shop@main", "shop.yaml", &both(["1.0.0"; 3]));
        "tag=1.0.0,version=1.0.0-1".to_owned()
    });
    let Releases(world) = &platform;
    world.company.change("shop@main", "shop.yaml", &both(["2.0.0", "1.0.0", "1.0.0"]));
    platform.rests_at("tag=2.0.0,version=2.0.0-1");
    for cluster in ["east", "west"] {
        assert!(platform.has(cluster, "2.0.0"), "{cluster}");
        assert!(platform.folder_has("prod", &format!("{cluster}/shop-hosts-prod"), "version: 2.0.0-1"), "{cluster}");
    }
}

#[test]
fn a_tag_that_is_moved_is_another_release() {
    let tag = |company: &Company, text: &str| {
        let commit = company.commit("shop-deploy", "main", &[("app.yaml", text.to_owned())]);
        git(&company.repository("shop-deploy"), &["tag", "--force", "1.0.0", &commit]);
        commit
    };
    let mut first = String::new();
    let platform = Releases::at(PROMOTIONS, |company| {
        first = tag(company, "first");
        format!("1.0.0@{first}")
    });
    let Releases(world) = &platform;
    assert!(platform.has("east", "1.0.0") && platform.has_line("prod", "east", &format!("commit: {first}")));
    let second = tag(&world.company, "second");
    for environment in ["dev", "stage"] {
        world.until(environment, || platform.has_line(environment, "east", &format!("commit: {second}")));
    }
    let short = format!("1.0.0@{}", &second[..7]);
    let says = |words: &[&str]| words.iter().all(|words| world.run("rollout status -e prod").out.contains(words));
    world.until("the candidate", || says(&[&format!("{short} waits before"), "managers: 0 of 2 approvals"]));
    for cluster in ["east", "west"] {
        assert!(platform.has_line("prod", cluster, &format!("commit: {first}")), "{cluster}");
    }
    world.run("check -e prod").ends(0).says(&[&format!("release {short} of shop waits before `prod`")]);
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod shop", person))
            .ends(0)
            .says(&[&format!("shop {short}: approve for the gate")]);
    }
    platform.rests_at(&format!("1.0.0@{second}"));
    assert!(platform.has_line("prod", "west", &format!("commit: {second}")));
    // An exception of a person is no commit of the release.
    let pin = "deploymentTargetSelector: {labelSelector: {matchLabels: {workload: shop}}}\n\
               clusterTypeSelector: {labelSelector: {matchLabels: {region: west}}}\n\
               manifests: {tag: 0.9.0}";
    let pin = objects::object("ReleasePin", "west", pin);
    world.company.change("control-plane@prod", "pins/west.yaml", &pin);
    for person in 0..2 {
        world.until("the pin before prod", || {
            Ran::new(&mut world.command("approve -e prod values", person)).out.contains("approve for the gate")
        });
    }
    world.until("the pin", || platform.has("west", "0.9.0"));
    assert!(!platform.has_line("prod", "west", &format!("commit: {second}")));
    assert!(platform.has_line("prod", "east", &format!("commit: {second}")));
    platform.rests_at(&format!("1.0.0@{second}"));
    // People go back by the name that they see.
    let back = format!("1.0.0@{}", &first[..7]);
    let rollback = format!("rollback -e prod shop --to {back} --reason slow");
    Ran::new(&mut world.command(&rollback, 0)).ends(0);
    let promote = format!("promote shop@{short} --to prod --reason repaired");
    world.until("the first commit", || platform.has_line("prod", "east", &format!("commit: {first}")));
    Ran::new(&mut world.command(&promote, 0)).ends(0).says(&[&format!("shop {short}: promote")]);
    world.until("the second commit again", || says(&[&format!("{short} waits before")]));
}

#[test]
fn manually_pinned_cluster_keeps_its_release() {
    let platform = Releases::new(&PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", ""));
    let Releases(world) = &platform;
    platform.release("2.0.0");
    platform.rests_at("2.0.0");
    let pin = "deploymentTargetSelector: {labelSelector: {matchLabels: {workload: shop}}}\n\
               clusterTypeSelector: {labelSelector: {matchLabels: {region: west}}}\n\
               manifests: {tag: 1.0.0}";
    let pin = objects::object("ReleasePin", "west", pin);
    world.company.change("control-plane@prod", "pins/west.yaml", &pin);
    world.until("the pin", || platform.has("west", "1.0.0"));
    platform.rests_at("2.0.0");
    let says_nothing_of_it = || {
        let check = world.run("check -e prod").ends(0);
        assert!(check.out.contains("nothing wrong") && !check.out.contains("K0204"), "{}", check.out);
        let release = platform.in_prod();
        assert!(release["rejected"].is_null() && release["waitingRevisions"] == Json::Array(Vec::new()), "{release}");
        release["at"].clone()
    };
    assert_eq!(says_nothing_of_it(), "2.0.0");
    platform.release("3.0.0");
    platform.rests_at("3.0.0");
    assert_eq!(says_nothing_of_it(), "3.0.0");
    assert!(platform.has("east", "3.0.0") && platform.has("west", "1.0.0"));
    let log = git(&world.company.repository("control-plane"), &["log", "--format=%s", "prod"]);
    let moves: Vec<_> = log.lines().filter(|line| *line != "A change").collect();
    assert_eq!(moves, ["Promote shop 3.0.0 to prod", "Promote shop 2.0.0 to prod"]);
    world.company.remove("control-plane", "prod", "pins/west.yaml");
    world.until("the end of the pin", || platform.has("west", "3.0.0"));
}

/// A commit that `prod` may not have yet, and what people write to get it there.
struct Spelled {
    world: stepping::World,
    _server: GitServer,
    /// The commit that `prod` has.
    first: String,
    /// The commit that `dev` has not proved.
    second: String,
}

impl Spelled {
    fn new() -> Self {
        let world = stepping::World::new("");
        let company = &world.company;
        // A server that can be named in two ways: hosts have no case.
        let server = GitServer::start(&company.path("served")).unwrap();
        let [host, other] = ["localhost", "LOCALHOST"].map(|host| server.url().replace("127.0.0.1", host));
        let rules = format!(
            "{{ from = \"{HOST}\", to = \"{host}\" }}, {{ from = \"{}\", to = \"{other}\" }}",
            other_case(HOST)
        );
        let file = company.path("kalypso.toml");
        let text = fs::read_to_string(&file).unwrap();
        let own = format!("{{ from = \"{HOST}\", to = \"{}/\" }}", company.path("served").display());
        assert!(text.contains(&own), "{text}");
        fs::write(&file, text.replace(&own, &rules)).unwrap();
        let first = company.head("control-plane", "main").unwrap();
        company.change("control-plane@main", "extra/extra.yaml", &objects::config("extra", "", "VALUE: second"));
        let second = world.change_main("second");
        git(&company.repository("control-plane"), &["branch", "other", &second]);
        git(&company.repository("control-plane"), &["tag", "v2", &second]);
        Self { world, _server: server, first, second }
    }

    /// A commit of the GitOps branch that says that the output was rendered from the commit, although it was not. `more` are further trailers.
    fn forge_publication(&self, more: &str) {
        let (gitops, second) = (self.world.company.repository("gitops"), &self.second);
        let message =
            format!("prod\n\nKalypso-Environment: prod\nKalypso-Source: {HOST}control-plane {second} {second}{more}");
        let who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.com"];
        let forged = [&who[..], &["commit-tree", "prod^{tree}", "-p", "prod", "-m", &message]].concat();
        let forged = git(&gitops, &forged);
        git(&gitops, &["update-ref", "refs/heads/prod", &forged]);
    }

    /// A `BaseRepo` with the commit, as people spell it.
    fn base_repo(&self, (name, path): (&str, &str), place: &str) -> String {
        let place = place.replace("SECOND", &self.second);
        objects::object("BaseRepo", name, &format!("path: {path}\n{place}"))
    }

    /// Writes objects into the branch of `prod`, in place of those of the same file. They are not published.
    fn refuses(&self, objects: &[(&'static str, String)], words: &str) {
        let mut files = pinned(place_files("prod", &["east"]), &self.first);
        files.extend(objects.iter().map(|(path, text)| ((*path).to_owned(), text.clone())));
        self.world.company.write("control-plane", "prod", &files);
        self.world.run("publish -e prod --direct").ends(1).says(&[words]);
        assert!(self.world.published().contains("VALUE: first"), "{objects:?}: {}", self.world.published());
    }
}

/// A URL with another spelling of its host.
fn other_case(url: &str) -> String {
    url.replace("git.example", "GIT.EXAMPLE")
}

/// Objects of Flux that name a tag of the control plane.
fn flux(tag: &str) -> [(&'static str, String); 2] {
    let source = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: more}}\nspec: {{url: {HOST}control-plane, ref: {{tag: {tag}}}}}\n"
    );
    let path = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: more}\nspec: {path: extra, sourceRef: {kind: GitRepository, name: more}}\n";
    [("source.yaml", source), ("kustomization.yaml", path.to_owned())]
}

#[test]
fn commit_of_main_waits_for_its_gates_in_every_spelling() {
    let spelled = Spelled::new();
    let world = &spelled.world;
    // Each publication lists the head of the main branch, from which environments are read.
    world.change_value("one");
    world.run("publish -e prod --direct").ends(0);
    let url = format!("{HOST}control-plane");
    let plain = format!("repo: {url}\nbranch: main\ncommit: SECOND");
    let without_commit = format!("repo: {url}\nbranch: other");
    let others = [
        format!("repo: {url}\nbranch: refs/heads/main\ncommit: SECOND"),
        format!("repo: {url}\nbranch: other\ncommit: SECOND"),
        format!("repo: {}\nbranch: main\ncommit: SECOND", other_case(&url)),
    ];
    let past_its_gates = format!("commit {} came into `prod` past its gates", &spelled.second[..7]);
    // Beside the commit that was admitted.
    let more = |place: &str| {
        let object = spelled.base_repo(("more", "extra"), place);
        spelled.refuses(&[("more.yaml", object)], &past_its_gates);
    };
    others.iter().for_each(|place| more(place));
    more(&without_commit);
    spelled.refuses(&flux("v2"), &past_its_gates);
    for trailers in ["", "\nKalypso-Override: an incident"] {
        spelled.forge_publication(trailers);
        more(&plain);
    }
    // In place of the commit that was admitted.
    let main = |place: &str, words: &str| {
        spelled.refuses(&[("base.yaml", spelled.base_repo(("main", "."), place))], words);
    };
    main(&without_commit, "BaseRepo `main` has no commit, although a promotion moves the main branch into `prod`");
    others.iter().chain([&plain]).for_each(|place| main(place, &past_its_gates));
    // The last of them is published when its gates hold.
    world.report("dev");
    world.run("publish -e prod --direct").ends(0);
    assert!(world.published().contains("VALUE: second"), "{}", world.published());
}

#[test]
fn changed_precedence_of_values_waits_for_the_gates() {
    let special = objects::config("aaa-east", "region: east", "VALUE: special");
    let files = [("special.yaml", special)];
    // Without rings, a plan shows all that a commit brings.
    let (promotions, _) = PROMOTIONS.split_once("  rings:").unwrap();
    let world = World::start(promotion_world::company(promotions, &files), None);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let annotated = "name: prod\n  annotations: {config.kalypso.io/precedence: specificity}\n";
    let switched = objects::environment("prod").replace("name: prod\n", annotated);
    assert!(switched.contains(annotated));
    world.company.change("control-plane@main", ".environments/prod.yaml", &switched);
    world.until("the approvals", || world.run("rollout status -e prod").out.contains("0 of 2 approvals"));
    // The exit status also says whether people are waited for.
    world.run("plan -e prod").says(&["nothing changes"]);
    world.run("plan -e prod --head").says(&["\"first\" → \"special\""]);
    assert!(world.value("prod", "east").contains("first"));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod", person)).ends(0);
    }
    world.until("the switch in prod", || world.value("prod", "east").contains("special"));
    assert!(world.value("prod", "west").contains("first"));
}
