//! `kalypso bootstrap`: the objects and scripts by which clusters and hosts pull their folders.

use std::fs;
use std::process::Command;

use model::yaml;
use testkit::objects;

use crate::company::{Company, Ran, git};

/// The documents of an answer. Asserts that all are readable.
#[track_caller]
fn documents(text: &str) -> Vec<yaml::Document> {
    let read = yaml::read_bytes(text.as_bytes(), &yaml::YamlOptions::OBJECTS);
    assert!(read.problems.is_empty(), "{text}");
    read.documents
}

/// The text of a field of a document.
fn field<'d>(document: &'d yaml::Document, path: &[&str]) -> &'d str {
    let root = &document.root;
    let node = path.iter().fold(root, |node, key| node.get(key).unwrap_or_else(|| panic!("no {key}")));
    &node.as_scalar().unwrap().text
}

#[test]
fn flux_pulls_the_folder_of_the_place() {
    let company = Company::new();
    let answer = company.kalypso("bootstrap -e dev east --reconciler flux --secret repo").ends(0).out;
    let [repository, kustomization] = &documents(&answer)[..] else { panic!("{answer}") };
    assert_eq!(field(repository, &["spec", "url"]), "https://git.example/acme/gitops");
    assert_eq!(field(repository, &["spec", "ref", "branch"]), "dev");
    assert_eq!(field(repository, &["spec", "secretRef", "name"]), "repo");
    assert_eq!(field(kustomization, &["spec", "path"]), "./east");
    let hub = "bootstrap -e dev east --reconciler flux --hub https://hub.example/ --token-secret hub --interval 5m";
    let answer = company.kalypso(hub).ends(0).out;
    let documents = documents(&answer);
    assert_eq!(field(&documents[2], &["spec", "address"]), "https://hub.example/api/v1/reports/flux");
    assert_eq!(field(&documents[3], &["spec", "eventMetadata", "cluster"]), "east");
}

#[test]
fn the_path_follows_the_gitops_repo() {
    let company = Company::new();
    let fan_out = objects::gitops("dev", "dev", "./clusters/")
        .replace("metadata:\n", "metadata:\n  annotations: {output.kalypso.io/fan-out: \"true\"}\n");
    company.change("control-plane@dev", "gitops.yaml", &fan_out);
    let answer = company.kalypso("bootstrap -e dev east --reconciler argocd").ends(0).out;
    // `printf %s east | sha256sum | cut -c1-4`
    assert_eq!(field(&documents(&answer)[0], &["spec", "source", "path"]), "clusters/6b/db/east");
}

#[test]
fn flux_stores_only_the_folder_of_the_place() {
    let company = Company::new();
    let check = |path: &str, own: &str| {
        company.change("control-plane@dev", "gitops.yaml", &objects::gitops("dev", "dev", path));
        let answer = company.kalypso("bootstrap -e dev east --reconciler flux").ends(0).out;
        let documents = documents(&answer);
        assert_eq!(field(&documents[1], &["spec", "path"]), format!("./{own}"));
        let clone = company.path("source");
        let _ = fs::remove_dir_all(&clone);
        let beside =
            [own.replace("east", "west"), "other".to_owned(), format!("other/{own}"), own.replace("clusters", "hosts")];
        for folder in beside.iter().map(String::as_str).filter(|folder| *folder != own).chain([own]) {
            fs::create_dir_all(clone.join(folder)).unwrap();
            fs::write(clone.join(folder).join("a.yaml"), "").unwrap();
        }
        git(&company.path("."), &["init", "--quiet", "source"]);
        // Flux reads `ignore` as git reads `.gitignore`.
        fs::write(clone.join(".git/info/exclude"), field(&documents[0], &["spec", "ignore"])).unwrap();
        let listed =
            Command::new("git").current_dir(&clone).args(["ls-files", "--others", "--exclude-standard"]).output();
        assert_eq!(String::from_utf8(listed.unwrap().stdout).unwrap(), format!("{own}/a.yaml\n"), "{answer}");
    };
    check(".", "east");
    check("./clusters/", "clusters/east");
    check("sites/clusters/all", "sites/clusters/all/east");
}

