//! Refuses label selectors with labels that no host or target has. An empty answer would hide a spelling mistake.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use model::label::Labels;
use model::selector::{LabelSelector, Operator, Requirement};

use super::QuestionError;
use super::similar_names::{alike, similar};
use crate::store::{DatabaseError, HostId, Parameters, Transaction};

/// The maximum number of values that are compared with an unknown value.
const VALUES_COMPARED: i64 = 2_000;
/// The maximum number of existing values that an error names if none is similar.
const VALUES_SHOWN: usize = 3;

const HOST: &str = "host with label";
const HOSTS: &str = "host with labels";
const TARGET: &str = "deployment target with label";

/// Advice about an unknown object: where labels of hosts come from. None for other objects.
pub(crate) fn labels_hint(what: &str) -> Option<&'static str> {
    const HINT: &str = "the labels of a host come with its reports; to select by cluster type, name it in `--cluster-type` (`clusterType` over HTTP)";
    [HOST, HOSTS].contains(&what).then_some(HINT)
}

/// Checks that some host has each label that a selector requires.
///
/// # Errors
/// If none has; the database can't answer.
pub(super) async fn check_hosts(transaction: &mut Transaction, labels: &LabelSelector) -> Result<(), QuestionError> {
    for requirement in &labels.requirements {
        let key = &*requirement.key;
        let values = match &requirement.operator {
            Operator::In(values) => values.as_slice(),
            Operator::Exists => &[],
            Operator::NotIn(_) | Operator::DoesNotExist => continue,
        };
        let mut parameters = Parameters::new(transaction.dialect());
        let mut condition = parameters.equals("key", key);
        if !values.is_empty() {
            let values = values.iter().map(ToString::to_string).collect();
            let _ = write!(condition, " and {}", parameters.any_text("value", values));
        }
        let sql = format!("select 1 from host_label where {condition} limit 1");
        if transaction.exists(&sql, parameters.into_values()).await? {
            continue;
        }
        let has_key = transaction.exists("select 1 from host_label where key = $1 limit 1", vec![key.into()]).await?;
        return Err(match values.first().filter(|_| has_key) {
            Some(value) => of_value(HOST, requirement, similar_values(transaction, (key, value)).await?),
            None => of_key(HOST, key, similar(transaction, ("host_label", "key"), key).await?),
        });
    }
    Ok(())
}

/// Checks that a selector selects a host. Each of its labels exists. `hosts`: the selected hosts. None: they are many.
///
/// # Errors
/// If it selects none.
pub(super) fn check_selected(labels: &LabelSelector, hosts: Option<&Vec<HostId>>) -> Result<(), QuestionError> {
    match hosts {
        Some(hosts) if hosts.is_empty() && !labels.requirements.is_empty() => Err(of_all(HOSTS, labels)),
        _ => Ok(()),
    }
}

/// The error for a selector that selects none of some targets. None: the targets are none, or the selector only excludes labels.
pub(super) fn of_targets(labels: &LabelSelector, targets: &[Labels]) -> Option<QuestionError> {
    let required = |requirement: &&Requirement| matches!(requirement.operator, Operator::In(_) | Operator::Exists);
    let mut required = labels.requirements.iter().filter(required).peekable();
    if targets.is_empty() {
        return None;
    }
    required.peek()?;
    let Some(unmet) = required.find(|requirement| !targets.iter().any(|target| requirement.matches(target))) else {
        return Some(of_all("deployment target with labels", labels));
    };
    let key = &*unmet.key;
    let values: BTreeSet<&Arc<str>> = targets.iter().filter_map(|target| target.get(key)).collect();
    let nearest =
        |written: &str, known: BTreeSet<&Arc<str>>| ranked(written, known.into_iter().map(ToString::to_string));
    match &unmet.operator {
        Operator::In(chosen) if !values.is_empty() => {
            let similar = nearest(chosen.first().map_or("", |value| value), values);
            Some(of_value(TARGET, unmet, similar))
        }
        _ => {
            let keys = targets.iter().flat_map(Labels::iter).map(|(key, _)| key).collect();
            let mut similar = nearest(key, keys);
            similar.retain(|known| alike(key, known));
            Some(of_key(TARGET, key, similar))
        }
    }
}

