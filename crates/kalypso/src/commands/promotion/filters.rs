//! The filters of `kalypso rollout status` without a subject.

use std::collections::BTreeSet;

use hub_api::promotions::{PromotionStatus, SubjectKind};
use model::similar;

use crate::arguments::{Filtering, HostFiltering, RolloutStatus};
use crate::exit::Failure;
use crate::terminal;

/// Refuses filters that are about the hosts of a rollout.
pub(super) fn check(options: &RolloutStatus) -> Result<(), Failure> {
    let Filtering { workspace, application, target, cluster_type, target_selector, .. } = &options.filter;
    let HostFiltering { host, selector } = &options.hosts;
    let of_hosts = [
        ("--workspace", workspace),
        ("--application", application),
        ("--target", target),
        ("--cluster-type", cluster_type),
        ("--target-selector", target_selector),
        ("--host", host),
        ("--selector", selector),
        ("--status", &options.status),
    ];
    let Some((name, _)) = of_hosts.into_iter().find(|(_, given)| given.is_some()) else { return Ok(()) };
    let message = format!("`{name}` is about the hosts of a workload, a version or a commit, and none is named");
    Err(Failure::refused(message).help(format!(
        "`kalypso rollout status WORKLOAD {name} …`; for all promotions, there are `-e` and `--workload`"
    )))
}

/// The promotions of one workload.
///
/// # Errors
/// If no environment has it.
pub(super) fn of_workload(mut graph: Vec<PromotionStatus>, workload: &str) -> Result<Vec<PromotionStatus>, Failure> {
    for one in &mut graph {
        one.subjects.retain(|subject| matches!(subject.kind, SubjectKind::Release | SubjectKind::Workload));
    }
    let subjects = graph.iter().flat_map(|one| &one.subjects);
    let known: BTreeSet<String> = subjects.filter_map(|subject| subject.subject.clone()).collect();
    if !known.contains(workload) {
        let unknown = Failure::refused(format!("no promotion is about a workload `{workload}`"));
        return Err(match similar::nearest(workload, known.iter().map(String::as_str)) {
            Some(nearest) => unknown.help(format!("did you mean `{nearest}`?")),
            None if known.is_empty() => unknown,
            None => {
                let known: Vec<_> = known.into_iter().collect();
                unknown.help(format!("there are promotions of {}", terminal::named(&known)))
            }
        });
    }
    for one in &mut graph {
        one.subjects.retain(|subject| subject.is_of_workload(workload));
    }
    graph.retain(|one| !one.subjects.is_empty());
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use hub_api::promotions::SubjectStatus;

    use super::*;

    fn graph() -> Vec<PromotionStatus> {
        let subjects = |names: &[&str]| {
            names.iter().map(|name| SubjectStatus::new(Some(name), SubjectKind::Release)).collect::<Vec<_>>()
        };
        vec![
            super::super::subject::tests::status("stage", subjects(&["checkout", "search"])),
            super::super::subject::tests::status("prod", subjects(&["search"])),
        ]
    }

    #[test]
    fn a_workload_is_the_only_subject_that_is_shown() {
        let found = of_workload(graph(), "checkout").unwrap();
        let [stage] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((&*stage.environment, stage.subjects.len()), ("stage", 1));
        assert_eq!(of_workload(graph(), "search").unwrap().len(), 2);
    }

    #[test]
    fn values_and_applications_with_the_name_of_a_workload_are_left_out() {
        let mut graph = graph();
        graph[1].subjects.push(SubjectStatus::new(Some("checkout"), SubjectKind::Values));
        assert_eq!(of_workload(graph, "checkout").unwrap().len(), 1);
    }

    #[test]
    fn a_misspelled_workload_is_refused_with_the_nearest_name() {
        let refused = of_workload(graph(), "chekcout").unwrap_err();
        assert!(format!("{refused:?}").contains("did you mean `checkout`?"), "{refused:?}");
        let other = of_workload(graph(), "zebra").unwrap_err();
        assert!(format!("{other:?}").matches("search").count() == 1, "{other:?}");
        assert!(of_workload(Vec::new(), "x").is_err());
    }
}
