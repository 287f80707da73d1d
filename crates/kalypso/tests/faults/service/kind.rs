//! What differs between the kinds of git hosts: addresses, and the targets of requests.

use git_host::double::Exchange;
use git_host::{HostKind, HostRepository};
pub(crate) use testkit::company::PAGES;

use crate::company::HOST;

/// The base of the URLs of the company's repositories.
pub(crate) fn repositories_url(kind: HostKind) -> &'static str {
    match kind {
        HostKind::GitLab => "https://git.example/acme/team/",
        HostKind::AzureDevOps => "https://git.example/acme/fleet/_git/",
        _ => HOST,
    }
}

/// The path by which the API names a repository.
pub(crate) fn repository_path(kind: HostKind, name: &str) -> String {
    let url = format!("{}{name}", repositories_url(kind));
    HostRepository::parse(kind, &url, PAGES).unwrap().to_string()
}

/// The URL of a repository as webhooks contain it.
pub(crate) fn webhook_repository_url(kind: HostKind, name: &str) -> String {
    let url = format!("{}{name}", repositories_url(kind));
    match kind {
        // With the organization as the user, as the command to clone shows it.
        HostKind::AzureDevOps => url.replacen("https://", "https://acme@", 1),
        _ => format!("{url}.git"),
    }
}

/// The path of the API from the root of the host.
pub(crate) fn api_path(kind: HostKind) -> &'static str {
    match kind {
        HostKind::GitHub => "/api/v3",
        HostKind::GitLab => "/api/v4",
        HostKind::Gitea => "/api/v1",
        HostKind::AzureDevOps | HostKind::Git => "",
    }
}

/// Parts of the targets of requests: all, pull requests, issues, labels, and commit statuses.
pub(crate) fn targets(kind: HostKind) -> [&'static str; 5] {
    match kind {
        HostKind::GitLab => ["", "merge_requests", "issues", "labels", "statuses"],
        HostKind::AzureDevOps => ["", "pullrequests", "workitems", "labels", "statuses"],
        _ => ["", "pulls", "issues", "labels", "statuses"],
    }
}

/// Whether a request makes something. Setting the status of a commit again does not. Azure DevOps reads the results of a query with POST.
pub(crate) fn makes_something(exchange: &Exchange) -> bool {
    let target = exchange.target.as_str();
    exchange.method == "POST" && !target.contains("/statuses") && !target.contains("/wit/wiql")
}
