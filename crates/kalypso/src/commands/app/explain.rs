//! `kalypso app explain`: where the values of a target come from.

use application::explain::{ExplainedTarget, SourcedValue, explain, keys};
use model::diagnostic::Diagnostic;

use super::reading::{OpenedEnvironment, Reading, target_named};
use crate::arguments::{AppExplain, Format};
use crate::exit::{Exit, Failure};
use crate::{table, terminal};

pub(super) fn run(options: &AppExplain) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?;
    let OpenedEnvironment { project, environment, .. } = reading.open(&options.environment, &options.release)?;
    let prepared = environment.prepared(&project);
    let target = target_named(&prepared, &options.target, &options.environment)?;
    let values = explain(&target.values, &options.key, prepared.files()).ok_or_else(|| {
        let keys = keys(&target.values);
        let message = format!("target `{}` has no value `{}`", target.path, options.key);
        Failure::usage(message).did_you_mean(
            &options.key,
            keys.iter().map(String::as_str),
            "leave the key out to list all values",
        )
    })?;
    let explained =
        ExplainedTarget { environment: options.environment.clone(), target: target.path.to_string(), values };
    match options.output {
        Format::Human => terminal::answer(&text(&explained.values))?,
        format => terminal::answer(&terminal::structured(&explained, format))?,
    }
    let has_errors = target.problems().iter().any(Diagnostic::is_error);
    Ok(Exit::Good.unless(has_errors))
}

fn text(values: &[SourcedValue]) -> String {
    let rows = values.iter().flat_map(|value| {
        let overrides = value.overrides.iter();
        let overridden = overrides.map(|one| ["  overrides".to_owned(), one.value.clone(), one.place.clone()]);
        std::iter::once([value.key.clone(), value.value.clone(), value.place.clone()]).chain(overridden)
    });
    table::table(std::iter::once(["KEY", "VALUE", "PLACE"].map(str::to_owned)).chain(rows))
}
