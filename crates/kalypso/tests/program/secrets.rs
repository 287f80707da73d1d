//! Tests that sensitive values, credentials of URLs and terminal control sequences are never shown.

use std::fmt::Write as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use testkit::objects::{config, environment, gitops, object, policy, registration, schema, template};

use crate::company::{Company, HOST, Ran, folder_text};

pub(crate) const OLD: &str = "old-hunter22";
pub(crate) const NEW: &str = "new-Hunter33";

/// A template that uses a password in all ways that templates support.
const MANIFEST: &str = "\
kind: Secret
data:
  plain: {{ .ConfigData.PASSWORD }}
  encoded: {{ .ConfigData.PASSWORD | b64enc }}
  around: {{ printf \"user:%s\" .ConfigData.PASSWORD | b64enc }}
  further: {{ printf \"me:%s@host\" .ConfigData.PASSWORD | b64enc }}
  upper: {{ .ConfigData.PASSWORD | upper }}
  title: {{ .ConfigData.PASSWORD | title }}
  hex: {{ printf \"%x\" .ConfigData.PASSWORD }}
  cut: {{ .ConfigData.PASSWORD | trunc 7 }}
  end: {{ .ConfigData.PASSWORD | substr 5 -1 }}
  hash: {{ .ConfigData.PASSWORD | sha256sum }}
  length: {{ len .ConfigData.PASSWORD }}
  quoted: {{ .ConfigData.PASSWORD | quote }}
  url: mysql://a:{{ .ConfigData.PASSWORD }}@b
  reversed: {{ range splitList \"\" .ConfigData.PASSWORD | reverse }}{{ . }}{{ end }}
  version: {{ .ConfigVersion }}
  old: {{ if contains \"hunter\" .ConfigData.PASSWORD }}\"yes\"{{ else }}\"no\"{{ end }}
{{ toYaml .ConfigData | indent 2 }}
";

/// A company with a password that a schema marks as sensitive. A value contains it as well, and a template writes it in other forms.
pub(crate) fn company() -> Company {
    let company = Company::new();
    company.change("control-plane@dev", "schema.yaml", &marking("\"type\": \"string\", \"x-sensitive\": true"));
    password(&company, OLD);
    company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", MANIFEST));
    company
}

/// A schema with this definition of the password.
fn marking(property: &str) -> String {
    schema("secrets", "", &format!("{{\"properties\": {{\"PASSWORD\": {{{property}}}}}}}"))
}

pub(crate) fn password(company: &Company, value: &str) {
    let data = format!("NESTED: \"{{{{ .ConfigData.PASSWORD | upper }}}}\"\nPASSWORD: {value}");
    company.change("control-plane@dev", "configs/secret.yaml", &config("secret", "", &data));
}

/// Asserts that a text contains no part of a secret in any form.
#[track_caller]
pub(crate) fn check_text(said: &str, whose: &str) {
    let mut forms: Vec<String> = Vec::new();
    for secret in [OLD, NEW] {
        let hex = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").unwrap();
                hex
            })
        };
        let reversed: String = secret.chars().rev().collect();
        forms.extend([secret.to_uppercase(), secret.to_lowercase(), hex(secret.as_bytes()), reversed]);
        // The base64 of a text around it, for each of the three positions in a group where it can begin.
        for before in ["", "x", "xx"] {
            let encoded = STANDARD.encode(format!("{before}{secret}"));
            forms.push(encoded[4..encoded.len() - 4].to_owned());
        }
        forms.extend((0..=secret.len() - 6).map(|start| secret[start..start + 6].to_owned()));
    }
    for form in forms {
        assert!(!said.contains(&form), "`{form}` in the answer of `{whose}`:\n{said}");
    }
}

#[track_caller]
fn check(company: &Company, arguments: &str, status: i32) -> String {
    let ran = company.kalypso(arguments).ends(status);
    let said = format!("{}{}", ran.out, ran.err);
    check_text(&said, arguments);
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
        check(&company, &format!("explain -e dev west/shop-test NESTED -o {format}"), 0);
        check(&company, &format!("render -e dev --digest -o {format}"), 0);
        check(&company, &format!("publish -e dev -o {format}"), 0);
    }
    check(&company, "check -e dev", 0);
}

#[test]
fn held_output_hides_values_marked_earlier() {
    let company = company();
    let reconciler = "kind: Reconciler\npassword: {{ .ConfigData.PASSWORD }}\nrepo: {{ .Manifests.repo }}\n";
    company.change("control-plane@main", "templates/flux.yaml", &template("flux", "reconciler", reconciler));
    let company = company.published();
    // The mark is removed together with the value, and another error occurs.
    let levels = "{\"properties\": {\"LOG_LEVEL\": {\"enum\": [\"debug\"]}}}";
    company.change("control-plane@dev", "schema.yaml", &schema("secrets", "", levels));
    company.remove("control-plane", "dev", "configs/secret.yaml");
    let pin = format!(
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: hold}}\nspec:\n  \
         deploymentTargetSelector: {{labelSelector: {{}}}}\n  clusterTypeSelector: {{labelSelector: {{}}}}\n  \
         manifests: {{repo: '{HOST}stable'}}\n"
    );
    company.change("control-plane@dev", "pin.yaml", &pin);
    for format in ["human", "json"] {
        let plan = check(&company, &format!("plan -e dev --diff -o {format}"), 1);
        assert!(plan.contains("K0220") && plan.contains("stable"), "{plan}");
        check(&company, &format!("explain -e dev west/shop-test -o {format}"), 0);
    }
    check(&company, "check -e dev", 1);
    check(&company, "publish -e dev --direct", 1);
    // After the publication: the difference by another pin.
    company.change("control-plane@dev", "pin.yaml", &pin.replace("stable", "older"));
    check(&company, "plan -e dev --diff", 1);
}

#[test]
fn difference_shows_lines_independent_of_sensitive_values() {
    let company = company().published();
    password(&company, NEW);
    company.change("control-plane@dev", "configs/level.yaml", &config("level", "", "LOG_LEVEL: debug"));
    let plan = check(&company, "plan -e dev --diff", 2);
    for shown in [
        " kind: Secret\n",
        "-  LOG_LEVEL: info\n",
        "+  LOG_LEVEL: debug\n",
        "-  upper: (sensitive)\n",
        "+  upper: (sensitive)\n",
        // The new value has the same length, and its length is not shown.
        "   length: (sensitive)\n",
        "-  old: (sensitive)\n",
        "-  PASSWORD: (sensitive, sha256 ",
    ] {
        assert!(plan.contains(shown), "`{shown}` is not in\n{plan}");
    }
}

#[test]
fn lines_are_hidden_if_a_sensitive_value_decides_their_number() {
    let company = company();
    let manifest = "first:\n{{ range splitList \"-\" .ConfigData.PASSWORD }}- {{ . }}\n{{ end }}last: {{ .ConfigData.LOG_LEVEL }}\n";
    company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", manifest));
    let company = company.published();
    password(&company, NEW);
    company.change("control-plane@dev", "configs/level.yaml", &config("level", "", "LOG_LEVEL: debug"));
    let plan = check(&company, "plan -e dev --diff", 2);
    assert!(plan.contains(" first:\n-(sensitive)\n-last: info\n+(sensitive)\n+last: debug\n"), "{plan}");
}

#[test]
fn difference_is_hidden_if_other_values_cannot_be_rendered() {
    let company = company();
    let manifest = "a: {{ if ne (len .ConfigData.PASSWORD) 12 }}{{ fail \"12 are needed\" }}{{ end }}{{ .ConfigData.LOG_LEVEL }}\n";
    company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", manifest));
    let company = company.published();
    company.change("control-plane@dev", "configs/level.yaml", &config("level", "", "LOG_LEVEL: debug"));
    let plan = check(&company, "plan -e dev --diff", 2);
    assert!(plan.contains("not shown: what is sensitive"), "{plan}");
}

#[test]
fn new_sensitive_mark_also_hides_the_old_value() {
    let company = company();
    company.remove("control-plane", "dev", "schema.yaml");
    let company = company.published();
    company.change("control-plane@dev", "schema.yaml", &marking("\"writeOnly\": true"));
    password(&company, NEW);
    check(&company, "plan -e dev --diff", 2);
    check(&company, "plan -e dev -o json", 2);
}

#[test]
fn removed_sensitive_mark_still_hides_the_old_value() {
    let company = company().published();
    company.remove("control-plane", "dev", "schema.yaml");
    password(&company, NEW);
    check(&company, "plan -e dev --diff", 2);
    check(&company, "plan -e dev --diff -o json", 2);
    check(&company, "publish -e dev", 0);
}

#[test]
fn changes_of_commits_and_patches_hide_secrets() {
    let company = company().published();
    password(&company, NEW);
    check(&company, "plan -e dev --commit HEAD~1.. --diff", 2);
    let patch = format!(
        "--- a/configs/secret.yaml\n+++ b/configs/secret.yaml\n@@ -7 +7 @@\n-  PASSWORD: {NEW}\n+  PASSWORD: {OLD}\n"
    );
    fs::write(company.path("change.patch"), patch).unwrap();
    check(&company, "plan -e dev --patch change.patch --diff", 2);
}

#[test]
fn removed_files_of_unknown_origin_are_not_shown() {
    let company = company();
    company.kalypso("render -e dev --out out").ends(0);
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "nothing"));
    let plan = check(&company, "plan -e dev --against out --diff", 2);
    assert!(plan.contains("not shown: what is sensitive"), "{plan}");
}

#[test]
fn folder_content_of_unknown_origin_is_not_shown() {
    let company = company();
    company.kalypso("render -e dev --out out").ends(0);
    password(&company, NEW);
    let plan = check(&company, "plan -e dev --against out --diff", 2);
    assert!(plan.contains("not shown: what is sensitive"), "{plan}");
    // The same if the value is removed.
    company.remove("control-plane", "dev", "configs/secret.yaml");
    let manifest = "data:\n{{ toYaml .ConfigData | indent 2 }}\n";
    company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", manifest));
    check(&company, "plan -e dev --against out --diff", 2);
    check(&company, "plan -e dev --against out -o json", 2);
}

#[test]
fn manually_changed_files_are_not_shown() {
    let company = company().published();
    let path = "west/shop-test/platform-config.yaml";
    let changed = format!("{}\nother: x{OLD}", company.file("gitops", "dev", path));
    company.change("gitops@dev", path, &changed);
    let plan = check(&company, "plan -e dev --diff", 2);
    assert!(plan.contains("not shown: what is sensitive"), "{plan}");
}

#[test]
fn a_wrong_value_is_not_in_the_lines_around_the_message() {
    let company = company().published();
    company.change("control-plane@dev", "schema.yaml", &marking("\"maxLength\": 3, \"x-sensitive\": true"));
    password(&company, NEW);
    for format in ["human", "json", "yaml", "sarif", "github"] {
        let said = check(&company, &format!("check -e dev -o {format}"), 1);
        assert!(said.contains("must have at most 3 characters"), "{said}");
    }
    let said = check(&company, "plan -e dev --diff", 1);
    assert!(said.contains("PASSWORD: …"), "{said}");
    check(&company, "publish -e dev", 1);
    check(&company, "explain -e dev west/shop-test", 0);
}

#[test]
fn a_file_that_can_not_be_read_does_not_show_its_values() {
    for broken in [
        format!("PASSWORD: \"{NEW}"),
        format!("PASSWORD: {NEW}: {OLD}"),
        format!("PASSWORD: *{NEW}"),
        format!("PASSWORD: !{NEW}"),
        format!("PASSWORD: !!int {NEW}"),
        format!("PASSWORD: {{{{ {NEW} }}}}"),
        format!("PASSWORD: {NEW}\n\tOTHER: x"),
        format!("PASSWORD: {NEW}\nPASSWORD: {OLD}"),
        format!("PASSWORD:\n  - {NEW}\n  - {OLD}"),
        "PASSWORD: 3332221110".to_owned(),
        format!("OTHER: 1\nPASSWORD: {NEW}\nMORE: 2"),
    ] {
        let company = company();
        company.change("control-plane@dev", "configs/secret.yaml", &config("secret", "", &broken));
        for format in ["human", "json", "sarif", "github"] {
            let said = check(&company, &format!("check -e dev -o {format}"), 1);
            assert!(!said.contains("3332221110"), "{said}");
        }
        let ran = company.kalypso("plan -e dev --diff");
        check_text(&format!("{}{}", ran.out, ran.err), &broken);
    }
}

#[test]
fn template_errors_contain_no_values() {
    for made in ["upper .ConfigData.PASSWORD", "b64enc .ConfigData.PASSWORD", "printf \"%x\" .ConfigData.PASSWORD"] {
        let company = company();
        let manifest = format!("a: {{{{ fail ({made}) }}}}\n");
        company.change("control-plane@main", "templates/configmap.yaml", &template("configmap", "config", &manifest));
        check(&company, "check -e dev", 1);
        check(&company, "explain -e dev west/shop-test", 0);
        check(&company, "render -e dev --out out", 1);
    }
}

#[test]
fn schemas_with_the_value_do_not_show_it() {
    for only in [format!("\"const\": \"{OLD}\""), format!("\"enum\": [\"{OLD}\"]")] {
        let company = company();
        company.change("control-plane@dev", "schema.yaml", &marking(&format!("\"x-sensitive\": true, {only}")));
        password(&company, NEW);
        check(&company, "check -e dev", 1);
        check(&company, "explain -e dev west/shop-test PASSWORD", 0);
    }
}

#[test]
fn a_schema_that_can_not_be_read_hides_everything() {
    let company = company();
    let broken = marking("\"x-sensitive\": true").replace("}}}", "}}");
    company.change("control-plane@dev", "schema.yaml", &broken);
    check(&company, "check -e dev", 1);
    check(&company, "explain -e dev west/shop-test", 0);
}

/// Asserts that a token is neither in the output nor in a repository.
#[track_caller]
fn check_token(company: &Company, ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains("t0ken") && !text.contains("s3cret"), "{text}");
    }
    let served = company.path("cache");
    assert!(!served.exists() || !folder_text(&served).contains("t0ken"));
}

