//! Who may publish past the gates, and by whose account an override is recorded.

use std::collections::BTreeSet;

use delivery::access::RepositoryAccess;
use git::Person;
use git::publish::AUTHOR_EMAIL;
use hub_api::tokens::{Caller, Scope};
use workbench::branch;

use crate::configuration::Settings;
use crate::exit::Failure;
use crate::hub_client::Hub;
use crate::terminal;

/// The person who overrides.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OverrideAuthor {
    /// The account, or the git author with `(not proved)`.
    pub(super) account: String,
    /// The author of the commit with the decision.
    pub(super) author: Person,
}

/// What proves the person: the hub comes before the git host.
enum Proof {
    /// The hub knows the token.
    Hub(Caller),
    /// The git host of the control plane knows the credential.
    Host { host: &'static str, account: String },
    /// Neither of them is configured. The git author is what the machine says.
    None(Person),
}

/// Why a person may not override.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum OverrideRefusal {
    /// The token is no administrator's.
    #[error("the hub's token `{0}` may not override gates: that needs the role admin")]
    NotAdministrator(String),
    /// The account of the credential is not listed.
    #[error("the account `{account}` of the {host} credential may not override gates")]
    NotListed {
        /// The account.
        account: String,
        /// The kind of the git host.
        host: &'static str,
    },
}

impl OverrideRefusal {
    fn failure(&self) -> Failure {
        let list = |name: &str| format!("`promotion.override-accounts = [\"{name}\"]` in kalypso.toml");
        let help = match self {
            Self::NotAdministrator(name) => format!(
                "use a token that `kalypso hub token create NAME --role admin` makes, or list this one: {}",
                list(name)
            ),
            Self::NotListed { account, .. } => format!("list it: {}", list(account)),
        };
        Failure::refused(self.to_string()).help(help)
    }
}

/// The person who overrides, as far as the hub or the git host of the control plane proves it.
///
/// # Errors
/// If this person may not override, or the hub or the host can't be asked.
pub(super) fn override_author(
    settings: &Settings,
    access: &RepositoryAccess,
    hub: Option<&Hub>,
) -> anyhow::Result<OverrideAuthor> {
    let listed = settings.override_accounts();
    let proof = proof(settings, access, hub)?;
    if let Proof::None(author) = &proof {
        terminal::warn(&format!("nothing proves that {author} overrides: no hub and no git host is configured"));
    }
    Ok(decide(proof, &listed).map_err(|refusal| refusal.failure())?)
}

fn proof(settings: &Settings, access: &RepositoryAccess, hub: Option<&Hub>) -> anyhow::Result<Proof> {
    if let Some(hub) = hub {
        return Ok(Proof::Hub(hub.ask(hub.client.caller())?));
    }
    let none = || Proof::None(branch::author(&access.settings.git));
    // The git host of the demo runs only with the demo, and its company trusts all of its accounts.
    if settings.demo()?.is_some() {
        return Ok(none());
    }
    let hosts = settings.hosts()?.for_deliveries();
    let found = hosts.as_ref().and_then(|hosts| hosts.find(access.settings.repo.as_str()));
    let Some((configured, repository)) = found.filter(|(host, _)| host.has_pull_requests()) else { return Ok(none()) };
    let account = configured.host.account(&repository);
    let account = account.map_err(|error| {
        Failure::outside(format!("the git host does not name the account of the credential: {error}"))
            .help("an override needs the account, which `promotion.override-accounts` lists")
    })?;
    Ok(Proof::Host { host: configured.host.kind().title(), account })
}

/// Whether the person may override. Administrators of the hub may, and the listed accounts that the hub or the git host proves.
fn decide(proof: Proof, listed: &BTreeSet<String>) -> Result<OverrideAuthor, OverrideRefusal> {
    let is_listed = |account: &str| listed.iter().any(|listed| listed.to_lowercase() == account.to_lowercase());
    let account = match proof {
        Proof::Hub(Caller { name, scope }) if scope == Scope::Admin || is_listed(&name) => name,
        Proof::Hub(Caller { name, .. }) => return Err(OverrideRefusal::NotAdministrator(name)),
        Proof::Host { account, .. } if is_listed(&account) => account,
        Proof::Host { host, account } => return Err(OverrideRefusal::NotListed { account, host }),
        Proof::None(author) => return Ok(OverrideAuthor { account: format!("{author} (not proved)"), author }),
    };
    let author = Person { name: account.clone(), email: AUTHOR_EMAIL.to_owned() };
    Ok(OverrideAuthor { account, author })
}

#[cfg(test)]
mod tests {
    use hub_api::tokens::Reach;

    use super::*;

    fn check(proof: Proof) -> String {
        match decide(proof, &["olga".to_owned(), "ci".to_owned()].into()) {
            Ok(found) => found.account,
            Err(refusal) => refusal.to_string(),
        }
    }

    fn hub(name: &str, scope: Scope) -> Proof {
        Proof::Hub(Caller { name: name.to_owned(), scope })
    }

    fn host(account: &str) -> Proof {
        Proof::Host { host: "GitHub", account: account.to_owned() }
    }

    #[test]
    fn administrators_and_listed_accounts_may_override() {
        let publish = || Scope::Publish(Reach::ALL);
        assert_eq!(check(hub("ada", Scope::Admin)), "ada");
        assert_eq!(check(hub("ci", publish())), "ci");
        let refused = "the hub's token `eve` may not override gates: that needs the role admin";
        assert_eq!(check(hub("eve", publish())), refused);
        assert_eq!(check(host("Olga")), "Olga");
        assert_eq!(check(host("eve")), "the account `eve` of the GitHub credential may not override gates");
    }

    #[test]
    fn without_hub_and_host_the_git_author_is_recorded_as_not_proved() {
        let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        assert_eq!(check(Proof::None(author)), "Ann <ann@example.com> (not proved)");
    }
}
