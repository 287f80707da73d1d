//! `kalypso codeowners`: the CODEOWNERS file of a repository.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use delivery::codeowners::{self, FilePattern};
use model::owners::is_owner;
use workbench::answers::codeowners::OwnedBranch;
use workbench::source::complete;

use crate::arguments::{Codeowners, Format, Notation};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{loading, terminal};

pub(super) fn run(options: &Codeowners) -> anyhow::Result<Exit> {
    let main_owners = options.owners.iter().map(|owner| known(owner)).collect::<Result<Vec<_>, _>>()?;
    let mut watch = Watch::start();
    let access = loading::access(options.config.as_deref(), watch.progress())?;
    // Without a part of the hierarchy, folders would have the wrong owners.
    let environments = codeowners::hierarchy(&access)?.into_iter().map(complete).collect::<Result<Vec<_>, _>>()?;
    let asked = OwnedBranch {
        environment: options.environment.as_deref(),
        repository: options.repository.as_deref(),
        branch: options.branch.as_deref(),
        main_owners: &main_owners,
    };
    let pattern = match options.format {
        Notation::Github => FilePattern::as_glob,
        Notation::Gitea => FilePattern::as_regex,
    };
    let found = asked.owners(&environments, &access.settings, pattern)?;
    watch.end();
    found.warnings.iter().for_each(|warning| terminal::warn(warning));
    if let Some(path) = &options.check {
        return check(path, &found.file());
    }
    match options.output {
        Format::Human => terminal::answer(&found.file())?,
        format => terminal::answer(&terminal::structured(&found, format))?,
    }
    Ok(Exit::Good)
}

fn known(owner: &str) -> Result<Arc<str>, Failure> {
    if is_owner(owner) {
        return Ok(owner.into());
    }
    let help = "write `@user`, `@organization/team` or an e-mail address; repeat the option for several";
    Err(Failure::usage(format!("{owner:?} is not an owner")).help(help))
}

/// Compares a file with the text. The notation of line ends does not matter.
fn check(path: &Path, text: &str) -> anyhow::Result<Exit> {
    let found = std::fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))?;
    let found = found.replace("\r\n", "\n");
    if found.trim_end() == text.trim_end() {
        terminal::answer(&format!("{} is up to date\n", path.display()))?;
        return Ok(Exit::Good);
    }
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (lines(&found), lines(text));
    let missing = expected.iter().filter(|line| !found.contains(line)).map(|line| format!("+ {line}\n"));
    let extra = found.iter().filter(|line| !expected.contains(line)).map(|line| format!("- {line}\n"));
    terminal::answer(&extra.chain(missing).collect::<String>())?;
    let message = format!("{} is not up to date", path.display());
    Err(Failure::refused(message).help("run the same command without `--check`, and commit its output").into())
}
