//! The repository of an event, in all forms in which a source may name it.

use std::collections::BTreeSet;
use std::fmt;

use crate::kind::HostKind;
use crate::repository::{HostRepository, Location, is_ssh};
use crate::settings::usual_url;

/// The repository that an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRepository {
    /// Its URLs, as the host writes them. They begin with the address that the host has in its own configuration.
    pub urls: Vec<String>,
    /// Its path on the host. None if neither a field of the event nor a URL contains it.
    pub path: Option<HostRepository>,
}

/// The host that sent an event, as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The kind.
    pub kind: HostKind,
    /// The addresses of the hosts whose secret the event has. They may have the same secret.
    pub roots: Vec<String>,
    /// The addresses of all other hosts.
    pub others: Vec<String>,
}

/// Finds the URLs that name the repository of an event.
#[derive(Debug)]
pub struct RepositoryMatcher<'s> {
    sender: &'s Sender,
    locations: BTreeSet<Location>,
    path: Option<HostRepository>,
}

impl EventRepository {
    /// A repository with URLs, and with the path in a field of the event.
    pub(super) fn new(kind: HostKind, urls: [Option<String>; 3], path: Option<HostRepository>) -> Self {
        let urls: Vec<_> = urls.into_iter().flatten().collect();
        let path = path.or_else(|| urls.iter().find_map(|url| HostRepository::without_root(kind, url)));
        Self { urls, path }
    }

    /// The matcher for the URLs of this repository.
    pub fn matcher<'s>(&self, sender: &'s Sender) -> RepositoryMatcher<'s> {
        let locations = self.urls.iter().filter_map(|url| Location::parse(url)).collect();
        RepositoryMatcher { sender, locations, path: self.path.as_ref().map(HostRepository::folded) }
    }
}

/// Writes the path, or a URL.
impl fmt::Display for EventRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.urls.first()) {
            (Some(path), _) => path.fmt(formatter),
            (None, Some(url)) => formatter.write_str(&model::credential::without_in_url(url)),
            (None, None) => formatter.write_str("a repository without a name"),
        }
    }
}

impl RepositoryMatcher<'_> {
    /// Whether a URL names the repository: it is one of the URLs of the event, or has the same path on the host that sent the event. Neither the protocol, the
    /// user, the port nor upper and lower case matter. Git over ssh often has another host name, so an ssh URL counts unless it is on another configured host.
    pub fn is_match(&self, url: &str) -> bool {
        let Some(location) = Location::parse(url) else { return false };
        if self.locations.contains(&location) {
            return true;
        }
        let Sender { kind, roots, others } = self.sender;
        let usual = usual_url(url);
        let at = |root: &String| Some(HostRepository::at(*kind, url, root, usual.as_deref())?.folded());
        let is_elsewhere = || others.iter().any(|root| Location::name(root).as_deref() == Some(location.host()));
        let over_ssh = || HostRepository::without_root(*kind, url).filter(|_| is_ssh(url) && !is_elsewhere());
        let mut found = roots.iter().filter_map(at).chain(over_ssh().map(|found| found.folded()));
        found.any(|found| Some(&found) == self.path.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The repository of an event with these URLs and this path.
    fn repository(kind: HostKind, urls: &[&str], path: &str) -> EventRepository {
        let urls = [0, 1, 2].map(|at| urls.get(at).map(|url| (*url).to_owned()));
        let path: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
        let path = (!path.is_empty()).then(|| HostRepository::from_path(&path));
        EventRepository::new(kind, urls, path)
    }

    fn sender(kind: HostKind, root: &str, others: &[&str]) -> Sender {
        Sender { kind, roots: vec![root.to_owned()], others: others.iter().map(|other| (*other).to_owned()).collect() }
    }

    /// Checks which of the URLs name a repository.
    fn check(repository: &EventRepository, sender: &Sender, found: &[&str], not_found: &[&str]) {
        let matcher = repository.matcher(sender);
        found.iter().for_each(|url| assert!(matcher.is_match(url), "{url} is not found"));
        not_found.iter().for_each(|url| assert!(!matcher.is_match(url), "{url} is found"));
    }

    #[test]
    fn the_address_in_the_configuration_of_the_host_does_not_matter() {
        check(
            &repository(
                HostKind::Gitea,
                &["http://gitea:3000/Acme/Fleet.git", "ssh://git@gitea:2222/Acme/Fleet.git"],
                "Acme/Fleet",
            ),
            &sender(HostKind::Gitea, "https://git.example", &["https://other.example"]),
            &[
                "https://git.example/acme/fleet",
                "https://GIT.example/acme/FLEET.git/",
                "https://git.example:3000/acme/fleet",
                "http://user@git.example/acme/fleet",
                "git@git.example:acme/fleet.git",
                "ssh://git@ssh.git.example:2222/acme/fleet.git",
                "http://gitea:3000/acme/fleet",
                "https://gitea/acme/fleet",
            ],
            &[
                "https://git.example/acme/fleet2",
                "https://git.example/acme2/fleet",
                "https://git.example/x/acme/fleet",
                "https://unknown.example/acme/fleet",
                "https://other.example/acme/fleet",
                "git@other.example:acme/fleet.git",
                "/srv/git/acme/fleet",
                "",
            ],
        );
    }

    #[test]
    fn hosts_below_a_path_are_compared_without_it() {
        check(
            &repository(HostKind::GitLab, &["http://localhost/acme/Team/fleet.git"], "acme/Team/fleet"),
            &sender(HostKind::GitLab, "https://git.example/gitlab", &[]),
            &["https://git.example/gitlab/acme/team/fleet.git", "git@git.example:acme/team/fleet.git"],
            &["https://git.example/acme/team/fleet", "https://git.example/gitlab/acme/fleet"],
        );
    }

    #[test]
    fn the_public_hosts_have_several_names() {
        check(
            &repository(HostKind::GitHub, &["https://github.com/acme/fleet.git"], ""),
            &sender(HostKind::GitHub, "https://github.com", &[]),
            &["ssh://git@ssh.github.com:443/acme/fleet.git", "git@github.com:Acme/Fleet"],
            &["https://github.com/acme"],
        );
        check(
            &repository(HostKind::AzureDevOps, &["https://acme@dev.azure.com/acme/My%20fleet/_git/gitops"], ""),
            &sender(HostKind::AzureDevOps, "https://dev.azure.com", &[]),
            &[
                "https://acme.visualstudio.com/My%20Fleet/_git/GitOps",
                "https://acme.visualstudio.com/DefaultCollection/My%20fleet/_git/gitops",
                "git@ssh.dev.azure.com:v3/acme/My%20fleet/gitops",
                "https://dev.azure.com/ACME/my%20fleet/_git/gitops",
            ],
            &["https://dev.azure.com/acme/_git/gitops", "https://dev.azure.com/other/My%20fleet/_git/gitops"],
        );
    }
}