#[test]
fn credentials_in_urls_are_neither_shown_nor_published() {
    let host = HOST.trim_start_matches("https://");
    for (url, reads) in [
        (format!("https://me:t0ken@{host}shop"), false),
        (format!("https://{host}shop?access_token=t0ken"), false),
        (format!("https://{host}shop#t0ken"), false),
        (format!("me:t0ken@{host}shop"), false),
        (format!("https://t0ken@{host}shop"), true),
    ] {
        let company = Company::new();
        company.change("control-plane@main", "workloads/shop.yaml", &registration("shop", &url));
        for format in ["human", "json", "yaml", "sarif", "github"] {
            check_token(&company, &company.kalypso(&format!("check -o {format}")).ends(i32::from(!reads)));
        }
        check_token(&company, &company.kalypso("plan -e dev --diff"));
        let company = Company::new();
        let gitops = gitops("dev", "dev", ".").replace(&format!("{HOST}gitops"), &url.replace("shop", "gitops"));
        company.change("control-plane@dev", "gitops.yaml", &gitops);
        check_token(&company, &company.kalypso("plan -e dev --diff"));
        check_token(&company, &company.kalypso("publish -e dev --direct"));
    }
}

#[test]
fn the_owner_of_a_branch_is_named_without_a_credential() {
    let company = Company::new();
    let environment = environment("dev").replace("https://", "https://t0ken@");
    company.change("control-plane@main", ".environments/dev.yaml", &environment);
    company.kalypso("publish -e dev --direct").ends(0);
    let owner = company.file("gitops", "dev", ".kalypso/owner");
    assert!(owner.contains(&format!("control-plane: {HOST}control-plane")), "{owner}");
}

