//! What limited repositories may bring, with all ways around it.

use git::load::LoadedFiles;
use git::{MemoryRepositories, Repositories};
use model::fleet::Fleet;
use model::kind::Kind;
use model::object::AnyObject;

use crate::load::{Branch, fill, load_dev};
use crate::objects::{flux_pair, gitops, registration};
use crate::playground::{HOST, commit, memory, url};

/// An `Environment` named `dev` with this `allow`.
pub(crate) fn environment(allow: &str) -> String {
    let allow = if allow.is_empty() { String::new() } else { format!(", allow: {allow}") };
    format!(
        "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: dev}}, \
         spec: {{controlPlane: {{repo: {HOST}control-plane, branch: dev, path: .}}{allow}}}}}\n---\n"
    )
}

/// A `BaseRepo` for branch `main` of a repository: `REPOSITORY`, `REPOSITORY/PATH` or `REPOSITORY@COMMIT`.
pub(crate) fn base(name: &str, place: &str, allow: &str) -> String {
    let (place, commit) = place.split_once('@').unwrap_or((place, ""));
    let (repository, path) = place.split_once('/').unwrap_or((place, "."));
    let allow = if allow.is_empty() { String::new() } else { format!(", allow: {allow}") };
    let commit = if commit.is_empty() { String::new() } else { format!(", commit: {commit}") };
    format!(
        "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: BaseRepo, metadata: {{name: {name}}}, \
         spec: {{repo: {HOST}{repository}, branch: main, path: {path}{commit}{allow}}}}}\n---\n"
    )
}

/// An object with this text after its name in the metadata, and this one after the metadata.
pub(crate) fn object(kind: &str, name: &str, (metadata, rest): (&str, &str)) -> String {
    let group = match kind {
        "ConfigMap" => "v1",
        "Cluster" | "LabelMapping" | "ReleasePin" => "fleet.kalypso.io/v1alpha1",
        _ => "scheduler.kalypso.io/v1alpha1",
    };
    format!("apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}{metadata}}}\n{rest}\n---\n")
}

fn config(name: &str) -> String {
    object("ConfigMap", name, ("", "data: {}"))
}

fn cluster(name: &str, labels: &str) -> String {
    object("Cluster", name, (&format!(", labels: {{{labels}}}"), "spec: {clusterType: edge}"))
}

/// The objects that count: kind, name and place. Kinds that lead to other places are left out.
fn counting(fleet: &Fleet) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |object: AnyObject| {
        let file = fleet.files.get(object.address().file);
        found.push(format!("{} {}:{}", object.key().to_string().replace('`', ""), file.source.label, file.path));
    };
    macro_rules! plain {
        ($($kind:ident $objects:ident),+) => {$(
            fleet.$objects.values().for_each(|object| add(AnyObject::$kind(object.clone())));
        )+};
    }
    plain!(Cluster clusters, ClusterType cluster_types, ConfigMap config_maps, ConfigSchema config_schemas);
    plain!(GitOpsRepo gitops_repos, SchedulingPolicy policies, Template templates, LabelMapping label_mappings);
    plain!(WorkloadRegistration registrations, DeploymentTarget deployment_targets, ReleasePin release_pins);
    fleet.workloads.values().for_each(|workload| add(AnyObject::Workload(workload.object.clone())));
    let copies = fleet.duplicates.values().flatten().filter(|copy| copy.kind() != Kind::BaseRepo);
    copies.cloned().for_each(add);
    found.sort();
    found
}

/// What counts, and the codes of errors with the names that they are about.
fn outcome(loaded: LoadedFiles) -> (Vec<String>, Vec<String>, bool) {
    let is_complete = loaded.is_complete;
    let (fleet, found) = Fleet::build(loaded.input);
    let errors = found.iter().chain(&loaded.diagnostics).filter(|found| found.is_error());
    let name = |found: &model::diagnostic::Diagnostic| {
        found.object.as_ref().map_or_else(String::new, |object| format!(" {}", object.name))
    };
    let mut errors: Vec<_> = errors.map(|found| format!("{}{}", found.code, name(found))).collect();
    errors.sort();
    errors.dedup();
    (counting(&fleet), errors, is_complete)
}

