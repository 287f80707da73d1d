//! The hosts that a search finds, through the indexes of the beginnings of names and of their segments.

use std::collections::{BTreeMap, BTreeSet};

use super::super::scope::Scope;
use super::words::Words;
use crate::limits::SEARCH_EXAMINED_MAX;
use crate::store::{DatabaseError, Dialect, HostId, Parameters, Transaction};

/// The parts of a name whose beginnings have an index: the whole name, what is behind its first segments, and the last one.
fn parts(dialect: Dialect, name: &str) -> [String; 5] {
    let [whole, first, second, third] = [0, 1, 2, 3].map(|segments| dialect.search_part(name, segments));
    [whole, first, second, third, dialect.search_end(name)]
}

/// The names of hosts that match the words, and whether names were not examined. If there are more than enough, the rest can be left out.
pub(super) async fn hosts(
    transaction: &mut Transaction,
    scope: &Scope,
    (words, enough): (&Words, usize),
) -> Result<(Vec<String>, bool), DatabaseError> {
    let (mut found, mut are_more) = (BTreeMap::new(), false);
    for part in parts(transaction.dialect(), "h.name") {
        let (hosts, is_cut) = beginning(transaction, words, &part).await?;
        are_more |= is_cut;
        found.extend(within(transaction, scope, hosts).await?);
        // With one word, names that begin with it come before all others.
        if words.all().len() == 1 && found.len() > enough {
            break;
        }
    }
    Ok((found.into_values().collect(), are_more))
}

/// The hosts that match the words, and of which this part of the name begins with the longest word.
async fn beginning(
    transaction: &mut Transaction,
    words: &Words,
    part: &str,
) -> Result<(BTreeMap<HostId, String>, bool), DatabaseError> {
    // Behind all texts that begin with the word.
    let behind = format!("{}{}", words.longest(), char::MAX);
    let sql = format!(
        "select h.id, h.name, case when h.retired_on is null then 1 else 0 end from host h \
         where {part} >= $1 and {part} < $2 order by {part} limit {SEARCH_EXAMINED_MAX} + 1"
    );
    let rows: Vec<(HostId, String, bool)> =
        transaction.query(&sql, vec![words.longest().into(), behind.as_str().into()]).await?;
    let is_cut = rows.len() > SEARCH_EXAMINED_MAX;
    let in_service = rows.into_iter().filter(|(_, _, in_service)| *in_service).map(|(id, name, _)| (id, name));
    Ok((in_service.filter(|(_, name)| words.matches(name, &[]).is_some()).collect(), is_cut))
}

/// Those of these hosts with a reconciler within the reach.
async fn within(
    transaction: &mut Transaction,
    scope: &Scope,
    mut hosts: BTreeMap<HostId, String>,
) -> Result<BTreeMap<HostId, String>, DatabaseError> {
    let ids: Vec<_> = hosts.keys().copied().collect();
    let mut parameters = Parameters::with(transaction.dialect(), vec![ids.into()]);
    let Some(of_groups) = scope.of_groups("p.place_group_id", &mut parameters).filter(|_| !hosts.is_empty()) else {
        return Ok(hosts);
    };
    let sql = format!(
        "select distinct r.host_id from reconciler r join place p on p.id = r.place_id where {} and r.retired_on is null and {of_groups}",
        transaction.dialect().any_int("r.host_id", "$1")
    );
    let within: BTreeSet<HostId> = transaction.query(&sql, parameters.into_values()).await?.into_iter().collect();
    hosts.retain(|id, _| within.contains(id));
    Ok(hosts)
}