#[test]
fn the_configuration_file_is_not_repeated() {
    let company = Company::new();
    for line in [
        "[hub]\nurl = \"https://me:t0ken@hub.example\"",
        "[hub]\nurl = \"https://hub.example\" t0ken",
        "[hub]\ntoken = \"t0ken\"",
        "[hub]\nenvironments = \"t0ken\"",
        "[hub]\nurl = \"t0ken",
        "credentials = [{ prefix = \"https://git.example\", token-env = \"t0ken\" }]\n[hub]\nurl = \"https://me:s3cret@h\"",
    ] {
        let served = format!("{}/", company.path("served").display());
        company.configure(&served, line);
        check_token(&company, &company.kalypso("status").ends(64));
        check_token(&company, &company.kalypso("plan -e dev"));
        check_token(&company, &company.kalypso("publish -e dev"));
    }
}

#[test]
fn credentials_in_arguments_are_not_repeated() {
    let company = Company::new();
    for arguments in [
        "status --hub https://me:t0ken@hub.example",
        "status https://me:t0ken@hub.example",
        "publish -e dev --hub https://me:t0ken@hub.example",
        "status --hub me:t0ken@hub.example",
        "hub run --database postgres://me:t0ken@db/hub",
        "plan -e https://me:t0ken@hub.example",
    ] {
        check_token(&company, &company.kalypso(arguments).ends(64));
    }
    let mut command = company.command();
    let ran = Ran::new(command.env("KALYPSO_HUB_URL", "http://me:t0ken@127.0.0.1:1").arg("status"));
    check_token(&company, &ran.ends(64));
}