fn repositories(branches: &[Branch<'_>]) -> MemoryRepositories {
    let repositories = memory("control-plane");
    for (name, ..) in branches {
        repositories.create(&url(name));
    }
    if !branches.iter().any(|(name, branch, _)| (*name, *branch) == ("control-plane", "main")) {
        let declaration = environment("");
        fill(&repositories, &[("control-plane", "main", &[(".environments/dev.yaml", &declaration)])]);
    }
    fill(&repositories, branches);
    repositories
}

/// Loads environment `dev`. Compares the objects that count, and the errors.
fn check(branches: &[Branch<'_>], counting: &[&str], errors: &[&str]) {
    let (found, reported, is_complete) = outcome(load_dev(&repositories(branches)));
    assert_eq!((found, reported), (texts(counting), texts(errors)));
    assert!(is_complete);
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Checks a file of a repository that the environment's branch limits.
fn check_limited(allow: &str, file: &str, counting: &[&str], errors: &[&str]) {
    let site = base("site", "site", allow);
    check(
        &[("control-plane", "dev", &[("site.yaml", &site)]), ("site", "main", &[("a.yaml", file)])],
        counting,
        errors,
    );
}

#[test]
fn a_repository_brings_only_the_kinds_names_and_workspaces_that_it_may() {
    let file = [config("a"), cluster("site-1", ""), cluster("other-1", "")].concat();
    check_limited(
        "{kinds: [Cluster], names: ['site-*', a]}",
        &file,
        &["Cluster site-1 site:a.yaml"],
        &["K0123 site-1", "K0145 a", "K0145 other-1"],
    );
    let apps =
        [registration("a", &format!("{HOST}app"), "."), registration("b", &format!("{HOST}app"), ".")].join("---\n");
    let file = apps.replacen("workspace: team", "workspace: own", 1);
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("site.yaml", &base("site", "site", "{workspaces: [own]}"))]),
        ("site", "main", &[("a.yaml", &file)]),
        ("app", "main", &[("w.yaml", &crate::objects::workload("a"))]),
    ];
    check(branches, &["Workload a app:w.yaml", "WorkloadRegistration a site:a.yaml"], &["K0145 b"]);
}

#[test]
fn values_schemas_and_places_have_the_labels_of_the_limit() {
    let config = |name, labels: &str| object("ConfigMap", name, (&format!(", labels: {{{labels}}}"), "data: {A: b}"));
    let schema =
        |name, labels: &str| object("ConfigSchema", name, (&format!(", labels: {{{labels}}}"), "spec: {schema: '{}'}"));
    let file = [
        config("a", "site: a, platform-config: 'true'"),
        config("b", "site: b, platform-config: 'true'"),
        config("c", "platform-config: 'true'"),
        schema("d", "site: a, size: large"),
        schema("e", "size: large"),
        object(
            "ClusterType",
            "f",
            (", labels: {site: a}", "spec: {reconciler: a, namespaceService: a, configType: a}"),
        ),
        object("ClusterType", "g", ("", "spec: {reconciler: a, namespaceService: a, configType: a}")),
        object(
            "ClusterType",
            "h",
            (", labels: {site: b}", "spec: {reconciler: a, namespaceService: a, configType: a}"),
        ),
    ];
    let counting = ["ClusterType f site:a.yaml", "ConfigMap a site:a.yaml", "ConfigSchema d site:a.yaml"];
    let errors = ["K0146 b", "K0146 c", "K0146 e", "K0146 g", "K0146 h"];
    check_limited("{labels: {site: a}}", &file.concat(), &counting, &errors);
}

#[test]
fn keys_with_conditions_have_the_labels_of_the_limit() {
    let azure = |name: &str, data: &str| object("ConfigMap", name, ("", &format!("data: {{{data}}}")));
    let file = [
        azure("azure-app-config-a", "site.a.A: x, size.large.site.a.B: x"),
        azure("azure-app-config-b", "site.a.A: x, B: x"),
        // Of a label that occurs twice, the last value counts.
        azure("azure-app-config-c", "site.a.site.b.A: x"),
        // A part without a partner is no condition.
        azure("azure-app-config-d", "x.site.a.A: x"),
        object("ConfigMap", "azure-app-config-e", (", labels: {platform-config: 'true'}", "data: {site.a.A: x}")),
    ];
    let errors = [
        "K0146 azure-app-config-b",
        "K0146 azure-app-config-c",
        "K0146 azure-app-config-d",
        "K0146 azure-app-config-e",
    ];
    check_limited("{labels: {site: a}}", &file.concat(), &["ConfigMap azure-app-config-a site:a.yaml"], &errors);
}

