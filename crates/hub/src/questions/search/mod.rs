//! The search for objects of all kinds by words of their names.

mod hosts;
mod named;
mod words;

use hub_api::filter::Filter;
use hub_api::limits::{SEARCH_HITS_DEFAULT, SEARCH_HITS_MAX};
use hub_api::search::{SearchAnswer, SearchGroup, SearchHit, SearchKind, SearchQuery};
use hub_api::tokens::Reach;

use self::words::Words;
use super::scope::Scope;
use super::{EarlierNames, Question, QuestionError};
use crate::limits::SEARCH_EXAMINED_MAX;
use crate::store::Database;

/// The objects within the reach whose names match the words of a query.
///
/// # Errors
/// The query is invalid; the database can't answer.
pub async fn search(database: &Database, reach: &Reach, query: &SearchQuery) -> Result<SearchAnswer, QuestionError> {
    let words = Words::parse(&query.q)?;
    let limit = match query.limit.unwrap_or(SEARCH_HITS_DEFAULT) {
        limit @ 1..=SEARCH_HITS_MAX => limit,
        limit => {
            let message = format!("{limit}; 1 to {SEARCH_HITS_MAX} are possible");
            return Err(QuestionError::Wrong { parameter: "limit", message });
        }
    };
    let filter = Filter::default();
    let mut transaction = database.begin_reading().await?;
    let question = Question { filter: &filter, reach, earlier: EarlierNames::NONE };
    let scope = Scope::read(&mut transaction, question).await?;
    let mut answer = SearchAnswer::default();
    for kind in SearchKind::ALL {
        let (hits, are_more) = if kind == SearchKind::Host {
            let (names, are_more) = hosts::hosts(&mut transaction, &scope, (&words, limit)).await?;
            (names.into_iter().map(|name| SearchHit { name, ..SearchHit::default() }).collect(), are_more)
        } else {
            let hits = named::of_kind(&mut transaction, (&scope, kind), &words).await?;
            let are_more = hits.len() == SEARCH_EXAMINED_MAX;
            (hits, are_more)
        };
        let mut hits = best(&words, hits);
        let more = are_more || hits.len() > limit;
        hits.truncate(limit);
        if !hits.is_empty() {
            answer.groups.push(SearchGroup { kind, hits, more });
        }
    }
    Ok(answer)
}

/// The hits that match, the best first, and then by name.
fn best(words: &Words, hits: Vec<SearchHit>) -> Vec<SearchHit> {
    let ranked = |hit: SearchHit| {
        let belongs_to = [&hit.workspace, &hit.application, &hit.workload];
        let belongs_to: Vec<_> = belongs_to.into_iter().flatten().map(String::as_str).collect();
        Some((words.matches(&hit.name, &belongs_to)?, hit))
    };
    let mut ranked: Vec<_> = hits.into_iter().filter_map(ranked).collect();
    let names = |hit: &SearchHit| [&hit.workspace, &hit.application, &hit.workload].map(Clone::clone);
    ranked.sort_by(|(one_match, one), (other_match, other)| {
        one_match.cmp(other_match).then_with(|| one.name.cmp(&other.name)).then_with(|| names(one).cmp(&names(other)))
    });
    ranked.into_iter().map(|(_, hit)| hit).collect()
}
