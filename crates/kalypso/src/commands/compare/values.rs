//! The values that differ between two environments, by key, as they are read here and shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use hub_api::compare::ComparedTarget;
use model::count::count;
use model::excerpt;
use workbench::answers::compare::{PlacedValue, ValueDifference};
use workbench::listing::rows::VALUE_CHARS_MAX;

use crate::arguments::{Compare, SourceOptions};
use crate::progress::Watch;
use crate::{configuration, hub_client, loading, reporting, terminal};

/// How many places with a value are named.
const PLACES_NAMED_MAX: usize = 2;
/// How many targets with the same difference are named.
const TARGETS_NAMED_MAX: usize = 3;

/// The values that differ between the compared targets. None: there is no control plane here, or it can't be read.
pub(super) fn differences(options: &Compare, rows: &[ComparedTarget]) -> Option<Vec<ValueDifference>> {
    if !configuration::is_there(options.connection.config.as_deref()) {
        return None;
    }
    match read(options) {
        Ok(environments) => Some(ValueDifference::find(environments.each_ref(), rows)),
        Err(error) => {
            // If standard error is closed, there is no other place for this output.
            let _ = reporting::reasons_to_stderr(&error);
            terminal::note(&format!("note: values are not compared by key: {error}"));
            None
        }
    }
}

fn read(options: &Compare) -> anyhow::Result<[Loaded; 2]> {
    let source = SourceOptions { config: options.connection.config.clone(), ..SourceOptions::default() };
    let mut watch = Watch::start();
    let one = |name: &str| loading::environment(&source, name, ReadAt::Admitted, &watch);
    let environments = [one(&options.from)?, one(&options.to)?];
    watch.end();
    Ok(environments)
}

/// The differences for people. Empty if there are none.
pub(super) fn text(differences: &[ValueDifference], environments: [&str; 2]) -> String {
    let mut grouped: BTreeMap<(&str, [String; 2]), Vec<&str>> = BTreeMap::new();
    for difference in differences {
        let targets = difference.targets.iter().map(String::as_str);
        grouped.entry((&difference.key, shown_sides(difference))).or_default().extend(targets);
    }
    let width = environments.iter().map(|name| name.len()).max().unwrap_or_default();
    let mut text = if grouped.is_empty() { String::new() } else { "\nvalues that differ:\n".to_owned() };
    for ((key, sides), mut targets) in grouped {
        targets.sort_unstable();
        let _ = writeln!(text, "\n  {}   {}", hub_client::plain(key), hub_client::plain(&targets_text(&targets)));
        for (environment, values) in environments.iter().zip(&sides) {
            let _ = writeln!(text, "    {environment:width$}  {}", hub_client::plain(values));
        }
    }
    text
}

/// The values of both sides. Of two long values, the part that differs is shown.
fn shown_sides(difference: &ValueDifference) -> [String; 2] {
    match [&*difference.from, &*difference.to] {
        [[PlacedValue { value: Some(from), .. }], [PlacedValue { value: Some(to), .. }]] => {
            excerpt::differing(from, to, VALUE_CHARS_MAX).into()
        }
        sides => sides.map(values_text),
    }
}

/// The values of one side: `"info"`, or `"info" on 4 places, "warning" on chicago-edge`.
fn values_text(values: &[PlacedValue]) -> String {
    let text = |value: &PlacedValue| {
        value.value.as_deref().map_or_else(|| "(none)".to_owned(), |text| excerpt::first(text, VALUE_CHARS_MAX))
    };
    match values {
        [] => "(none)".to_owned(),
        [only] => text(only),
        several => {
            let with_places = several.iter().map(|value| format!("{} on {}", text(value), places_text(value)));
            with_places.collect::<Vec<_>>().join(", ")
        }
    }
}

fn places_text(value: &PlacedValue) -> String {
    if value.places <= PLACES_NAMED_MAX { value.examples.join(" and ") } else { count(value.places, "place") }
}

fn targets_text(targets: &[&str]) -> String {
    let named = targets.iter().take(TARGETS_NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match targets.len().saturating_sub(TARGETS_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {} more", terminal::thousands(more)),
    }
}
