//! `kalypso get values`: who has which value.

use std::collections::BTreeSet;

use engine::answers::inventory::{AssignmentSet, HeldValue};
use workbench::listing::filter::{ListConditions, environments, nearest};
use workbench::listing::kind::ListedKind;
use workbench::listing::rows::{KeyRow, KindFields as _, ListRow, ValueRow, columns_of};
use workbench::listing::view::View;

use super::is_for_programs;
use crate::arguments::{Get, ListFormat};
use crate::exit::{Exit, Failure};
use crate::listing::output::{ListWriter, limit_of};
use crate::listing::text::{counts_text, more_text};
use crate::{table, terminal};

/// How many different values a note names.
const VALUES_NAMED_MAX: usize = 5;

pub(super) fn list(options: &Get, filter: &ListConditions, views: &mut [View<'_>]) -> anyhow::Result<Exit> {
    let Some(key) = options.values.key.as_deref() else { return keys(options, filter, views) };
    if !views.iter().any(|view| view.inventory.has_key(key)) {
        return Err(unknown_key(key, views).into());
    }
    let writer = ListWriter::new(options.output, columns_of(ListedKind::Value), options.environment.is_none());
    let mut list = ValueList { options, key, writer };
    let mut others = BTreeSet::new();
    for view in views.iter_mut() {
        let set = filter.assignments(view).unwrap_or_default();
        let set = set.and(&view.inventory.selected(filter.selector()));
        let values = view.inventory.values(key, &set);
        let is_selected = |held: &&HeldValue| options.values.value.as_ref().is_none_or(|value| held.is(value));
        let selected: Vec<_> = values.iter().filter(is_selected).collect();
        if selected.is_empty() {
            others.extend(values.iter().filter_map(|held| held.plain().map(str::to_owned)));
        }
        if !selected.is_empty() && options.values.value.is_none() {
            list.writer.heading(&summary((options, view), (&set, &values)));
        }
        list.add(&selected, view)?;
    }
    let is_empty = list.writer.is_empty();
    list.writer.end()?;
    if is_empty {
        terminal::note(&nothing(options, key, &others));
    }
    Ok(Exit::Good)
}

/// The numbers of assignments and of values: `48 assignments on 12 cluster types: 11 targets of 5 workloads; 2 values`.
fn summary((options, view): (&Get, &View<'_>), (set, values): (&AssignmentSet, &[HeldValue])) -> String {
    let environment = if options.environment.is_none() { format!("{}: ", view.environment()) } else { String::new() };
    let different: BTreeSet<_> = values.iter().filter_map(|held| held.shown.as_ref()).collect();
    let different = terminal::count(different.len(), "value");
    format!("{environment}{}; {different}", counts_text(view.inventory.counts(set)))
}

/// The list of the values of a key, which is written.
struct ValueList<'o> {
    options: &'o Get,
    key: &'o str,
    writer: ListWriter,
}

impl ValueList<'_> {
    /// Adds the values of an environment. With `--value`, people and `-o name` get the assignments, too.
    fn add(&mut self, values: &[&HeldValue], view: &mut View<'_>) -> anyhow::Result<()> {
        let Self { options, key, writer } = self;
        let limit = limit_of(options.limit, options.output);
        let is_of_names = options.output == ListFormat::Name;
        let environment = view.environment().to_owned();
        writer.count(values.len(), values.len() > limit && !is_of_names);
        if !is_of_names {
            for value in values.iter().take(limit) {
                writer.add(ListRow::new(&ValueRow::new(key, value, view)), &environment, "")?;
            }
        }
        if values.len() > limit && !is_for_programs(options.output) {
            writer.footer.push(format!("{}: --limit N shows more", more_text(values.len() - limit)));
        }
        if !is_of_names && (options.values.value.is_none() || is_for_programs(options.output)) {
            return Ok(());
        }
        for value in values.iter().filter(|value| value.shown.is_some()) {
            self.list_assignments(value, view)?;
        }
        Ok(())
    }

    /// Lists the assignments that have a value.
    fn list_assignments(&mut self, value: &HeldValue, view: &View<'_>) -> anyhow::Result<()> {
        let Self { options, writer, .. } = self;
        let after = options.after.as_deref().map(crate::loading::parse_assignment).transpose()?;
        let limit = limit_of(options.limit, options.output);
        let ids = view.inventory.assignments(&value.set, after.as_ref()).take(limit).map(|one| one.id().to_string());
        if options.output == ListFormat::Name {
            for id in ids {
                writer.add(ListRow::default(), view.environment(), &id)?;
            }
            return Ok(());
        }
        let ids: Vec<_> = ids.collect();
        let (count, last) = (view.inventory.len(&value.set), ids.last().cloned().unwrap_or_default());
        writer.footer.push(String::new());
        let environment = options.environment.is_none().then(|| view.environment().to_owned());
        let rows: Vec<Vec<String>> =
            ids.into_iter().map(|id| environment.iter().cloned().chain([id]).collect()).collect();
        writer.footer.extend(table::of_rows(&rows).lines().map(str::to_owned));
        if count > rows.len() && after.is_none() {
            let environment = view.environment();
            writer
                .footer
                .push(format!("{}: -e {environment} --after {last} shows the next", more_text(count - rows.len())));
        }
        Ok(())
    }
}

