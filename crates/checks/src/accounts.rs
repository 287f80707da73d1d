//! Accounts on git hosts: who belongs to a team, who acts over the API, and whose commit statuses count.

use std::collections::{BTreeMap, BTreeSet};

/// The accounts that the configuration names. On Azure DevOps, an account is the id of an identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// The members of each team.
    pub teams: BTreeMap<String, BTreeSet<String>>,
    /// The account of each identity of the API: of the name of a token, or of the subject of an identity provider.
    pub identities: BTreeMap<String, String>,
    /// The accounts whose commit statuses prove a commit.
    pub status_reporters: BTreeSet<String>,
}

impl Accounts {
    /// The account of an identity of the API. None: the identity has none, so it can't approve.
    pub fn of_identity(&self, identity: &str) -> Option<&str> {
        self.identities.get(identity).map(String::as_str)
    }

    /// Whether an account is a member of a team. None: the configuration has no such team.
    pub fn is_member(&self, team: &str, account: &str) -> Option<bool> {
        self.teams.get(team).map(|members| members.contains(account))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_accounts_count() {
        let accounts = Accounts {
            teams: [("managers".to_owned(), ["ana".to_owned()].into())].into(),
            identities: [("ana-token".to_owned(), "ana".to_owned())].into(),
            ..Accounts::default()
        };
        assert_eq!([accounts.of_identity("ana-token"), accounts.of_identity("ana")], [Some("ana"), None]);
        let is_member = [("managers", "ana"), ("managers", "bo"), ("owners", "ana")]
            .map(|(team, account)| accounts.is_member(team, account));
        assert_eq!(is_member, [Some(true), Some(false), None]);
    }
}
