//! The permissions of tokens.

use std::sync::Arc;

use hub_api::report::{Report, ReportError};
use hub_api::tokens::{Act, Group, Scope};

use crate::ingest::speaker::{Speaker, is_below};

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name for logs and answers: the token's name, or the subject of an OIDC issuer.
    pub name: String,
    /// The permissions of the caller for everything but decisions.
    pub scope: Scope,
    /// All permissions of the caller for decisions. A user of an identity provider may have several.
    pub grants: Vec<Scope>,
}

impl Identity {
    /// A caller with these permissions.
    pub fn new(name: impl Into<String>, scope: Scope) -> Self {
        Self { name: name.into(), grants: vec![scope.clone()], scope }
    }

    /// A caller with several permissions. What is asked for is answered within the widest of them: without limits if one of them has none, or else within the first
    /// one. None: there is no permission.
    pub fn of_grants(name: &str, grants: Vec<Scope>) -> Option<Self> {
        let width = |scope: &&Scope| (scope.reach().is_all(), scope.act());
        let first = grants.first()?;
        let scope = grants.iter().filter(|scope| scope.reach().is_all()).max_by_key(width).unwrap_or(first).clone();
        Some(Self { name: name.to_owned(), scope, grants })
    }

    /// Whether the caller may do something about an environment. `workspaces` are those of what it is about; empty: it is about more than workloads.
    pub fn may(&self, act: Act, environment: &str, workspaces: &[String]) -> bool {
        self.grants.iter().filter(|scope| scope.may(act)).any(|scope| {
            let reach = scope.reach();
            reach.has_environment(environment) && reach.has_workspaces(workspaces)
        })
    }

    /// Whether the caller may do something about everything.
    pub fn may_everywhere(&self, act: Act) -> bool {
        self.grants.iter().any(|scope| scope.may(act) && scope.reach().is_all())
    }

    /// Whether the caller may do something about anything.
    pub fn may_somewhere(&self, act: Act) -> bool {
        self.grants.iter().any(|scope| scope.may(act))
    }

    /// Whether the caller may read.
    pub fn may_read(&self) -> bool {
        self.scope.may(Act::Read)
    }

    /// Whether the caller may read everything.
    pub fn may_read_all(&self) -> bool {
        self.may_read() && self.scope.reach().is_all()
    }

    /// Whether the caller may report anything.
    pub fn may_report(&self) -> bool {
        self.scope.may_report()
    }

    /// The hosts that the caller speaks for; none if it speaks for the whole platform.
    pub(crate) fn speaker(&self) -> Option<Arc<Speaker>> {
        let (is_shared, places) = match &self.scope {
            Scope::Host(host) => (false, &host.places),
            Scope::Group(group) => (true, &group.places),
            _ => return None,
        };
        let (token, places) = (self.name.clone(), places.clone());
        Some(Arc::new(Speaker { token, is_shared, places, environments: self.scope.environments().to_vec() }))
    }

    /// Whether the caller may publish desired content.
    pub fn may_publish(&self) -> bool {
        matches!(self.scope, Scope::Publish(_) | Scope::Admin)
    }

    /// Whether the caller may manage tokens and hosts.
    pub fn may_manage(&self) -> bool {
        matches!(self.scope, Scope::Manage | Scope::Admin)
    }

    /// Whether the caller may change all other data of the hub.
    pub fn may_administer(&self) -> bool {
        self.scope == Scope::Admin
    }
}

/// Applies the permissions of an identity to its report. With a token of one host, the host of the report is always the host of the token.
///
/// # Errors
/// The identity may not send this report.
pub fn claim(identity: &Identity, mut report: Report) -> Result<Report, ReportError> {
    match &identity.scope {
        Scope::Host(scope) => report.host.clone_from(&scope.host),
        Scope::Group(group) => {
            check(group, &report)?;
            report.labels.extend(group.labels.clone());
        }
        Scope::Admin => {}
        Scope::Manage => {
            return Err(ReportError::new("host", "this token is for managing tokens and hosts, not for reporting"));
        }
        Scope::Publish(_) => return Err(ReportError::new("host", "this token is for publications, not for reporting")),
        Scope::Read(_) | Scope::Approver(_) | Scope::Operator(_) => {
            return Err(ReportError::new("host", "this token has the permission to read, not to report"));
        }
    }
    Ok(report)
}

