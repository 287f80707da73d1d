//! `kalypso app`: an application with real repositories, rendered by the real Helm.

use std::fs;

use tempfile::TempDir;
use testkit::programs::on_path;

use crate::application_world::{Application, DEPLOYMENT, HostedApplication, SETTINGS, TOKEN, WORKLOAD, path};
use crate::company::{Ran, git};

#[test]
fn versions_and_values_are_deployed() {
    let Some(application) = Application::new() else { return };
    application.app("check --strict").ends(0);
    application.app("deploy -e dev").ends(64).says(&["nothing of `shop` is deployed in `dev` yet", "--version 1.0.0"]);
    application.app("deploy -e dev --version 1.0.0").ends(0).says(&["+ eu  new", "+ us  new", "to dev"]);
    assert!(application.deployed("dev:us/manifests.yaml").contains("image: registry.example/shop:1.0.0"));
    assert!(application.deployed("dev:eu/kustomization.yaml").ends_with("resources:\n- manifests.yaml"));
    application
        .app("deploy -e dev --version 1.0.0")
        .ends(0)
        .says(&["nothing changes, 2 unchanged", "Nothing to deploy"]);
    application.write("values/dev/us/values.yaml", "replicas: 5\n");
    application.app("diff -e dev").ends(0).says(&["1.0.0 in dev", "~ us", "spec.replicas  3 → 5", "1 unchanged"]);
    application.app("deploy -e dev").ends(0).says(&["Nothing to deploy"]);
    application.commit("More for the US");
    application.app("deploy -e dev").ends(0).says(&["~ us  changed  was 1.0.0", "1 target changes, 1 unchanged"]);
    let message = git(&application.path("shop-gitops.git"), &["show", "--no-patch", "--format=%an %B", "dev"]);
    assert!(message.starts_with("Ann Configure shop 1.0.0 in dev"), "{message}");
    application.app("deploy -e dev --version 1.1.0-rc.1+57").ends(0).says(&["~ eu  changed  was 1.0.0"]);
    let descriptor = application.deployed("dev:eu/descriptor.yaml");
    assert!(descriptor.contains("version: \"1.1.0-rc.1\"\n    build: \"57\"\n"), "{descriptor}");
    assert!(application.deployed("dev:eu/manifests.yaml").contains("shop:1.1.0-rc.1-57"));
    assert_eq!(application.deployed("dev:.github/tracking/Version"), "1.1.0-rc.1+57");
}

#[test]
fn changed_values_are_deployed_with_the_chart_of_the_deployed_version() {
    let Some(application) = Application::new() else { return };
    let first = application.commit_of_version("1.0.0");
    application.write("chart/templates/deployment.yaml", &DEPLOYMENT.replace("name: shop,", "name: shop2,"));
    application.write("values/dev/eu/values.yaml", "replicas: 7\n");
    application.commit("A new chart, and new values");
    application.app("deploy -e dev").ends(0).says(&["~ eu  changed"]);
    let manifests = application.deployed("dev:eu/manifests.yaml");
    assert!(manifests.contains("replicas: 7") && manifests.contains("name: shop,"), "{manifests}");
    assert_eq!(application.deployed("dev:.github/tracking/Promoted_Commit_Id"), first);
    assert_ne!(application.deployed("dev:.github/tracking/Config_Commit_Id"), first);
}

impl Application {
    fn commit_of_version(&self, version: &str) -> String {
        self.app(&format!("deploy -e dev --version {version}")).ends(0);
        git(&self.path("shop"), &["rev-parse", "HEAD"])
    }
}

#[test]
fn an_older_commit_is_deployed_only_on_request() {
    let Some(application) = Application::new() else { return };
    let first = git(&application.path("shop"), &["rev-parse", "HEAD"]);
    application.write("chart/values.yaml", "replicas: 4\nimage: ${IMAGE}\n");
    application.commit("More");
    application.app("deploy -e dev --version 1.1.0").ends(0);
    let older = format!("deploy -e dev --version 1.0.0 --commit {first}");
    application.app(&older).ends(1).says(&["is older than commit", "--older"]);
    application.app(&format!("{older} --older")).ends(0).says(&["was 1.1.0"]);
}

