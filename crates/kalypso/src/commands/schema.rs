//! `kalypso schema`: JSON Schemas of the kinds and of kalypso-app.toml, for editors.

use model::kind::Kind;
use model::similar;

use crate::arguments::Schema;
use crate::exit::{Exit, Failure};
use crate::object_schema::schema;
use crate::terminal;

/// The name of the schema of kalypso-app.toml.
const APPLICATION: &str = "kalypso-app";

pub(super) fn run(options: &Schema) -> anyhow::Result<Exit> {
    if options.kind.as_deref() == Some(APPLICATION) {
        terminal::answer(&format!("{:#}\n", application::settings::schema()))?;
        return Ok(Exit::Good);
    }
    let kind = options.kind.as_deref().map(find).transpose()?;
    terminal::answer(&format!("{:#}\n", schema(kind)))?;
    Ok(Exit::Good)
}

fn find(name: &str) -> Result<Kind, Failure> {
    let found = Kind::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name));
    let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).chain([APPLICATION]).collect();
    found.ok_or_else(|| {
        let near = similar::nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`? "));
        Failure::usage(format!("there is no kind `{name}`")).help(format!(
            "{}the schemas are {}",
            near.unwrap_or_default(),
            names.join(", ")
        ))
    })
}