/// Refuses a report about a host or place outside of the group.
fn check(group: &Group, report: &Report) -> Result<(), ReportError> {
    if !matches_pattern(&group.hosts, &report.host) {
        let message = format!("`{}` is not one of the hosts of this token, `{}`", report.host, group.hosts);
        return Err(ReportError::new("host", message));
    }
    if !group.reconciler_types.is_empty() && !group.reconciler_types.contains(&report.kind) {
        let types = group.reconciler_types.join(", ");
        let message = format!("`{}` is not one of the reconciler types of this token: {types}", report.kind);
        return Err(ReportError::new("type", message));
    }
    let endpoint = report.endpoint.as_ref().map(ToString::to_string);
    let is_under = |prefix: &String| endpoint.as_deref().is_some_and(|endpoint| is_below(endpoint, prefix));
    if !group.places.is_empty() && !group.places.iter().any(is_under) {
        let message = format!("the report names no place below those of this token: {}", group.places.join(", "));
        return Err(ReportError::new("place", message));
    }
    Ok(())
}

/// Whether a name matches a pattern. The running time is at most proportional to the product of their lengths, which are limited.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece).and_then(|start| rest.get(start + piece.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hub_api::tokens::Reach;

    use super::*;
    use hub_api::report::example::report;

    fn check(group: Group, change: impl FnOnce(&mut Report)) -> String {
        let mut report = report();
        change(&mut report);
        let identity = Identity::new("t", Scope::Group(group));
        claim(&identity, report).map_or_else(|error| error.field, |report| report.host)
    }

    fn group(hosts: &str) -> Group {
        Group { hosts: hosts.into(), ..Group::default() }
    }

    #[test]
    fn token_decides_the_host_name() {
        let identity = Identity::new("t", Scope::host("berlin"));
        assert_eq!(claim(&identity, report()).unwrap().host, "berlin");
        let reader = Identity::new("t", Scope::Read(Reach::ALL));
        assert_eq!(claim(&reader, report()).unwrap_err().field, "host");
    }

    #[test]
    fn a_group_is_the_hosts_of_a_pattern() {
        assert_eq!(check(group("chicago-*"), |_| ()), "chicago-edge-04");
        for pattern in ["*", "chicago-edge-04", "*edge*", "c*-*-04", "*04", "**"] {
            assert!(matches_pattern(pattern, "chicago-edge-04"), "{pattern}");
        }
        for pattern in ["", "chicago", "berlin-*", "*edge", "chicago-edge-04*04", "%", "chicago-edge-0_", "chicago-?"] {
            assert!(!matches_pattern(pattern, "chicago-edge-04"), "{pattern}");
        }
        assert_eq!(check(group("berlin-*"), |_| ()), "host");
    }

    #[test]
    fn a_group_may_be_limited_to_types_and_places() {
        let types = Group { reconciler_types: vec!["argocd".into()], ..group("*") };
        assert_eq!(check(types.clone(), |_| ()), "type");
        assert_eq!(check(types, |report| report.kind = "argocd".into()), "chicago-edge-04");
        let places = |prefix: &str| Group { places: vec![prefix.into()], ..group("*") };
        assert_eq!(check(places("https://git.example/acme/gitops/prod"), |_| ()), "chicago-edge-04");
        assert_eq!(check(places("https://git.example/acme/gitops/prod"), |report| report.endpoint = None), "place");
        assert_eq!(check(places("https://git.example/acme/gitops/pro"), |_| ()), "place");
    }

    #[test]
    fn labels_of_a_group_win() {
        let labels = BTreeMap::from([("site".to_owned(), "chicago".to_owned())]);
        let identity = Identity::new("t", Scope::Group(Group { labels: labels.clone(), ..group("*") }));
        let mut report = report();
        report.labels.insert("site".into(), "berlin".into());
        assert_eq!(claim(&identity, report).unwrap().labels, labels);
    }

    #[test]
    fn several_permissions_are_not_mixed() {
        let reach = |environment: &str| Reach { environments: vec![environment.into()], ..Reach::ALL };
        let grants = vec![Scope::Operator(reach("dev")), Scope::Approver(reach("prod"))];
        let ada = Identity::of_grants("ada", grants.clone()).unwrap();
        assert!(ada.may(Act::Operate, "dev", &[]) && ada.may(Act::Approve, "prod", &[]));
        assert!(!ada.may(Act::Operate, "prod", &[]) && !ada.may_everywhere(Act::Approve));
        assert_eq!(ada.scope, grants[0]);
        let grants = [grants, vec![Scope::Read(Reach::ALL)]].concat();
        let ada = Identity::of_grants("ada", grants).unwrap();
        assert!(ada.may_read_all() && !ada.may(Act::Approve, "stage", &[]));
        assert_eq!(Identity::of_grants("ada", Vec::new()), None);
    }

    #[test]
    fn workspaces_limit_decisions_to_their_workloads() {
        let reach = Reach { workspaces: vec!["shop".into()], ..Reach::ALL };
        let shop = Identity::new("t", Scope::Operator(reach));
        let own = ["shop".to_owned()];
        let both = ["shop".to_owned(), "web".to_owned()];
        assert!(shop.may(Act::Operate, "prod", &own));
        assert!(!shop.may(Act::Operate, "prod", &both) && !shop.may(Act::Operate, "prod", &[]));
    }
}