#[test]
fn policies_select_only_places_with_the_labels_of_the_limit() {
    let policy = |name, targets: &str, places: &str| {
        let spec =
            format!("spec: {{deploymentTargetSelector: {targets}, clusterTypeSelector: {{labelSelector: {places}}}}}");
        object("SchedulingPolicy", name, ("", &spec))
    };
    let all = "{labelSelector: {}}";
    let file = [
        policy("a", all, "{matchLabels: {site: a, size: large}}"),
        policy("b", all, "{matchExpressions: [{key: site, operator: In, values: [a]}]}"),
        policy("c", all, "{}"),
        policy("d", all, "{matchExpressions: [{key: site, operator: In, values: [a, b]}]}"),
        policy("e", all, "{matchExpressions: [{key: site, operator: NotIn, values: [b]}]}"),
        policy("f", all, "{matchExpressions: [{key: site, operator: Exists}]}"),
        // Applications choose such labels themselves.
        policy("g", "{labelSelector: {matchLabels: {site: a}}}", "{}"),
    ];
    let counting = ["SchedulingPolicy a site:a.yaml", "SchedulingPolicy b site:a.yaml"];
    check_limited(
        "{labels: {site: a}}",
        &file.concat(),
        &counting,
        &["K0146 c", "K0146 d", "K0146 e", "K0146 f", "K0146 g"],
    );
    let file =
        [policy("a", "{workspace: own, labelSelector: {}}", "{}"), policy("b", all, "{matchLabels: {workspace: own}}")];
    check_limited("{labels: {workspace: own}}", &file.concat(), &["SchedulingPolicy a site:a.yaml"], &["K0146 b"]);
}

#[test]
fn pins_apply_only_to_places_with_the_labels_of_the_limit() {
    let pin = |name, places: &str| {
        let spec = format!(
            "spec: {{deploymentTargetSelector: {{labelSelector: {{}}}}, clusterTypeSelector: {{labelSelector: {places}}}, manifests: {{a: b}}}}"
        );
        object("ReleasePin", name, ("", &spec))
    };
    let file = [pin("a", "{matchLabels: {site: a}}"), pin("b", "{}"), pin("c", "{matchLabels: {site: b}}")];
    check_limited("{labels: {site: a}}", &file.concat(), &["ReleasePin a site:a.yaml"], &["K0146 b", "K0146 c"]);
}

#[test]
fn labels_alone_allow_no_kind_that_they_do_not_limit() {
    let mapping = object("LabelMapping", "a", ("", "spec: {from: {a: b}, add: {c: d}}"));
    let target = object("DeploymentTarget", "b", ("", "spec: {environment: dev, manifests: {}}"));
    let file = [mapping, target, gitops("c", &format!("{HOST}stolen"), "x")].concat();
    check_limited("{labels: {site: a}}", &file, &[], &["K0145 a", "K0145 b", "K0145 c"]);
    let counting = ["DeploymentTarget b site:a.yaml", "GitOpsRepo c site:a.yaml", "LabelMapping a site:a.yaml"];
    check_limited("{labels: {site: a}, kinds: [LabelMapping, DeploymentTarget, GitOpsRepo]}", &file, &counting, &[]);
}

#[test]
fn values_have_allowed_keys_and_priorities() {
    let config = |name, metadata: &str, data: &str| object("ConfigMap", name, (metadata, &format!("data: {{{data}}}")));
    let priority = |number: &str| {
        format!(", annotations: {{config.kalypso.io/priority: '{number}'}}, labels: {{platform-config: 'true'}}")
    };
    let file = [
        config("a", &priority("99"), "SITE_A: x"),
        config("b", &priority("100"), "SITE_A: x"),
        config("c", &priority("high"), "SITE_A: x"),
        config("d", "", "SITE_A: x, OTHER: z"),
        // They override all priorities.
        config("azure-app-config-e", "", "SITE_A: x"),
    ];
    let errors = ["K0147 azure-app-config-e", "K0147 b", "K0147 c", "K0147 d"];
    check_limited("{keys: ['SITE_*'], priority: {max: 99}}", &file.concat(), &["ConfigMap a site:a.yaml"], &errors);
    let file =
        [config("azure-app-config-a", "", "site.a.SITE_A: x"), config("azure-app-config-b", "", "SITE.a.OTHER: x")];
    check_limited(
        "{keys: ['SITE_*']}",
        &file.concat(),
        &["ConfigMap azure-app-config-a site:a.yaml"],
        &["K0147 azure-app-config-b"],
    );
}

