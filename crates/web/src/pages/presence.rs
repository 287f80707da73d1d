//! The environments in which a workload or a cluster type is, with the states of its reconcilers there.

use std::borrow::Cow;

use hub_api::client::ClientError;
use hub_api::counts::{CountDimension, CountQuery};
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::limits::COUNT_GROUPS_MAX;
use model::rollout::Counts;

use crate::address::Address;
use crate::conditions::filtered;
use crate::part::{Cell, Row, Share, Table};
use crate::visit::Visit;

/// The environments in which something is.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    /// The environments, those that need attention first.
    pub(super) environments: Vec<(String, Counts)>,
    /// The number of environments that are not listed.
    pub(super) more: usize,
    /// The reconcilers in all environments.
    pub(super) total: Counts,
}

impl Presence {
    /// Where the reconcilers of a filter are.
    pub(super) async fn read(visit: &Visit, filter: &Filter) -> Result<Self, ClientError> {
        let by_environment = CountQuery::by(CountDimension::Environment);
        let query = CountQuery { at: visit.at, row_limit: Some(COUNT_GROUPS_MAX), ..by_environment };
        let table = visit.api.counts(filter, &query).await?;
        let more = table.row_count.saturating_sub(table.rows.len());
        let named = table.rows.into_iter().filter_map(|group| Some((group.value?, group.counts)));
        Ok(Self { environments: named.collect(), more, total: table.total })
    }

    /// The same with the environments of targets: no reconciler may be expected there yet.
    #[must_use]
    pub(super) fn with_targets(mut self, targets: &[EnvironmentTarget]) -> Self {
        for target in targets {
            if self.more == 0 && self.environments.iter().all(|(name, _)| *name != target.environment) {
                self.environments.push((target.environment.clone(), Counts::default()));
            }
        }
        self
    }

    /// The only environment. None: there are several, or none.
    pub(super) fn only(&self) -> Option<&str> {
        match self.environments.as_slice() {
            [(name, _)] if self.more == 0 => Some(name),
            _ => None,
        }
    }

    /// One row for each environment. `links` are its pages: the first one is that of its name.
    pub(super) fn table(
        &self,
        visit: &Visit,
        filter: &Filter,
        links: impl Fn(&str) -> Vec<(&'static str, Address)>,
    ) -> Table {
        let row = |(name, counts): &(String, Counts)| {
            let here = Filter { environment: Some(name.clone()), ..filter.clone() };
            let hosts = filtered(visit.to(["deployments"]), &here);
            let mut cells = vec![Cell::Share(Share::new(*counts, Some(&hosts)))];
            let pages = links(name).into_iter().enumerate();
            cells.extend(pages.map(|(at, (label, to))| Cell::link(if at == 0 { name } else { label }, &to)));
            Row { key: name.clone(), cells }
        };
        let labels = self.environments.first().map(|(name, _)| links(name)).unwrap_or_default();
        let columns = std::iter::once("As desired").chain(labels.into_iter().map(|(label, _)| label));
        Table {
            caption: "Environments".to_owned(),
            columns: columns.map(Cow::Borrowed).collect(),
            rows: self.environments.iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_api::publication::Role;

    use super::*;

    fn target(environment: &str) -> EnvironmentTarget {
        EnvironmentTarget {
            environment: environment.to_owned(),
            cluster_type: None,
            role: Role::Application,
            target: None,
            version: None,
            config_version: None,
            commit: None,
            desired_since: None,
            counts: None,
        }
    }

    #[test]
    fn environments_without_reconcilers_are_there_once() {
        let stage = Presence { environments: vec![("stage".into(), Counts::default())], ..Presence::default() };
        assert_eq!(stage.only(), Some("stage"));
        let both = stage.clone().with_targets(&[target("prod"), target("stage"), target("prod")]);
        let names: Vec<_> = both.environments.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, both.only()), (vec!["stage", "prod"], None));
        // If there are more than are listed, a target may be in one of these.
        let more = Presence { more: 1, ..stage }.with_targets(&[target("prod")]);
        assert_eq!((more.environments.len(), more.only()), (1, None));
    }
}