fn of_key(what: &'static str, key: &str, similar: Vec<String>) -> QuestionError {
    QuestionError::Unknown { what, name: key.to_owned(), similar }
}

fn of_value(what: &'static str, requirement: &Requirement, similar: Vec<String>) -> QuestionError {
    let similar = similar.into_iter().map(|value| format!("{}={value}", requirement.key)).collect();
    QuestionError::Unknown { what, name: text(requirement), similar }
}

fn of_all(what: &'static str, labels: &LabelSelector) -> QuestionError {
    let name = labels.requirements.iter().map(text).collect::<Vec<_>>().join(",");
    QuestionError::Unknown { what, name, similar: Vec::new() }
}

/// A requirement as `kubectl -l` has it.
fn text(Requirement { key, operator }: &Requirement) -> String {
    match operator {
        Operator::In(values) => match values.as_slice() {
            [value] => format!("{key}={value}"),
            values => format!("{key} in ({})", values.join(",")),
        },
        Operator::NotIn(values) => match values.as_slice() {
            [value] => format!("{key}!={value}"),
            values => format!("{key} notin ({})", values.join(",")),
        },
        Operator::Exists => key.to_string(),
        Operator::DoesNotExist => format!("!{key}"),
    }
}

/// The values of a label of hosts that are most similar to a value.
async fn similar_values(
    transaction: &mut Transaction,
    (key, value): (&str, &str),
) -> Result<Vec<String>, DatabaseError> {
    let around = "select value from (select distinct value from host_label where key = $1 and value >= $2 order by value limit $3) as later \
        union select value from (select distinct value from host_label where key = $1 and value < $2 order by value desc limit $3) as earlier";
    let values: Vec<String> = transaction.query(around, vec![key.into(), value.into(), VALUES_COMPARED.into()]).await?;
    Ok(ranked(value, values))
}

/// The known words that are most similar to a written one. If none is similar: all of them, if they are few.
fn ranked(written: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut known: Vec<String> = known.into_iter().collect();
    known.sort();
    if known.iter().any(|known| alike(written, known)) {
        known.retain(|known| alike(written, known));
        let likeness = |known: &String| strsim::jaro_winkler(written, known);
        known.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
        known.truncate(VALUES_SHOWN);
    } else if known.len() > VALUES_SHOWN {
        known.clear();
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, expected: Option<&str>) {
        let targets = [[("purpose", "prod"), ("tier", "gold")], [("purpose", "test"), ("tier", "silver")]];
        let targets = targets.map(Labels::from_iter);
        let error = of_targets(&LabelSelector::parse(selector).unwrap(), &targets);
        assert_eq!(error.map(|error| error.to_string()).as_deref(), expected, "{selector}");
    }

    #[test]
    fn the_label_that_no_target_has_is_named_with_the_nearest_one() {
        check("purpos=prod", Some("there is no deployment target with label `purpos`; did you mean `purpose`?"));
        check(
            "tier=gold,purpose=prd",
            Some("there is no deployment target with label `purpose=prd`; did you mean `purpose=prod`?"),
        );
        check(
            "tier in (lead, tin)",
            Some(
                "there is no deployment target with label `tier in (lead,tin)`; did you mean `tier=gold`, `tier=silver`?",
            ),
        );
        check("zone", Some("there is no deployment target with label `zone`"));
        check("purpose=prod,tier=silver", Some("there is no deployment target with labels `purpose=prod,tier=silver`"));
        check("!purpose", None);
        assert!(of_targets(&LabelSelector::parse("a=b").unwrap(), &[]).is_none());
    }
}
