//! Repositories over HTTP behind nginx with authentication, and a plain git server on which the service merges itself.

use testkit::nginx::Nginx;

use crate::company::{Company, Ran};
use crate::serving::{Serving, eventually};

const TOKEN: &str = "git-token-9f8e7d6c";

/// A company whose repositories are behind nginx.
fn behind_nginx(more: &str) -> (Company, Nginx) {
    let company = Company::new();
    let nginx = Nginx::start(&company.path("served"), ("x-access-token", TOKEN)).unwrap();
    let url = nginx.url();
    let credentials = format!("credentials = [{{ prefix = \"{url}\", token-env = \"GIT_TOKEN\" }}]\n{more}");
    company.configure(&url, &credentials);
    (company, nginx)
}

#[test]
fn output_is_published_through_nginx_with_the_right_token_only() {
    let (company, _nginx) = behind_nginx("");
    let run = |arguments: &str, token: &str| {
        let mut command = company.command();
        Ran::new(command.args(arguments.split_whitespace()).env("GIT_TOKEN", token))
    };
    run("publish -e dev", "wrong").ends(69).says(&["credentials"]);
    run("publish -e dev", TOKEN).ends(0).says(&["kalypso/dev", "2 assignments are added"]);
    run("publish -e dev --direct", TOKEN).ends(0).says(&["Published dev to dev"]);
    assert!(company.files("gitops", "dev").contains("west/shop-test/"));
}

#[test]
fn the_service_merges_itself_on_a_plain_git_server() {
    let host = "[host]\nkind = \"git\"\nauto-merge = true\n[service]\npoll = \"1s\"\nsettle = \"50ms\"\n";
    let (company, _nginx) = behind_nginx(host);
    let mut command = company.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "debug"]).env("GIT_TOKEN", TOKEN);
    let serving = Serving::start_command(&mut command);
    assert!(company.files("gitops", "dev").contains("west/shop-test/"));
    assert_eq!(company.head("gitops", "kalypso/dev"), None);
    let path = "configs/common.yaml";
    let text = company.file("control-plane", "dev", path);
    company.change("control-plane@dev", path, &text.replace("mysql://main/a", "mysql://main-2/a"));
    let before = company.head("gitops", "dev");
    eventually("the change", || (company.head("gitops", "dev") != before).then_some(()));

    // All removals of a workload wait for a person.
    let before = company.head("gitops", "dev");
    company.remove("shop", "main", "shop.yaml");
    let word = eventually("the word", || {
        let sync = serving.environment();
        sync["last"]["destinations"][0]["confirmation"].as_str().map(str::to_owned)
    });
    assert_eq!(company.head("gitops", "dev"), before);
    let confirm = |word: &str| {
        let mut command = company.command();
        command.args(["confirm", "dev", word, "--hub", &format!("http://{}", serving.program.address())]);
        Ran::new(&mut command)
    };
    assert_ne!(confirm("00000000").status, 0);
    confirm(&word).ends(0);
    eventually("the removal", || (company.head("gitops", "dev") != before).then_some(()));
}
