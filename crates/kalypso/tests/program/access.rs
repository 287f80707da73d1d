//! Limits of repositories, and the owners of their files.

use std::fs;

use serde_json::json;
use testkit::objects::{config, object, schema, template};

use crate::company::{Company, HOST};

/// The published company with a site that may set values of region west.
fn company(allow: &str) -> Company {
    let company = Company::new().published();
    let spec = format!("{{repo: {HOST}site, branch: main, path: ., allow: {allow}}}");
    let site = object("BaseRepo", "site", &spec);
    let owners = "  annotations: {access.kalypso.io/owners: \"@acme/site\"}\n";
    let site = site.replacen("  name: site\n", &format!("  name: site\n{owners}"), 1);
    company.change("control-plane@main", "site.yaml", &site);
    company.commit("site", "main", &[("values.yaml", config("site-values", "region: west-us", "LOG_LEVEL: debug"))]);
    company
}

const LIMITED: &str =
    "{kinds: [ConfigMap, ConfigSchema], labels: {region: west-us}, names: [site-*], keys: [LOG_LEVEL]}";

#[test]
fn site_changes_only_allowed_objects_and_stops_no_others() {
    let company = company(LIMITED);
    company.kalypso("publish -e dev --direct").ends(0);
    let west = || company.file("gitops", "dev", "west/shop-test/platform-config.yaml");
    assert!(west().contains("debug"));
    let everywhere = config("site-all", "", "LOG_LEVEL: trace");
    let named = config("common", "region: west-us", "LOG_LEVEL: trace");
    let files = [("a.yaml", everywhere), ("b.yaml", named), ("c.yaml", template("flux", "reconciler", "a: stolen"))];
    company.commit("site", "main", &files);
    let checked = company.kalypso("check -e dev").ends(1);
    checked.says(&["K0145", "K0146", "a.yaml", "site.yaml", "limited here", "the object does not count"]);
    company.kalypso("publish -e dev --direct").ends(1);
    assert!(west().contains("info") && !west().contains("trace"), "{}", west());
}

#[test]
fn a_site_does_not_hide_the_values_of_others() {
    let company = company(LIMITED);
    let mark = "{\"properties\": {\"LOG_LEVEL\": {\"x-sensitive\": true}}}";
    company.commit("site", "main", &[("s.yaml", schema("site-mark", "{region: west-us}", mark))]);
    company.change("control-plane@dev", "configs/common.yaml", &config("common", "", "DATABASE: a\nLOG_LEVEL: warn"));
    let plan = company.kalypso("plan -e dev --diff");
    plan.says(&["east", "warn", "sensitive"]);
}

#[test]
fn site_owners_own_its_repository_and_not_its_limit() {
    let company = company(LIMITED);
    let main = company.kalypso("codeowners --owners @acme/platform -o json").ends(0).json();
    let rules: Vec<_> =
        main["rules"].as_array().unwrap().iter().map(|rule| (&rule["pattern"], &rule["owners"])).collect();
    let platform = json!(["@acme/platform"]);
    let patterns = ["*", "/site.yaml", "/.environments/", "CODEOWNERS"].map(|pattern| json!(pattern));
    assert_eq!(rules, patterns.iter().map(|pattern| (pattern, &platform)).collect::<Vec<_>>());
    let site = company.kalypso(&format!("codeowners --owners @acme/platform --repository {HOST}site")).ends(0);
    assert!(
        site.out.contains("\n* @acme/site\n") && site.out.contains("\nCODEOWNERS @acme/platform\n"),
        "{}",
        site.out
    );
    company.kalypso("codeowners -e nowhere").ends(1).says(&["there is no environment `nowhere`", "dev"]);
    company.kalypso("codeowners --repository https://git.example/acme/none").ends(1).says(&["no object names"]);
    company.kalypso("codeowners --owners acme").ends(64).says(&["not an owner"]);
}

#[test]
fn a_file_of_owners_that_is_not_up_to_date_fails() {
    let company = company(LIMITED);
    let printed = company.kalypso("codeowners --owners @acme/platform").ends(0).out;
    fs::write(company.path("CODEOWNERS"), printed.replace('\n', "\r\n")).unwrap();
    let check = "codeowners --owners @acme/platform --check CODEOWNERS";
    company.kalypso(check).ends(0).says(&["up to date"]);
    fs::write(company.path("CODEOWNERS"), printed.replace("/site.yaml @acme/platform", "/site.yaml @acme/site"))
        .unwrap();
    company.kalypso(check).ends(1).says(&["- /site.yaml @acme/site", "+ /site.yaml @acme/platform", "not up to date"]);
}
