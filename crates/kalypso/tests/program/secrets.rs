//! Sensitive values are shown nowhere.

use crate::company::Company;
use crate::objects::{config, policy, schema, template};

const OLD: &str = "old-hunter22";
const NEW: &str = "new-hunter33";

/// The values of a company with a password that a schema marks, and a template that also writes it encoded.
fn company() -> Company {
    let company = Company::new();
    let json = "{\"properties\": {\"PASSWORD\": {\"type\": \"string\", \"x-sensitive\": true}}}";
    company.change("control-plane@dev", "schema.yaml", &schema("secrets", "", json));
    password(&company, OLD);
    let manifest = "kind: Secret\ndata:\n  password: {{ .ConfigData.PASSWORD | b64enc }}\n  url: a:{{ .ConfigData.PASSWORD }}@b\n{{ toYaml .ConfigData | indent 2 }}\n";
    company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", manifest));
    company
}

fn password(company: &Company, value: &str) {
    company.change("control-plane@dev", "configs/secret.yaml", &config("secret", "", &format!("PASSWORD: {value}")));
}

fn check(company: &Company, arguments: &str, status: i32) -> String {
    let ran = company.kalypso(arguments).ends(status);
    let said = format!("{}{}", ran.out, ran.err);
    for secret in [OLD, NEW, "b2xkLWh1bnRlcjIy", "bmV3LWh1bnRlcjMz"] {
        assert!(!said.contains(secret), "`{secret}` in the answer of `{arguments}`:\n{said}");
    }
    said
}

#[test]
fn no_answer_holds_a_sensitive_value() {
    let company = company().published();
    password(&company, NEW);
    for format in ["human", "json", "yaml"] {
        let plan = check(&company, &format!("plan -e dev --diff -o {format}"), 2);
        assert!(plan.contains("(sensitive, sha256 "), "{plan}");
        check(&company, &format!("explain -e dev west/shop-test -o {format}"), 0);
        check(&company, &format!("explain -e dev west/shop-test PASSWORD -o {format}"), 0);
        check(&company, &format!("render -e dev --digest -o {format}"), 0);
        check(&company, &format!("publish -e dev -o {format}"), 0);
    }
}

#[test]
fn a_mark_that_is_new_is_about_the_old_value_too() {
    let company = company();
    company.remove("control-plane", "dev", "schema.yaml");
    let company = company.published();
    let json = "{\"properties\": {\"PASSWORD\": {\"writeOnly\": true}}}";
    company.change("control-plane@dev", "schema.yaml", &schema("secrets", "", json));
    password(&company, NEW);
    check(&company, "plan -e dev --diff", 2);
    check(&company, "plan -e dev -o json", 2);
}

#[test]
fn files_that_nobody_knows_any_more_are_not_shown() {
    let company = company();
    company.kalypso("render -e dev --out out").ends(0);
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "nothing"));
    let plan = check(&company, "plan -e dev --against out --diff", 2);
    assert!(plan.contains("not shown: nobody can say"), "{plan}");
}

#[test]
fn what_a_folder_held_is_hidden_by_what_is_known_now() {
    let company = company();
    company.kalypso("render -e dev --out out").ends(0);
    password(&company, NEW);
    check(&company, "plan -e dev --against out --diff", 2);
}