#[test]
fn a_target_without_values_is_removed() {
    let Some(application) = Application::new() else { return };
    application.app("deploy -e dev --version 1.0.0").ends(0);
    fs::remove_dir_all(application.path("shop/values/dev/us")).unwrap();
    application.write(
        "workload/workload.yaml",
        &WORKLOAD.replace("name: us, environment: dev", "name: us, environment: prod"),
    );
    application.commit("Leave the US");
    application.app("deploy -e dev --dry-run").ends(0).says(&["- us  removed", "files would be written"]);
    application.app("deploy -e dev").ends(0).says(&["- us  removed"]);
    let expected = ".github/tracking/Config_Commit_Id .github/tracking/Image_tag .github/tracking/Promoted_Commit_Id .github/tracking/Version \
                    eu/descriptor.yaml eu/kustomization.yaml eu/manifests.yaml";
    assert_eq!(application.files("dev"), expected);
}

#[test]
fn mistakes_are_shown_at_their_places() {
    let Some(application) = Application::new() else { return };
    application.app("render -e dve").ends(64).says(&["no environment `dve`", "did you mean `dev`?"]);
    application.app("render -e dev ue").ends(64).says(&["has no target `ue`", "did you mean `eu`?"]);
    application.app("explain -e dev eu replica").ends(64).says(&["did you mean `replicas`?"]);
    application.app("deploy -e dev --version 1.0").ends(64).says(&["`1.0` is not a semantic version"]);
    application.write("values/dev/us/values.yaml", "image: shop:${VERSON}\n");
    application.app("check").ends(1).says(&[
        "K0702",
        "values/dev/us/values.yaml:1:8",
        "did you mean `${VERSION}`?",
        "of target us",
    ]);
    application.write("values/dev/us/values.yaml", "replicas: 3\nreplicas: 4\n");
    application.app("check -e dev").ends(1).says(&["values/dev/us/values.yaml:2"]);
    application.write("values/dev/us/values.yaml", "");
    application.write("chart/templates/deployment.yaml", &DEPLOYMENT.replace(".Values.image", ".Values.image.name"));
    application.app("check -e dev").ends(1).says(&[
        "K0704",
        "chart/templates/deployment.yaml:10:",
        "of targets eu, us",
    ]);
    application.write("kalypso-app.toml", &SETTINGS.replace("chart = \"chart\"", "chart = \"helm\""));
    application.app("check").ends(1).says(&["there is no folder `helm`"]);
    application.write("kalypso-app.toml", &SETTINGS.replace("delivery", "delivry"));
    application.app("check").ends(1).says(&["kalypso-app.toml:5:33", "unknown field `delivry`"]);
}

#[test]
fn a_value_that_the_schema_of_the_chart_refuses_is_shown() {
    let Some(application) = Application::new() else { return };
    application.write("chart/values.schema.json", "{\"properties\": {\"replicas\": {\"type\": \"integer\"}}}");
    application.write("values/dev/us/values.yaml", "replicas: many\n");
    application.app("check -e dev").ends(1).says(&[
        "K0704",
        "values/dev/us/values.yaml:1:11",
        "this value",
        "of target us",
    ]);
}

#[test]
fn a_missing_program_is_named() {
    let Some(application) = Application::new() else { return };
    let folder = TempDir::new().unwrap();
    for program in ["git", "sh"] {
        std::os::unix::fs::symlink(on_path(program, &path()).unwrap().join(program), folder.path().join(program))
            .unwrap();
    }
    let ran = Ran::new(application.command("check").env("PATH", folder.path()));
    ran.ends(69).says(&["`helm` is not installed", "https://helm.sh/docs/intro/install"]);
}