#[test]
fn the_reconciler_is_inferred_from_the_template() {
    let company = Company::new();
    let check = |manifest: &str, expected: &str| {
        company.change("control-plane@main", "flux.yaml", &objects::template("flux", "reconciler", manifest));
        company.kalypso("bootstrap -e dev east").says(&[expected]);
    };
    check("apiVersion: argoproj.io/v1alpha1\nkind: Application", "kind: Application");
    check("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository", "kind: Kustomization");
    check("package: x", "name what pulls with --reconciler");
}

#[test]
fn mistakes_are_named() {
    let company = Company::new();
    let check = |arguments: &str, status, words: &[&str]| {
        company.kalypso(&format!("bootstrap -e dev {arguments}")).ends(status).says(words);
    };
    check("esat --reconciler flux", 1, &["dev has no cluster and no cluster type `esat`", "did you mean `east`?"]);
    check("east --reconciler flux --gitops-repo prod", 1, &["no GitOpsRepo `prod`", "it has `dev`"]);
    check("east --reconciler argocd --secret x", 64, &["`--secret` is for Flux"]);
    check("east --reconciler script", 64, &["--apply"]);
    check("east --interval soon", 64, &["such as 30s"]);
    company.change("control-plane@dev", "second.yaml", &objects::gitops("second", "second", "."));
    check("east --reconciler flux", 64, &["several GitOpsRepos", "`dev`, `second`"]);
}

/// A host that runs the script of the place `east`.
struct Host<'c> {
    company: &'c Company,
}

impl Host<'_> {
    /// Runs the script, which writes the content of each target's configuration to the file `applied`.
    fn pull(&self, command: &str) -> Ran {
        let company = self.company;
        let script = company
            .command()
            .args(["bootstrap", "-e", "dev", "east", "--reconciler", "script", "--apply", command])
            .output()
            .unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        fs::write(company.path("pull.sh"), script.stdout).unwrap();
        let served = format!("url.file://{}/.insteadOf", company.path("served").display());
        Ran::new(
            Command::new("sh")
                .arg(company.path("pull.sh"))
                .current_dir(company.path(""))
                .env("KALYPSO_PULL_STATE", company.path("state"))
                .env("APPLIED", company.path("applied"))
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", served)
                .env("GIT_CONFIG_VALUE_0", &company.url),
        )
    }

    fn applied(&self) -> String {
        fs::read_to_string(self.company.path("applied")).unwrap_or_default()
    }
}

const APPLY: &str = r#"basename "$PWD" >> "$APPLIED""#;

#[test]
fn host_applies_changes_in_its_own_folder() {
    let company = Company::new().published();
    git(&company.repository("gitops"), &["config", "uploadpack.allowFilter", "true"]);
    let host = Host { company: &company };
    host.pull(APPLY).ends(0);
    assert_eq!(host.applied(), "shop-test\n");
    // A change on another place is no change for this host.
    company.change(
        "control-plane@dev",
        "configs/west.yaml",
        &objects::config("west", "region: west-us", "OTHER: other"),
    );
    company.kalypso("publish -e dev --direct").ends(0);
    host.pull(APPLY).ends(0);
    assert_eq!(host.applied(), "shop-test\n");
    // A target that fails is applied again by the next run.
    company.change("control-plane@dev", "configs/common.yaml", &objects::config("common", "", "DATABASE: z"));
    company.kalypso("publish -e dev --direct").ends(0);
    host.pull("false").ends(1).says(&["failed: shop-test"]);
    host.pull(APPLY).ends(0);
    assert_eq!(host.applied(), "shop-test\nshop-test\n");
    company.change("control-plane@dev", "policies/shop.yaml", &objects::policy("shop", "other"));
    company.kalypso(&format!("publish -e dev --direct --confirm {}", company.word())).ends(0);
    host.pull(APPLY).ends(0).says(&["no longer desired, remove it from this host: shop-test"]);
}