/// Terminal control sequences, and characters that change the direction of text.
fn is_obeyed(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    is_control
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn control_sequences_are_not_printed() {
    let company = Company::new();
    let bad = "\u{9b}31m\u{202e}evil\u{2066}";
    let data = format!("DATABASE: \"{bad}\"\nLEVEL: \"\\e[2J{bad}\"");
    company.change("control-plane@dev", "configs/west.yaml", &config("west", "region: west-us", &data));
    company.change(
        "control-plane@dev",
        "schema.yaml",
        &schema("s", "", "{\"properties\": {\"LEVEL\": {\"maxLength\": 3}}}"),
    );
    company.change("control-plane@dev", &format!("configs/{bad}.yaml"), &format!("kind: {bad}\n"));
    company.change(
        "control-plane@dev",
        "odd.yaml",
        &object("ClusterType", &format!("\"{bad}\""), &format!("{bad}: 1")),
    );
    for arguments in
        ["check", "plan -e dev --diff", "explain -e dev west/shop-test", "publish -e dev", "render -e dev --digest"]
    {
        for format in ["human", "json", "yaml"] {
            let ran = company.kalypso(&format!("{arguments} -o {format}"));
            let said = format!("{}{}", ran.out, ran.err);
            assert!(!said.contains(is_obeyed), "{arguments} -o {format}: {said:?}");
            if format == "json" && !ran.out.is_empty() {
                ran.json();
            }
        }
    }
    for format in ["sarif", "github"] {
        let ran = company.kalypso(&format!("check -o {format}"));
        assert!(!ran.out.contains(is_obeyed), "{:?}", ran.out);
    }
    let ran = Ran::new(company.command().args(["plan", "-e", bad]));
    assert!(!ran.err.contains(is_obeyed), "{:?}", ran.err);
    let ran = Ran::new(company.command().args(["plan", "-e", "dev", bad]));
    assert!(!ran.err.contains(is_obeyed), "{:?}", ran.err);
}
