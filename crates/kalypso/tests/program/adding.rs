//! Tests of `add` and `remove` in working trees of the control plane, and in checkouts of applications.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::objects::{self, registration, workload};

use crate::company::{Company, HOST, git};
use crate::serving::Hosted;

/// The company with working trees of `main` and `dev`.
pub(crate) struct Edited {
    pub(crate) company: Company,
}

/// Sets the author of commits in a repository.
pub(crate) fn identify(repository: &Path) {
    git(repository, &["config", "user.name", "Ann"]);
    git(repository, &["config", "user.email", "ann@example.com"]);
}

impl Edited {
    pub(crate) fn new() -> Self {
        let company = Company::new().published();
        let repository = company.repository("control-plane");
        identify(&repository);
        for branch in ["main", "dev"] {
            git(&repository, &["worktree", "add", "--quiet", company.path(branch).to_str().unwrap(), branch]);
        }
        Self { company }
    }

    /// The same with a `BaseRepo` germany, which may only set VAT in one region. The branch of its repository is checked out in `country`.
    pub(crate) fn with_country() -> Self {
        let edited = Self::new();
        let first = objects::config("west-vat", "region: west-us", "VAT: \"7\"");
        edited.company.commit("country", "main", &[("values/vat.yaml", first)]);
        let allow = "allow: {labels: {region: west-us}, keys: [VAT], priority: {min: 0, max: 9}}";
        let spec = format!("repo: {HOST}country\nbranch: main\npath: ./values\n{allow}");
        fs::write(edited.path("dev/germany.yaml"), objects::object("BaseRepo", "germany", &spec)).unwrap();
        git(&edited.path("dev"), &["add", "."]);
        git(&edited.path("dev"), &["commit", "--quiet", "-m", "Germany"]);
        let country = edited.path("country");
        let repository = edited.company.repository("country");
        identify(&repository);
        git(&repository, &["worktree", "add", "--quiet", country.to_str().unwrap(), "main"]);
        edited
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.company.path(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The files of a working tree that differ from its commit, as `git status` lists them.
    pub(crate) fn status(&self, branch: &str) -> String {
        git(&self.path(branch), &["status", "--porcelain", "--untracked-files=all"])
    }

    /// Runs a command line that may have words in quotes.
    pub(crate) fn run(&self, line: &str) -> crate::company::Ran {
        let words = line.split('\'').enumerate().flat_map(|(position, part)| match position % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        crate::company::Ran::new(self.company.command().args(words.collect::<Vec<String>>()))
    }
}

#[test]
fn a_cluster_type_is_added_like_its_siblings_and_shown_with_its_plan() {
    let edited = Edited::new();
    let ran = edited.run("add cluster-type north -e dev -l region=north-us").ends(0);
    ran.says(&[
        "Added ClusterType north in dev/cluster-types/north.yaml",
        "+ 1 assignment is added",
        "Not committed yet",
    ]);
    assert_eq!(edited.status("dev"), "?? cluster-types/north.yaml");
    let west = edited.text("dev/cluster-types/west.yaml").replace("{region: west-us}", "\n    region: north-us");
    assert_eq!(
        edited.text("dev/cluster-types/north.yaml"),
        west.replace("west", "north").replace("labels: \n", "labels:\n")
    );
    edited.run("add cluster-type north -e dev").ends(1).says(&["K0140", "cluster-types/north.yaml:4"]);
}

#[test]
fn invalid_additions_are_refused_before_writing() {
    let edited = Edited::new();
    let ran = edited.run("add cluster-type north -e dev --reconciler flx").ends(1);
    ran.says(&["K0405", "there are `configmap`, `default`, `flux`", "nothing is written"]);
    edited.run("add cluster north -e dev --cluster-type wets").ends(1).says(&["K0123", "nothing is written"]);
    edited.run("add cluster-type North -e dev").ends(64).says(&["`North` is not the name of a cluster type"]);
    edited.run("add cluster-type north -e dve").ends(1).says(&["did you mean `dev`"]);
    edited.run("add cluster-type north -e dev -l region").ends(64).says(&["write KEY=VALUE"]);
    edited.run("add cluster-type north -e dev --in ../x.yaml").ends(64).says(&["is not a path below"]);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn labels_that_nothing_has_are_warnings_with_the_nearest() {
    let edited = Edited::new();
    let ran = edited.run("add policy typo -e dev --targets purpose=shop --on region=wset-us --dry-run").ends(0);
    ran.says(&["K0201", "west-us", "Nothing is written"]);
    let ran = edited.run("add cluster-type north -e dev -l regoin=west-us --dry-run").ends(0);
    ran.says(&["did you mean `region`?"]);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn a_value_is_changed_where_it_is_and_other_bytes_stay() {
    let edited = Edited::new();
    let before = edited
        .text("dev/configs/west.yaml")
        .replace('\n', " # kept\t\r\n")
        .replace("data: # kept\t\r\n", "data:\r\n\r\n");
    let before = before.trim_end().to_owned();
    fs::write(edited.path("dev/configs/west.yaml"), &before).unwrap();
    let ran = edited.run("add config DATABASE=mysql://west-2/a MODE=on -e dev --for region=west-us").ends(0);
    ran.says(&["Changed ConfigMap west in dev/configs/west.yaml", "mysql://west/a → mysql://west-2/a", "(new) on"]);
    let expected = before.replace("mysql://west/a", "mysql://west-2/a") + "\r\n  MODE: \"on\"";
    assert_eq!(edited.text("dev/configs/west.yaml"), expected);
    edited.run("remove config MODE -e dev --for region=west-us").ends(0).says(&["MODE  on → (removed)"]);
    edited.run("add config DATABASE=mysql://west/a -e dev --for region=west-us").ends(0);
    assert_eq!(edited.text("dev/configs/west.yaml"), before);
    edited.run("add config DATABASE=mysql://west/a -e dev --for region=west-us").ends(0).says(&["Nothing to change"]);
}

#[test]
fn values_for_new_labels_get_a_new_config_map() {
    let edited = Edited::new();
    let ran = edited.run("add config LOG_LEVEL=debug -e dev --for region=east-us").ends(0);
    ran.says(&["Added ConfigMap east-us in dev/configs/east-us.yaml", "~ 1 assignment changes"]);
    let ran = edited.run("add config CURRENCY=USD").ends(0);
    ran.says(&["Added ConfigMap platform-config in main/configs/platform-config.yaml", "~ 2 assignments change"]);
    assert_eq!(
        (edited.status("dev"), edited.status("main")),
        ("?? configs/east-us.yaml".into(), "?? configs/platform-config.yaml".into())
    );
}

#[test]
fn a_value_that_no_assignment_would_use_is_refused_with_the_ways_out() {
    let edited = Edited::new();
    let ran = edited.run("add config LOG_LEVEL=debug -e dev --for region=wset-us").ends(1);
    ran.says(&[
        "K0306",
        "reaches no assignment of `dev`",
        "the label `region: wset-us`",
        "west-us",
        "nothing is written",
    ]);
    edited.run("add config LOG_LEVEL=info -e dev --for region=west-us --name zone").ends(0);
    let overridden = "add config LOG_LEVEL=debug -e dev --for cluster-type=west,region=west-us --name west-type";
    edited.run(overridden).ends(1).says(&[
        "K0306",
        "is not used in the only assignment that it reaches",
        "configs/zone.yaml:9:14",
        "`zone` is used instead in 1 assignment: its name comes last",
        "`--priority 1` lets it take precedence",
        "precedence: specificity",
        "--allow-unused",
    ]);
    let answer = edited.run(&format!("{overridden} --dry-run -o json")).ends(1);
    answer.says(&["\"isWritten\": false", "K0306"]);
    assert_eq!(edited.status("dev"), "?? configs/zone.yaml");
    let ran = edited.run(&format!("{overridden} --priority 1")).ends(0);
    ran.says(&["priority 1", "\"info\" → \"debug\""]);
    assert!(edited.text("dev/configs/west-type.yaml").contains("config.kalypso.io/priority: \"1\""));
    edited.run(&format!("{overridden} --priority 0")).ends(1).says(&["its name comes last"]);
    edited.run("add config LOG_LEVEL=info -e dev --for region=west-us --name zone --priority 7").ends(0);
    // What is there already has no effect now.
    edited.run(overridden).ends(1).says(&["its priority is 7, and not 1", "`--priority 8`"]);
    edited.run(&format!("{overridden} --allow-unused")).ends(0).says(&["Nothing to change"]);
    let ran = edited.run("add config LATER=yes -e dev --for region=north-us --allow-unused").ends(0);
    ran.says(&["warning[K0306]", "Added ConfigMap north-us"]);
}

#[test]
fn a_country_adds_values_in_its_own_repository_within_its_limits() {
    let edited = Edited::with_country();
    let country = edited.path("country");
    let add = |rest: &str| edited.run(&format!("add config -e dev --working-tree country --repo {rest}"));
    let ran = add("germany VAT=19 --for region=west-us").ends(0);
    ran.says(&["Changed ConfigMap west-vat in country/values/vat.yaml", "VAT  7 → 19", "~ 1 assignment changes"]);
    git(&country, &["checkout", "."]);
    add(&format!("{HOST}country VAT=19 --for region=west-us --dry-run")).ends(0);
    add("germany VAT=19 --for region=east-us").ends(1).says(&["K0146", "nothing is written"]);
    add("germany LOG_LEVEL=debug --for region=west-us").ends(1).says(&["K0147", "nothing is written"]);
    add("germany VAT=19 --for region=west-us --priority 10").ends(1).says(&["K0147", "nothing is written"]);
    add("gremany VAT=19").ends(1).says(&["dev reads no BaseRepo `gremany`", "did you mean `germany`?"]);
    let remove = |rest: &str| edited.run(&format!("remove config -e dev --working-tree country --repo germany {rest}"));
    remove("VAT --for region=east-us").ends(1).says(&["no ConfigMap"]);
    let ran = remove("VAT --for region=west-us --dry-run").ends(0);
    ran.says(&["ConfigMap west-vat from country/values/vat.yaml", "~ 1 assignment changes"]);
    remove("--name west-vat --dry-run").ends(0).says(&["ConfigMap west-vat from country/values/vat.yaml"]);
    assert_eq!(git(&country, &["status", "--porcelain"]), "");
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn a_host_without_containers_gets_no_templates_for_clusters() {
    let edited = Edited::new();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n";
    let of_cluster = objects::template("of-cluster", "namespace", namespace);
    fs::write(edited.path("main/templates/of-cluster.yaml"), of_cluster).unwrap();
    let ran = edited.run("add cluster-type kiosk -e dev --namespace of-cluster").ends(64);
    ran.says(&[
        "template `of-cluster` makes Kubernetes objects, and `flux` and `configmap` do not",
        "for a host without containers: --reconciler flux --namespace default --config-type configmap",
    ]);
    let all = "add cluster-type kiosk -e dev --reconciler flux --namespace of-cluster --config-type configmap";
    edited.run(all).ends(0).says(&["warning: template `of-cluster` makes", "Added ClusterType kiosk"]);
}

#[test]
fn many_clusters_come_from_a_range_or_a_file_and_wrong_rows_are_shown() {
    let edited = Edited::new();
    let ran = edited.run("add cluster 'store-[001-075]' -e dev --cluster-type west -l site=west").ends(0);
    ran.says(&["75 Clusters", "dev/clusters/store.yaml", "+ 75 assignments are added"]);
    fs::write(edited.path("more.csv"), "name,cluster-type,line\nstore-101,west,7\nStore 102,west,8\nstore-103,west\n")
        .unwrap();
    let ran = edited.run("add cluster -e dev --csv more.csv").ends(1);
    ran.says(&["K0144", "more.csv:3:1", "`Store 102` is not a name", "more.csv:4:1", "this row has 2 cells"]);
    fs::write(edited.path("more.csv"), "name,cluster-type,line\nstore-101,west,7\n").unwrap();
    edited
        .run("add cluster -e dev --csv more.csv")
        .ends(0)
        .says(&["dev/clusters/store.yaml", "+ 1 assignment is added"]);
    edited.run("remove cluster 'store-[001-075]' store-101 -e dev").ends(0);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn an_object_that_others_use_is_removed_only_with_them() {
    let edited = Edited::new();
    edited.run("add cluster one -e dev --cluster-type west --commit").ends(0).says(&["Committed to dev as "]);
    edited.run("remove cluster-type west -e dev").ends(1).says(&["K0142", "clusters/one.yaml:6", "--cascade"]);
    let ran = edited.run("remove cluster-type west -e dev --cascade --commit --message 'Close the west'").ends(0);
    ran.says(&["- 2 assignments are removed"]);
    assert_eq!(edited.status("dev"), "");
    assert_eq!(git(&edited.path("dev"), &["log", "-1", "--format=%an: %s"]), "Ann: Close the west");
    assert!(!edited.path("dev/cluster-types/west.yaml").exists() && !edited.path("dev/clusters/one.yaml").exists());
    edited.run("remove policy shp -e dev").ends(1).says(&["K0143", "did you mean `shop`?"]);
}

#[test]
fn a_template_that_cluster_types_use_is_not_removed() {
    let edited = Edited::new();
    edited.run("remove template flux").ends(1).says(&["K0405", "nothing is written"]);
    assert_eq!(edited.status("main"), "");
    edited.run("add template argocd").ends(0);
    edited.run("remove template argocd").ends(0).says(&["Removed Template argocd"]);
    assert_eq!(edited.status("main"), "");
}

#[test]
fn the_first_cluster_type_gets_the_only_template_of_each_type() {
    let edited = Edited::new();
    fs::remove_dir_all(edited.path("dev/cluster-types")).unwrap();
    edited.run("add cluster-type first -e dev").ends(0);
    let text = edited.text("dev/cluster-types/first.yaml");
    assert!(text.contains("reconciler: flux") && text.contains("namespaceService: default"), "{text}");
    fs::remove_dir_all(edited.path("dev/cluster-types")).unwrap();
    edited.run("add template argocd").ends(0);
    let ran = edited.run("add cluster-type first -e dev").ends(64);
    ran.says(&["--reconciler is needed: there are several templates", "choose --reconciler argocd|flux"]);
}

#[test]
fn a_proposal_changes_no_working_tree() {
    let edited = Edited::new();
    let ran = edited.run("add policy edge -e dev --targets purpose=shop --on region=east-us --propose -o json").ends(0);
    let answer = ran.json();
    assert_eq!((&answer["isWritten"], &answer["proposal"]["branch"]), (&false.into(), &"add/dev-policy-edge".into()));
    assert_eq!(edited.status("dev"), "");
    assert!(edited.company.files("control-plane", "add/dev-policy-edge").contains("policies/edge.yaml"));
}

#[test]
fn an_unfinished_merge_is_not_edited() {
    let edited = Edited::new();
    let tree = edited.path("dev");
    git(&tree, &["switch", "--quiet", "-c", "other"]);
    fs::write(tree.join("configs/west.yaml"), "a: 1\n").unwrap();
    git(&tree, &["commit", "--quiet", "--all", "-m", "Theirs"]);
    git(&tree, &["switch", "--quiet", "dev"]);
    fs::write(tree.join("configs/west.yaml"), "a: 2\n").unwrap();
    git(&tree, &["commit", "--quiet", "--all", "-m", "Ours"]);
    let merged =
        std::process::Command::new("git").current_dir(&tree).args(["merge", "--quiet", "other"]).output().unwrap();
    assert!(!merged.status.success());
    edited.run("add cluster-type north -e dev").ends(1).says(&["a `git merge` is not finished", "--abort"]);
    assert!(!tree.join("cluster-types/north.yaml").exists());
}

#[test]
fn a_workload_of_another_team_with_the_same_name_is_not_registered() {
    let edited = Edited::new();
    edited.company.commit("other", "main", &[("w.yaml", workload("shop"))]);
    let ran = edited.run(&format!("add workload other --repo {HOST}other --path . --workspace other-team")).ends(1);
    ran.says(&["K0115", "nothing is written"]);
    edited.company.commit("page", "main", &[("w.yaml", workload("page").replace("purpose: page", "purpose: shop"))]);
    let ran = edited.run(&format!("add workload page --repo {HOST}page --path . --workspace page-team")).ends(0);
    ran.says(&["main/workloads/page.yaml", "+ 2 assignments are added"]);
    assert_eq!(edited.text("main/workloads/page.yaml"), registration("page", &format!("{HOST}page")));
    edited.run("remove workload page").ends(0).says(&["- 2 assignments are removed"]);
    assert_eq!(edited.status("main"), "");
}

#[test]
fn a_repository_is_named_by_its_url() {
    let edited = Edited::new();
    for path in ["/srv/other", "../other", "file:///srv/other"] {
        edited.run(&format!("add workload other --repo {path} --workspace other-team")).ends(64).says(&["git.rewrite"]);
    }
}

#[test]
fn a_target_is_added_in_the_checkout_of_its_application() {
    let edited = Edited::new();
    git(&edited.path("."), &["clone", "--quiet", edited.company.repository("shop").to_str().unwrap(), "shop"]);
    let before = edited.text("shop/shop.yaml");
    let line = "add target shop next -e dev --checkout shop -l purpose=shop -m repo=https://git.example/acme/x -m branch=dev -m path=.";
    edited
        .run(line)
        .ends(0)
        .says(&["Added target next of shop for dev to shop/shop.yaml", "+ 2 assignments are added"]);
    edited.run(line).ends(1).says(&["K0140", "shop.yaml"]);
    edited.run("remove target shop next -e dev --checkout shop").ends(0);
    assert_eq!(edited.text("shop/shop.yaml"), before);
    edited.run("remove target shop tset -e dev --checkout shop").ends(1).says(&["did you mean `test`?"]);
}

#[test]
fn the_file_of_a_new_workload_is_made_in_the_checkout() {
    let edited = Edited::new();
    fs::create_dir(edited.path("app")).unwrap();
    let line = "add workload app --checkout app -t api:dev:role=api -t api:prod -m repo=https://git.example/acme/x -m branch={env} -m path=./{target}";
    edited.run(line).ends(0).says(&["Added Workload app in app/workload/workload.yaml"]);
    let text = edited.text("app/workload/workload.yaml");
    assert!(text.contains("    - name: api\n      labels:\n        role: api\n      environment: dev\n"), "{text}");
    assert!(text.contains("        branch: prod\n        path: ./api\n"), "{text}");
    edited.run(line).ends(1).says(&["exists already"]);
    // Nothing is written that was not given.
    let oci = "add workload oci --checkout app --path oci -t api:dev -m image=registry.example/oci -m tag=2.4.0";
    edited.run(oci).ends(0);
    let text = edited.text("app/oci/workload.yaml");
    assert!(text.ends_with("      manifests:\n        image: registry.example/oci\n        tag: 2.4.0\n"), "{text}");
    edited.run("add workload none --checkout app --path none -t api:dev").ends(64).says(&["-m repo="]);
    let joined = edited.run("add workload none --checkout app --path none -t api:dev -m repo=x,branch=dev").ends(64);
    joined.says(&["`repo=x,branch=dev` is one value of `repo`", "-m … -m branch=dev"]);
}

#[test]
fn a_killed_run_leaves_whole_files() {
    let edited = Edited::new();
    let file = edited.path("dev/configs/common.yaml");
    let old = fs::read(&file).unwrap();
    edited.run("add config A=1 B=2 -e dev").ends(0);
    let new = fs::read(&file).unwrap();
    for hundredths in 0..12 {
        fs::write(&file, &old).unwrap();
        let mut command = std::process::Command::new("timeout");
        let program = edited.company.command();
        command.args(["-s", "KILL", &format!("0.{:03}", 1 + hundredths * 30)]).arg(program.get_program());
        let variables = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.current_dir(edited.path(".")).env_clear().envs(variables);
        let _ = command.args(["add", "config", "A=1", "B=2", "-e", "dev"]).output().unwrap();
        let found = fs::read(&file).unwrap();
        assert!(found == old || found == new, "{}", String::from_utf8_lossy(&found));
        edited.run("check -e dev").ends(0);
    }
}

#[test]
fn a_pull_request_of_an_edit_has_its_plan() {
    let hosted = Hosted::new("");
    hosted.kalypso("publish -e dev --direct").ends(0);
    hosted.kalypso("add config LOG_LEVEL=debug -e dev --name common --propose").ends(0);
    let opened = hosted.memory().repository("acme/control-plane").unwrap().pull_requests();
    let [opened] = &opened[..] else { panic!("one is open: {}", opened.len()) };
    assert_eq!(opened.title, "Set LOG_LEVEL in ConfigMap common");
    let plan =
        ["## Plan for `dev`", "**2 assignments** change", "`LOG_LEVEL  \"info\" → \"debug\"`", "configs/common.yaml:8"];
    assert!(plan.iter().all(|text| opened.body.contains(text)), "{}", opened.body);
}
