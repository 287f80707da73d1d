//! `kalypso add policy`.

use authoring::label_advice;
use authoring::objects::{self, PolicySelection};

use super::{NewObjects, OpenBranch, finish, name};
use crate::arguments::AddPolicy;
use crate::exit::Exit;
use crate::loading::selector;

pub(super) fn run(options: &AddPolicy) -> anyhow::Result<Exit> {
    let selection = PolicySelection {
        workspace: options.workspace.as_deref().map(Into::into),
        targets: selector("--targets", &options.targets)?,
        places: selector("--on", &options.on)?,
    };
    let object = objects::policy(&name(&options.name, "policy")?, &selection);
    let open = OpenBranch::new(&options.edit, Some(&options.environment))?;
    let warnings = label_advice::of_lists(&open.files(), &selection.places);
    let new = NewObjects { warnings, ..NewObjects::one(object, "policy") };
    finish(open, new, (&options.place, &options.edit))
}