#[test]
fn a_limit_holds_for_all_repositories_below_and_can_only_be_narrowed() {
    let all = [config("a-1"), config("a-b-1"), config("b-1")].concat();
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("a.yaml", &base("a-region", "region", "{names: ['a-*']}"))]),
        ("region", "main", &[("a.yaml", &(base("a-site", "site", "{names: ['*-b-*', 'b-*']}") + &all))]),
        ("site", "main", &[("a.yaml", &[config("a-b-2"), config("a-2"), config("b-2")].concat())]),
    ];
    let counting = ["ConfigMap a-1 region:a.yaml", "ConfigMap a-b-1 region:a.yaml", "ConfigMap a-b-2 site:a.yaml"];
    check(branches, &counting, &["K0145 a-2", "K0145 b-1", "K0145 b-2"]);
}

#[test]
fn a_reference_that_is_not_allowed_is_not_followed() {
    let site = base("other", "elsewhere", "") + &flux_pair("elsewhere", ".").join("---\n");
    check_limited("{kinds: [ConfigMap]}", &site, &[], &["K0145 elsewhere", "K0145 other"]);
}

#[test]
fn limited_repository_does_not_set_the_precedence_of_values() {
    let annotations = "{name: other, annotations: {config.kalypso.io/precedence: specificity}}";
    let other = base("other", "elsewhere", "").replace("{name: other}", annotations);
    let values = config("a");
    let elsewhere: Branch<'_> = ("elsewhere", "main", &[("a.yaml", &values)]);
    check(&[("control-plane", "dev", &[("other.yaml", &other)]), elsewhere], &["ConfigMap a elsewhere:a.yaml"], &[]);
    let site = base("site", "site", "{names: ['*']}");
    let limited: [Branch<'_>; 2] =
        [("control-plane", "dev", &[("site.yaml", &site)]), ("site", "main", &[("other.yaml", &other)])];
    check(&[limited[0], limited[1], elsewhere], &[], &["K0147 other"]);
}

#[test]
fn flux_objects_are_limited_by_the_places_of_both() {
    let [repository, kustomization] = flux_pair("further", ".");
    let further: Branch<'_> = ("further", "main", &[("a.yaml", &(config("a") + &cluster("b", "")))]);
    let site = base("site", "site", "{kinds: [GitRepository, Kustomization, ConfigMap]}");
    let pair = format!("{repository}---\n{kustomization}");
    let expected: (&[&str], &[&str]) = (&["ConfigMap a further:a.yaml"], &["K0145 b"]);
    let below: &[Branch<'_>] =
        &[("control-plane", "dev", &[("a.yaml", &site)]), ("site", "main", &[("a.yaml", &pair)]), further];
    check(below, expected.0, expected.1);
    // Who chooses the URL chooses the objects.
    let above = site + &kustomization;
    let split: &[Branch<'_>] =
        &[("control-plane", "dev", &[("a.yaml", &above)]), ("site", "main", &[("a.yaml", &repository)]), further];
    check(split, expected.0, expected.1);
}

#[test]
fn upper_objects_win_and_sibling_objects_conflict() {
    let above = config("a") + &base("site", "site", "{names: ['*']}") + &base("other", "other", "{names: ['*']}");
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("a.yaml", &above)]),
        ("site", "main", &[("a.yaml", &(config("a") + &config("b")))]),
        ("other", "main", &[("a.yaml", &config("b"))]),
    ];
    let counting = ["ConfigMap a control-plane:a.yaml", "ConfigMap b other:a.yaml", "ConfigMap b site:a.yaml"];
    check(branches, &counting, &["K0111 b", "K0148 a"]);
}

