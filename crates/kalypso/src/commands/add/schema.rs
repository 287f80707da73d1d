//! `kalypso add schema`.

use std::fs;

use authoring::objects;

use super::{NewObjects, OpenBranch, finish, labels, name};
use crate::arguments::AddSchema;
use crate::exit::{Exit, Failure};

/// The maximum size of a schema, in bytes.
const SCHEMA_BYTES_MAX: u64 = 1 << 20;

pub(super) fn run(options: &AddSchema) -> anyhow::Result<Exit> {
    let (name, labels) = (name(&options.name, "schema")?, labels(&options.labels)?);
    let shown = options.schema.display();
    let failed = |error: std::io::Error| Failure::usage(format!("`{shown}` can't be read: {error}"));
    if fs::metadata(&options.schema).map_err(failed)?.len() > SCHEMA_BYTES_MAX {
        return Err(Failure::usage(format!("`{shown}` is larger than 1 MB")).into());
    }
    let text = fs::read_to_string(&options.schema).map_err(failed)?;
    let text = text.replace("\r\n", "\n");
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&text) {
        return Err(Failure::usage(format!("`{shown}` is not JSON: {error}")).into());
    }
    let open = OpenBranch::new(&options.edit, options.environment.as_deref())?;
    let text = format!("{}\n", text.trim_end());
    finish(
        open,
        NewObjects::one(objects::config_schema(&name, labels, &text), "schema"),
        (&options.place, &options.edit),
    )
}