#[test]
fn plain_manifests_and_kustomize_are_sources_too() {
    let Some(application) = Application::new() else { return };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {version: \"${VERSION}\", size: \"${replicas}\"}\n";
    application.write("deploy/map.yaml", map);
    application.write("kalypso-app.toml", &SETTINGS.replace("chart = \"chart\"", "manifests = \"deploy\""));
    application.app("render -e dev us --version 1.2.0").ends(0).says(&["version: \"1.2.0\", size: \"3\""]);
    if on_path("kubectl", &path()).is_none() && on_path("kustomize", &path()).is_none() {
        println!("skipped: neither `kubectl` nor `kustomize` is on the path");
        return;
    }
    application.write("deploy/kustomization.yaml", "resources: [map.yaml]\nnamePrefix: ${TARGET}-\n");
    application.write("kalypso-app.toml", &SETTINGS.replace("chart = \"chart\"", "kustomize = \"deploy\""));
    application.app("render -e dev us --version 1.2.0").ends(0).says(&["name: us-shop", "version: 1.2.0"]);
    application.write("deploy/kustomization.yaml", "resources: [map.yaml, 'https://git.example/acme/base.git']\n");
    application.app("render -e dev us").ends(1).says(&["K0704", "of target us"]);
}

#[test]
fn a_pull_request_is_opened_updated_and_merged() {
    let Some(hosted) = HostedApplication::new() else { return };
    hosted.app("deploy -e stage --version 1.0.0").ends(0).says(&["+ uat  new", "Opened pull request 1"]);
    hosted.app("deploy -e stage --version 1.0.0").ends(0).says(&["Pull request 1 is open"]);
    hosted.app("deploy -e stage --version 1.1.0").ends(0).says(&["Updated pull request 1"]);
    let found = hosted.pull_requests("shop-gitops");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title, "Deploy shop 1.1.0 to stage");
    assert!(found[0].body.contains("| stage | uat | new | – |"), "{}", found[0].body);
    assert!(found[0].labels.contains("promoted") && found[0].labels.contains("kalypso"), "{:?}", found[0].labels);
    let head = found[0].head_commit.unwrap();
    hosted.state.state().repository("acme/shop-gitops").unwrap().merge(1, head).unwrap();
    let calls = hosted.double.exchanges().len();
    hosted.app("deploy -e stage --version 1.1.0").ends(0).says(&["Nothing to deploy"]);
    assert_eq!(hosted.double.exchanges().len(), calls, "without a change, the git host is not asked");
    let json = hosted.app("deploy -e stage --version 1.2.0 -o json").ends(0).json();
    assert_eq!(
        (&json["environments"][0]["targets"][0]["change"], &json["environments"][0]["targets"][0]["before"]),
        (&"changed".into(), &"1.1.0".into())
    );
    assert!(json["pullRequest"].as_str().unwrap().ends_with("/pull/2"), "{json}");
}

#[test]
fn releases_and_states_are_listed() {
    let Some(hosted) = HostedApplication::new() else { return };
    hosted.app("release list").ends(0).says(&["nothing was deployed yet"]);
    hosted.app("deploy -e dev --version 1.0.0").ends(0);
    hosted.app("deploy -e stage --version 1.0.0").ends(0);
    hosted.app("status").ends(0).says(&["dev          1.0.0     2        –", "stage        –         0        1.0.0"]);
    let head = hosted.pull_requests("shop-gitops")[0].head_commit.unwrap();
    hosted.state.state().repository("acme/shop-gitops").unwrap().merge(1, head).unwrap();
    hosted.app("status").ends(0).says(&["stage        1.0.0     1        –"]);
    hosted.application.write("values/dev/eu/values.yaml", "replicas: 9\n");
    let source = hosted.application.commit("More");
    hosted.app("deploy -e dev --version 1.1.0").ends(0);
    let releases = hosted.app("release list -o json").ends(0).json();
    let versions: Vec<_> = releases["releases"].as_array().unwrap().iter().map(|one| &one["version"]).collect();
    assert_eq!(versions, ["1.1.0", "1.0.0"]);
    let deployments = releases["releases"][1]["deployments"].as_array().unwrap();
    let mut environments: Vec<_> = deployments.iter().map(|one| one["environments"][0].as_str().unwrap()).collect();
    environments.sort_unstable();
    assert_eq!(environments, ["dev", "stage"]);
    hosted.app("release show v1.1.0").ends(0).says(&[&source[..7], "helm v3", "Ann <ann@acme.example>"]);
    hosted
        .app("release show 1.1")
        .ends(1)
        .says(&["version 1.1 of `shop` was never deployed", "`kalypso app release list` lists the versions"]);
    hosted.app("release list -e stage").ends(0).says(&["1.0.0"]);
}