/// Lists all keys, without `--key`.
fn keys(options: &Get, filter: &ListConditions, views: &[View<'_>]) -> anyhow::Result<Exit> {
    let mut writer = ListWriter::new(options.output, KeyRow::COLUMNS, options.environment.is_none());
    let limit = limit_of(options.limit, options.output);
    for view in views {
        let is_filtered = filter.is_by_assignments() || !filter.selector().requirements.is_empty();
        let set = is_filtered.then(|| filter.assignments(view).unwrap_or_default());
        let set = set.map(|set| set.and(&view.inventory.selected(filter.selector())));
        let all = view.inventory.keys(set.as_ref());
        let behind = |key: &str| options.after.as_deref().is_none_or(|after| key > after);
        let rest: Vec<_> = all.iter().filter(|(key, _)| behind(key)).collect();
        for (key, config_maps) in rest.iter().take(limit) {
            let (environment, key) = (view.environment().to_owned(), key.to_string());
            let row = KeyRow { environment, key: key.clone(), configs: **config_maps };
            writer.add(ListRow::new(&row), view.environment(), &key)?;
        }
        writer.count(all.len(), rest.len() > limit);
        if rest.len() > limit {
            let last = rest.get(limit - 1).map_or("", |(key, _)| key);
            writer.footer.push(format!("{}: --after {last} shows the next", more_text(rest.len() - limit)));
        }
    }
    let is_empty = writer.is_empty();
    writer.end()?;
    if is_empty {
        terminal::note("there are no such values");
    } else if !is_for_programs(options.output) {
        terminal::note("\n`--key KEY` shows which assignments have which value");
    }
    Ok(Exit::Good)
}

/// The error for a key that no `ConfigMap` sets.
fn unknown_key(key: &str, views: &[View<'_>]) -> Failure {
    let known: BTreeSet<String> = views.iter().flat_map(|view| view.inventory.key_paths()).collect();
    let subject = if views.len() == 1 { environments(views) } else { "no environment has".to_owned() };
    let failure = if views.len() == 1 {
        Failure::refused(format!("{subject} no ConfigMap with a value `{key}`"))
    } else {
        Failure::refused(format!("{subject} a ConfigMap with a value `{key}`"))
    };
    let lower = key.to_lowercase();
    let same = || known.iter().find(|known| known.to_lowercase() == lower).map(String::as_str);
    match same().or_else(|| nearest(key, known.iter().map(String::as_str))) {
        Some(near) => failure.help(format!("did you mean `{near}`? `kalypso get values` lists all keys")),
        None => failure.help("`kalypso get values` lists all keys"),
    }
}

/// The note that no assignment has a value.
fn nothing(options: &Get, key: &str, others: &BTreeSet<String>) -> String {
    let Some(value) = &options.values.value else { return format!("no such assignment has `{key}`") };
    let near = nearest(value, others.iter().map(String::as_str));
    let advice = match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None if others.is_empty() => String::new(),
        None => {
            let named: Vec<_> = others.iter().take(VALUES_NAMED_MAX).map(|value| format!("`{value}`")).collect();
            format!("; there are {}", named.join(", "))
        }
    };
    format!("no such assignment has `{key}` = `{value}`{advice}")
}