#[test]
fn names_that_share_a_folder_or_an_owner_belong_to_the_object_above() {
    let spec = "spec: {reconciler: a, namespaceService: a, configType: a}";
    let target = "spec: {environment: dev, manifests: {}}";
    let above = [
        object("ClusterType", "edge", ("", spec)),
        cluster("store", ""),
        registration("checkout", &format!("{HOST}app"), "."),
        "---\n".to_owned(),
        base("site", "site", "{names: ['*']}"),
    ];
    let site = [
        object("ClusterType", "store", ("", spec)),
        cluster("edge", ""),
        object("Workload", "checkout", ("", "spec: {}")),
        object("Workload", "basket", ("", "spec: {}")),
        registration("basket", &format!("{HOST}stolen"), "."),
        "---\n".to_owned(),
        object("DeploymentTarget", "checkout-eu", ("", target)),
        object("DeploymentTarget", "own", ("", target)),
    ];
    let workload = "spec: {deploymentTargets: [{name: eu, environment: dev, manifests: {}}]}";
    let apps = [object("Workload", "checkout", ("", workload)), object("Workload", "basket", ("", "spec: {}"))];
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("a.yaml", &above.concat())]),
        ("site", "main", &[("a.yaml", &site.concat())]),
        ("app", "main", &[("w.yaml", &apps.concat())]),
        ("stolen", "main", &[("w.yaml", &object("Workload", "basket", ("", "spec: {}")))]),
    ];
    let counting = [
        "Cluster store control-plane:a.yaml",
        "ClusterType edge control-plane:a.yaml",
        "DeploymentTarget own site:a.yaml",
        "Workload basket app:w.yaml",
        "Workload checkout app:w.yaml",
        "WorkloadRegistration checkout control-plane:a.yaml",
    ];
    check(branches, &counting, &["K0148 basket", "K0148 checkout", "K0148 checkout-eu", "K0148 edge", "K0148 store"]);
}

#[test]
fn workloads_of_a_limited_registration_have_allowed_names() {
    let site = registration("site-app", &format!("{HOST}app"), ".");
    let workloads =
        [object("Workload", "site-app", ("", "spec: {}")), object("Workload", "checkout", ("", "spec: {}"))];
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("a.yaml", &base("site", "site", "{names: ['site-*']}"))]),
        ("site", "main", &[("a.yaml", &site)]),
        ("app", "main", &[("w.yaml", &workloads.concat())]),
    ];
    check(
        branches,
        &["Workload site-app app:w.yaml", "WorkloadRegistration site-app site:a.yaml"],
        &["K0145 checkout"],
    );
}

#[test]
fn a_limited_repository_that_refers_to_files_above_does_not_limit_them() {
    let site = base("up", "control-plane/shared", "") + &base("deep", "deep", "{names: [none]}");
    let above = base("site", "site", "{kinds: [BaseRepo]}") + &base("shared", "control-plane/shared", "");
    let dev: Branch<'_> = ("control-plane", "dev", &[("a.yaml", &above)]);
    let shared = base("deep", "deep", "") + &config("a");
    let main = [(".environments/dev.yaml", &*environment("")), ("shared/a.yaml", &*shared)];
    let branches: &[Branch<'_>] = &[
        ("control-plane", "main", &main),
        dev,
        ("site", "main", &[("a.yaml", &site)]),
        ("deep", "main", &[("a.yaml", &config("b"))]),
    ];
    check(branches, &["ConfigMap a control-plane:shared/a.yaml", "ConfigMap b deep:a.yaml"], &["K0148 deep"]);
}

#[test]
fn one_of_two_limited_ways_to_a_file_is_enough() {
    let above = base("a", "a", "{names: ['a*', shared]}") + &base("b", "b", "{names: ['b*', shared-2]}");
    let branches: &[Branch<'_>] = &[
        ("control-plane", "dev", &[("a.yaml", &above)]),
        ("a", "main", &[("a.yaml", &base("shared", "shared", ""))]),
        ("b", "main", &[("a.yaml", &base("shared-2", "shared", ""))]),
        ("shared", "main", &[("a.yaml", &[config("a1"), config("b1"), config("c1")].concat())]),
    ];
    check(branches, &["ConfigMap a1 shared:a.yaml", "ConfigMap b1 shared:a.yaml"], &["K0145 c1"]);
}

#[test]
fn a_limit_of_files_that_are_also_read_without_it_is_an_error() {
    let main = base("site", "control-plane/sites/a", "{names: [none]}");
    let files = [(".environments/dev.yaml", &*environment("")), ("a.yaml", &*main), ("sites/a/a.yaml", &*config("a"))];
    let branches: &[Branch<'_>] = &[
        ("control-plane", "main", &files),
        ("control-plane", "dev", &[("a.yaml", &base("main", "control-plane", ""))]),
    ];
    check(branches, &["ConfigMap a control-plane:sites/a/a.yaml"], &["K0149 site"]);
}

