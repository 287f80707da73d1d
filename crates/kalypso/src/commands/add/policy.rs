//! `kalypso add policy`.

use authoring::label_advice;
use authoring::objects::{self, Selection};
use model::selector::LabelSelector;

use super::{NewObjects, OpenBranch, finish, name};
use crate::arguments::AddPolicy;
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &AddPolicy) -> anyhow::Result<Exit> {
    let selection = Selection {
        workspace: options.workspace.as_deref().map(Into::into),
        targets: selector("--targets", &options.targets)?,
        places: selector("--on", &options.on)?,
    };
    let object = objects::policy(&name(&options.name, "policy")?, &selection);
    let open = OpenBranch::of(&options.edit, Some(&options.environment))?;
    let warnings = label_advice::of_selector(&open.files(), &selection.places);
    let new = NewObjects { warnings, ..NewObjects::one(object, "policy") };
    finish(open, new, (&options.place, &options.edit))
}

fn selector(option: &str, text: &str) -> Result<LabelSelector, Failure> {
    LabelSelector::parse(text).map_err(|error| {
        Failure::usage(format!("{option} can't be read: {error}"))
            .help("write requirements with commas between them: region=west,tier in (gold,silver),!edge")
    })
}