#[test]
fn a_token_that_may_not_push_is_named_without_its_value() {
    let Some(hosted) = HostedApplication::new() else { return };
    hosted.server.require("Basic bm9ib2R5");
    let ran = hosted.app("deploy -e dev --version 1.0.0").ends(69).says(&["shop-gitops", "can't be read"]);
    assert!(!ran.out.contains(TOKEN) && !ran.err.contains(TOKEN));
}

#[test]
fn deployments_at_the_same_time_lose_nothing() {
    let Some(application) = Application::new() else { return };
    application.app("deploy -e dev --version 1.0.0").ends(0);
    let versions = ["1.1.0", "1.2.0", "1.3.0", "1.4.0"];
    let commands: Vec<_> =
        versions.map(|version| application.command(&format!("deploy -e dev --version {version}"))).into();
    let running: Vec<_> =
        commands.into_iter().map(|mut command| std::thread::spawn(move || Ran::new(&mut command))).collect();
    running.into_iter().for_each(|running| drop(running.join().unwrap().ends(0)));
    let log = git(&application.path("shop-gitops.git"), &["log", "--format=%s", "dev"]);
    for version in versions {
        assert_eq!(log.matches(&format!("Deploy shop {version} to dev")).count(), 1, "{log}");
    }
    let last = application.deployed("dev:.github/tracking/Version");
    assert!(application.deployed("dev:eu/manifests.yaml").contains(&format!("shop:{last}")));
    assert!(application.deployed("dev:us/descriptor.yaml").contains(&format!("version: \"{last}\"")));
}

#[test]
fn new_values_keep_the_image_of_the_version() {
    let Some(application) = Application::new() else { return };
    application.app("deploy -e dev --version 1.0.0 --image-tag 1.0.0-57 --image registry.example/own:7").ends(0);
    application.write("values/dev/us/values.yaml", "replicas: 5\nimage: ${IMAGE}-${IMAGE_TAG}\n");
    application.app("diff -e dev").ends(0).says(&["~ us", "spec.replicas  3 → 5", "registry.example/own:7-1.0.0-57"]);
    application.commit("More for the US");
    application.app("deploy -e dev").ends(0).says(&["~ us  changed"]);
    assert!(application.deployed("dev:us/manifests.yaml").contains("registry.example/own:7-1.0.0-57"));
    assert!(application.deployed("dev:eu/manifests.yaml").contains("registry.example/own:7"));
    assert_eq!(application.deployed("dev:.github/tracking/Image_tag"), "1.0.0-57");
    // The same version consists of the same in another environment, and with another option for a part of it.
    let taken = ["version 1.0.0 has image registry.example/own:7, image tag 1.0.0-57, as in `dev`"];
    application.write("values/stage/uat/values.yaml", "image: ${IMAGE}-${IMAGE_TAG}\n");
    application.commit("Show the tag");
    application.app("diff -e stage --version 1.0.0").ends(0).says(&taken);
    application.app("deploy -e stage --version 1.0.0 --dry-run -o json").ends(0).says(&taken);
    application.app("deploy -e dev --version 1.0.0 --image registry.example/own:8").ends(0);
    assert!(application.deployed("dev:us/manifests.yaml").contains("registry.example/own:8-1.0.0-57"));
    // Another version has its own tag.
    application.app("deploy -e dev --version 1.1.0").ends(0);
    assert!(application.deployed("dev:us/manifests.yaml").contains("registry.example/shop:1.1.0-1.1.0"));
}

const PLAYBOOK: &str = "\
- hosts: localhost
  tasks:
    - get_url:
        url: https://packages.example/shop_${DEBIAN_VERSION}_amd64.deb
        checksum: sha256:${PACKAGE_SHA256}
        dest: /var/cache/shop.deb
";