#[test]
fn environment_limit_applies_to_its_branch_and_not_to_main() {
    let declaration = environment("{kinds: [BaseRepo, Cluster]}");
    let main =
        [(".environments/dev.yaml", &*declaration), ("a.yaml", &*(config("a") + &base("templates", "templates", "")))];
    let dev = base("main", "control-plane", "") + &base("other", "other", "") + &config("b") + &cluster("c", "");
    let branches: &[Branch<'_>] = &[
        ("control-plane", "main", &main),
        ("control-plane", "dev", &[("a.yaml", &dev)]),
        ("templates", "main", &[("a.yaml", &config("d"))]),
        ("other", "main", &[("a.yaml", &config("e"))]),
    ];
    let counting =
        ["Cluster c control-plane:a.yaml", "ConfigMap a control-plane:a.yaml", "ConfigMap d templates:a.yaml"];
    check(branches, &counting, &["K0123 c", "K0145 b", "K0145 e"]);
}

#[test]
fn a_commit_that_is_not_on_the_main_branch_is_limited() {
    let declaration = environment("{kinds: [BaseRepo]}");
    let main = [(".environments/dev.yaml", &*declaration), ("a.yaml", &*config("a"))];
    let repositories = repositories(&[("control-plane", "main", &main)]);
    let control_plane = url("control-plane");
    let old = repositories.resolve(&control_plane, &git::Revision::branch("main")).unwrap().id;
    commit(
        &repositories,
        &control_plane,
        "main",
        &[(".environments/dev.yaml", &declaration), ("a.yaml", &config("z"))],
    );
    let foreign = commit(&repositories, &control_plane, "mine", &[("a.yaml", &config("stolen"))]);
    let promote = |id| {
        let base = base("main", &format!("control-plane@{id}"), "");
        commit(&repositories, &control_plane, "dev", &[("a.yaml", &base)]);
        outcome(load_dev(&repositories))
    };
    let (found, errors, is_complete) = promote(old);
    assert_eq!((found, errors, is_complete), (texts(&["ConfigMap a control-plane:a.yaml"]), vec![], true));
    let (found, errors, is_complete) = promote(foreign);
    assert_eq!((found, errors, is_complete), (vec![], texts(&["K0602 main"]), false));
}

#[test]
fn kept_objects_are_limited_and_a_broken_limit_keeps_the_last_one() {
    let dev = |allow: &str| base("site", "site", allow);
    let repositories = repositories(&[
        ("control-plane", "dev", &[("a.yaml", &dev("{names: [a]}"))]),
        ("site", "main", &[("a.yaml", &(config("a") + &config("b")))]),
    ]);
    let summary = |repositories: &MemoryRepositories| outcome(load_dev(repositories));
    // An error in the file of the site keeps its objects, which are limited as before.
    commit(&repositories, &url("site"), "main", &[("a.yaml", "kind: [")]);
    let (found, errors, _) = summary(&repositories);
    assert_eq!((found, errors), (texts(&["ConfigMap a site:a.yaml"]), texts(&["K0101", "K0117", "K0145 b"])));
    // An error in the limit keeps the limit.
    commit(&repositories, &url("control-plane"), "dev", &[("a.yaml", &dev("{names: []}"))]);
    let (found, errors, _) = summary(&repositories);
    let expected = ["K0101", "K0117", "K0145 b", "K0149 site"];
    assert_eq!((found, errors), (texts(&["ConfigMap a site:a.yaml"]), texts(&expected)));
    commit(&repositories, &url("control-plane"), "dev", &[("a.yaml", &dev("{names: [b]}"))]);
    let (found, errors, _) = summary(&repositories);
    assert_eq!((found, errors), (texts(&["ConfigMap b site:a.yaml"]), texts(&["K0101", "K0117", "K0145 a"])));
}

#[test]
fn base_with_a_never_valid_limit_is_not_read() {
    let (found, errors, is_complete) = outcome(load_dev(&repositories(&[
        ("control-plane", "dev", &[("a.yaml", &(base("site", "site", "{}") + &config("own")))]),
        ("site", "main", &[("a.yaml", &config("a"))]),
    ])));
    assert_eq!((found, errors), (texts(&["ConfigMap own control-plane:a.yaml"]), texts(&["K0149 site"])));
    assert!(is_complete);
}
