//! `kalypso hub audit`: publications and decisions, with their users.

use hub::management::audit::{self, AuditError};
use hub_api::audit::{Action, AuditEntries, AuditEntry, AuditFilter};
use hub_api::limits::PAGE_MAX;
use hub_api::timestamp::Timestamp;
use serde_json::{Value, json};

use super::with_database;
use crate::arguments::{Format, HubAudit};
use crate::exit::{Exit, Failure};
use crate::times::timestamp;
use crate::{hub_client, table, terminal};

pub(super) fn run(options: &HubAudit) -> anyhow::Result<Exit> {
    let time = |name: &str, text: &Option<String>| text.as_deref().map(|text| timestamp(name, text)).transpose();
    let mut filter = AuditFilter {
        actor: options.actor.clone(),
        action: options.action.as_deref().map(action).transpose()?,
        subject: options.subject.clone(),
        since: time("--since", &options.since)?,
        until: time("--until", &options.until)?,
        ..AuditFilter::default()
    };
    let entries = with_database(&options.database, async |database| {
        let mut entries = Vec::new();
        while entries.len() < options.limit {
            filter.limit = Some((options.limit - entries.len()).min(PAGE_MAX));
            let AuditEntries { items, next } = audit::entries(database, &filter).await.map_err(failure)?;
            entries.extend(items);
            filter.cursor = next;
            if filter.cursor.is_none() {
                break;
            }
        }
        Ok(entries)
    })?;
    match options.output {
        Format::Human if entries.is_empty() => terminal::answer("nothing is noted\n")?,
        Format::Human => terminal::answer(&table(&entries, Timestamp::now()))?,
        format => terminal::answer(&terminal::structured(&json!({ "entries": entries }), format))?,
    }
    Ok(Exit::Good)
}

fn action(text: &str) -> Result<Action, Failure> {
    let known = || Action::ALL.map(Action::as_str).join(", ");
    let found = Action::ALL.into_iter().find(|action| action.as_str() == text);
    found
        .ok_or_else(|| Failure::usage(format!("`--action {text}` is no action")).help(format!("there are {}", known())))
}

fn failure(error: AuditError) -> Failure {
    match error {
        AuditError::Wrong(..) => Failure::usage(error.to_string()),
        AuditError::Database(error) => Failure::outside(error.to_string()),
    }
}

fn table(entries: &[AuditEntry], now: Timestamp) -> String {
    let heading = ["WHEN", "WHO", "ACTION", "SUBJECT", "DETAIL"].map(str::to_owned);
    let row = |entry: &AuditEntry| {
        let (actor, subject) = (hub_client::plain(&entry.actor), hub_client::plain(&entry.subject));
        [hub_client::ago(Some(entry.at), now), actor, entry.action.as_str().to_owned(), subject, detail(entry)]
    };
    table::table(std::iter::once(heading).chain(entries.iter().map(row)))
}

/// Further fields in a short form. Empty fields and zeros are left out.
fn detail(entry: &AuditEntry) -> String {
    let Some(Value::Object(fields)) = &entry.detail else { return String::new() };
    let shown = fields.iter().filter_map(|(key, value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Object(fields) if fields.is_empty() => None,
        Value::Number(number) if number.as_i64() == Some(0) => None,
        Value::String(text) if key == "commit" => Some(format!("{key} {}", hub_client::short(Some(text)))),
        Value::String(text) => Some(format!("{key} {text}")),
        Value::Bool(true) => Some(key.clone()),
        Value::Array(items) => {
            let items: Vec<_> =
                items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned)).collect();
            Some(format!("{key} {}", items.join(", ")))
        }
        value => Some(format!("{key} {value}")),
    });
    hub_client::plain(&shown.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_short() {
        let detail_of = |known: Value| {
            let (actor, subject) = (String::new(), String::new());
            detail(&AuditEntry { at: Timestamp::MIN, actor, action: Action::Publish, subject, detail: Some(known) })
        };
        let publication = json!({"commit": "41c77fe0a2b3c4d5e6f708192a3b4c5d6e7f8091", "changed": 3, "removed": 0, "environments": ["dev", "prod"]});
        assert_eq!(detail_of(publication), "commit 41c77fe; changed 3; environments dev, prod");
        assert_eq!(detail_of(json!({"role": "host", "signs": true, "labels": {}})), "role host; signs");
    }
}
