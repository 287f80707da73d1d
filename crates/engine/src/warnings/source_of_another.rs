//! Reports sources whose branch or folder is named like another environment.

use model::diagnostic::{Code, Diagnostic, Origin};
use model::fleet::{Fleet, SourceName, SourcePart};

/// A warning for each source of an environment whose branch or folder is named like another environment.
pub(crate) fn diagnostics(fleet: &Fleet) -> impl Iterator<Item = Diagnostic> + '_ {
    let own = &fleet.environment;
    fleet.source_names().filter_map(move |source| {
        let other = other_environment(fleet, &source)?.to_owned();
        let SourceName { key, repo, part, text, path } = source;
        let noun = part.noun();
        let message =
            format!("{key} reads {noun} `{text}` of `{repo}` into `{own}`, and `{other}` is another environment");
        let diagnostic = Diagnostic::warning(Code::SourceOfAnother, message)
            .at(Origin::field(&key, path), format!("this {noun}"))
            .note(format!("what is merged there for `{other}` reaches `{own}` at the same time"))
            .help(format!("name the {noun} of `{own}`; create it first if it does not exist"))
            .help(format!(
                "if both share it on purpose, acknowledge it on the object: `kalypso.io/acknowledge.{}: REASON`",
                Code::SourceOfAnother
            ));
        Some(diagnostic.about(&key))
    })
}

/// The other environment after which a branch, or a folder on the path, is named. None: no other one, or the path also names this environment.
fn other_environment<'s>(fleet: &Fleet, source: &SourceName<'s>) -> Option<&'s str> {
    let text: &'s str = source.text;
    let names: Vec<&'s str> = match source.part {
        SourcePart::Branch => vec![text],
        SourcePart::Folder => text.split('/').collect(),
    };
    if names.contains(&fleet.environment.as_str()) {
        return None;
    }
    names.into_iter().find(|name| fleet.environments.contains(*name))
}