#[test]
fn a_host_without_containers_gets_a_package_and_a_playbook() {
    let Some(application) = Application::new() else { return };
    let sources = "[[sources]]\ntargets = [\"kiosk\"]\nfiles = \"ansible\"\n";
    application.write("kalypso-app.toml", &format!("{SETTINGS}{}", sources.replace("kiosk", "kisok")));
    let kiosk = "    - {name: kiosk, environment: dev, manifests: {repo: 'https://git.example/acme/shop-gitops', branch: dev, path: ./kiosk/install.yml, type: ansible}}\n";
    application.write("workload/workload.yaml", &format!("{WORKLOAD}{kiosk}"));
    application.write("ansible/install.yml", PLAYBOOK);
    application.write("values/dev/kiosk/values.yaml", "");
    application.write("values/dev/kiosk/app.conf", "port=8080\n");
    application.app("check").says(&["no environment has a target `kisok`", "did you mean `kiosk`?"]);
    application.write("kalypso-app.toml", &format!("{SETTINGS}{sources}"));
    application.app("check --strict").ends(0);
    application.commit("A kiosk");
    application.app("deploy -e dev --version 2.0.0-rc.1").ends(1).says(&["--package FILE", "ansible/install.yml:5:26"]);
    application.write("shop.deb", "the package");
    application.app("deploy -e dev --version 2.0.0-rc.1 --package shop.deb").ends(0).says(&["+ kiosk  new"]);
    let playbook = application.deployed("dev:kiosk/install.yml");
    let digest = "ab326f16dec533ba65139949246581c016b9d4c77d0de0046e65f48e575372a3";
    assert!(
        playbook.contains("shop_2.0.0~rc.1_amd64.deb") && playbook.contains(&format!("sha256:{digest}")),
        "{playbook}"
    );
    assert_eq!(application.deployed("dev:kiosk/app.conf"), "port=8080");
    assert!(!application.files("dev").contains("kiosk/kustomization.yaml"));
    let descriptor = application.deployed("dev:kiosk/descriptor.yaml");
    assert!(descriptor.contains("path: ./kiosk/install.yml") && descriptor.contains("2.0.0-rc.1"), "{descriptor}");
    // New values need no package: its digest is that of the deployed version.
    application.write("values/dev/kiosk/app.conf", "port=9090\n");
    application.app("diff -e dev").ends(0).says(&["~ kiosk", "~ File app.conf", "line 1  port=8080 → port=9090"]);
    application.commit("Another port");
    application.app("deploy -e dev").ends(0).says(&["~ kiosk  changed"]);
    assert_eq!(application.deployed("dev:kiosk/install.yml"), playbook);
    fs::remove_dir_all(application.path("shop/values/dev/kiosk")).unwrap();
    application.commit("No kiosk");
    application.app("deploy -e dev").ends(0).says(&["- kiosk  removed"]);
    assert!(!application.files("dev").contains("kiosk/"));
}

#[test]
fn a_ring_with_its_own_branch_has_its_own_deployment_targets() {
    let Some(application) = Application::new() else { return };
    let ring =
        "{ name = \"prod-canary\", of = \"prod\", delivery = \"push\" }, { name = \"prod\", delivery = \"push\" }";
    application.write(
        "kalypso-app.toml",
        &SETTINGS.replace("{ name = \"stage\" }", &format!("{{ name = \"stage\" }}, {ring}")),
    );
    let target = |name: &str, branch: &str, path: &str| {
        format!(
            "    - {{name: {name}, environment: prod, manifests: {{repo: 'https://git.example/acme/shop-gitops', branch: {branch}, path: ./{path}}}}}\n"
        )
    };
    let targets = [target("eu-canary", "prod-canary", "eu"), target("eu", "prod", "eu"), target("us", "prod", "us")];
    application.write("workload/workload.yaml", &format!("{WORKLOAD}{}", targets.concat()));
    for folder in ["prod-canary/eu", "prod/eu", "prod/us"] {
        application.write(&format!("values/{folder}/values.yaml"), "");
    }
    application.commit("A ring");
    application.app("check --strict").ends(0);
    for (environment, name) in [("prod-canary", "eu-canary"), ("prod", "eu")] {
        application.app(&format!("deploy -e {environment} --version 1.0.0")).ends(0);
        let descriptor = application.deployed(&format!("{environment}:eu/descriptor.yaml"));
        let expected = format!("    name: {name}\n    environment: prod\n");
        assert!(
            descriptor.contains(&expected) && descriptor.contains(&format!("branch: {environment}\n")),
            "{descriptor}"
        );
    }
    assert!(!application.files("prod-canary").contains("us/"));
}
