//! Reports sources whose branch is named like another environment.

use model::diagnostic::{Code, Diagnostic, Origin};
use model::fleet::{Fleet, SourceBranch};

/// A warning for each source of an environment whose branch is named like another environment.
pub(crate) fn diagnostics(fleet: &Fleet) -> impl Iterator<Item = Diagnostic> + '_ {
    let own = &fleet.environment;
    let is_of_another = |source: &SourceBranch<'_>| {
        *source.branch.as_ref() != *own.as_str() && fleet.environments.contains(&**source.branch)
    };
    fleet.source_branches().filter(is_of_another).map(move |SourceBranch { key, repo, branch, path }| {
        let message =
            format!("{key} reads branch `{branch}` of `{repo}` into `{own}`, and `{branch}` is another environment");
        Diagnostic::warning(Code::BranchOfAnother, message)
            .at(Origin::field(&key, path), "this branch")
            .note(format!("what is merged there for `{branch}` reaches `{own}` at the same time"))
            .help(format!("name the branch of `{own}`; create it first if it does not exist"))
            .help(format!(
                "if both share it on purpose, acknowledge it on the object: `kalypso.io/acknowledge.{}: REASON`",
                Code::BranchOfAnother
            ))
            .about(&key)
    })
}
