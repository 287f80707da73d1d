//! What pages know of a dimension of counts: its words, its groups as filters, and the dimension that divides it further.

use hub_api::counts::{CountDimension, CountGroup};
use hub_api::filter::Filter;
use model::rollout::ReconcilerState;
use model::selector::LabelSelector;

/// A filter with the condition that a dimension has a value. None: no filter says that.
pub(crate) fn narrowed(filter: &Filter, dimension: &CountDimension, value: Option<&str>) -> Option<Filter> {
    let own = value.map(str::to_owned);
    let filter = filter.clone();
    match dimension {
        CountDimension::HostLabel(key) => {
            Some(Filter { selector: Some(with_label(filter.selector.as_deref(), key, value)?), ..filter })
        }
        CountDimension::TargetLabel(key) => {
            Some(Filter { target_selector: Some(with_label(filter.target_selector.as_deref(), key, value)?), ..filter })
        }
        _ if own.is_none() => None,
        CountDimension::Environment => Some(Filter { environment: own, ..filter }),
        CountDimension::Workspace => Some(Filter { workspace: own, ..filter }),
        CountDimension::Workload => Some(Filter { workload: own, ..filter }),
        CountDimension::Target => Some(Filter { target: own, ..filter }),
        CountDimension::ClusterType => Some(Filter { cluster_type: own, ..filter }),
        CountDimension::State => Some(Filter { status: own, ..filter }),
        CountDimension::Host => Some(Filter { host: own, ..filter }),
        CountDimension::Version | CountDimension::ConfigVersion => None,
    }
}

/// A selector with the condition that a label has a value, or is missing. None: a selector can't say that of this value, which may be any text.
fn with_label(selector: Option<&str>, key: &str, value: Option<&str>) -> Option<String> {
    let condition = value.map_or_else(|| format!("!{key}"), |value| format!("{key}={value}"));
    let parsed = LabelSelector::parse(&condition).ok()?;
    let is_one = matches!(parsed.requirements.as_slice(), [one] if &*one.key == key);
    is_one.then(|| selector.into_iter().chain([condition.as_str()]).collect::<Vec<_>>().join(","))
}

/// The dimension that divides a group of another one further. None: it is the list of its reconcilers.
pub(crate) fn finer(dimension: &CountDimension) -> Option<CountDimension> {
    match dimension {
        CountDimension::Environment | CountDimension::Workspace => Some(CountDimension::Workload),
        CountDimension::Workload | CountDimension::TargetLabel(_) => Some(CountDimension::Target),
        CountDimension::HostLabel(_) | CountDimension::Version | CountDimension::ConfigVersion => {
            Some(CountDimension::ClusterType)
        }
        CountDimension::Target | CountDimension::ClusterType => Some(CountDimension::Host),
        CountDimension::Host | CountDimension::State => None,
    }
}

/// A dimension in words, for headings.
pub(super) fn words(dimension: &CountDimension) -> String {
    match dimension {
        CountDimension::Environment => "environment".to_owned(),
        CountDimension::Workspace => "workspace".to_owned(),
        CountDimension::Workload => "workload".to_owned(),
        CountDimension::Target => "target".to_owned(),
        CountDimension::ClusterType => "cluster type".to_owned(),
        CountDimension::Version => "version".to_owned(),
        CountDimension::ConfigVersion => "configuration".to_owned(),
        CountDimension::State => "state".to_owned(),
        CountDimension::Host => "host".to_owned(),
        CountDimension::HostLabel(key) => format!("host label {key}"),
        CountDimension::TargetLabel(key) => format!("target label {key}"),
    }
}

/// The name of a group.
pub(super) fn name(dimension: &CountDimension, group: &CountGroup) -> String {
    match (&group.value, dimension) {
        (Some(value), CountDimension::State) => {
            ReconcilerState::parse(value).map_or(value.as_str(), |state| state.words()).to_owned()
        }
        (Some(value), _) => value.clone(),
        (None, CountDimension::ClusterType) => "manifests of workloads".to_owned(),
        (None, CountDimension::Workspace | CountDimension::Workload | CountDimension::Target) => {
            "folders of whole clusters".to_owned()
        }
        (None, dimension) => format!("no {}", words(dimension)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_added_to_a_selector() {
        let filter = Filter { selector: Some("ring=1".into()), ..Filter::default() };
        let region = CountDimension::HostLabel("region".into());
        let check = |value: Option<&str>, expected: &str| {
            let narrowed = narrowed(&filter, &region, value).unwrap();
            assert_eq!(narrowed.selector.as_deref(), Some(expected));
        };
        check(Some("west"), "ring=1,region=west");
        check(None, "ring=1,!region");
        // A host may report any text as the value of a label.
        for value in ["a,b=c", "a b", "in (a)", "\""] {
            assert_eq!(narrowed(&filter, &region, Some(value)), None, "{value:?}");
        }
        assert_eq!(narrowed(&filter, &CountDimension::Workload, None), None);
        assert_eq!(narrowed(&filter, &CountDimension::Version, Some("1")), None);
    }

    #[test]
    fn drilling_ends_at_hosts() {
        for dimension in CountDimension::NAMED {
            let mut dimension = Some(dimension);
            for _ in 0..4 {
                dimension = dimension.as_ref().and_then(finer);
            }
            assert_eq!(dimension, None);
        }
    }
}
