//! Topic branches: branches that people made from another branch, for a change.

use model::git_id::GitId;

use super::Checkout;
use crate::repositories::in_checkout;
use crate::settings::Settings;

/// The distance of a working tree from a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// The newest commit that both have.
    pub base: GitId,
    /// The number of commits that only the working tree has.
    pub ahead: usize,
    /// The number of commits that only the branch has.
    pub behind: usize,
}

impl Distance {
    /// The numbers of commits on both sides. They are smallest for the branch that the working tree left last.
    pub fn commits(&self) -> (usize, usize) {
        (self.ahead, self.behind)
    }
}

/// The distance of a working tree from a branch, whose head is given. None if they have no commit in common, or if the repository of the working tree
/// does not know the branch.
pub fn distance(settings: &Settings, checkout: &Checkout, (branch, head): (&str, GitId)) -> Option<Distance> {
    let git = |arguments: &[&str]| {
        let output = in_checkout(settings, checkout.root(), arguments).ok()?;
        String::from_utf8(output).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A clone may not have the newest commit.
    let names = [head.to_string(), format!("refs/remotes/origin/{branch}"), format!("refs/heads/{branch}")];
    names.iter().find_map(|name| {
        let base = GitId::from_hex(&git(&["merge-base", "HEAD", name])?)?;
        let counts = git(&["rev-list", "--left-right", "--count", &format!("HEAD...{name}")])?;
        let (ahead, behind) = counts.split_once(char::is_whitespace)?;
        Some(Distance { base, ahead: ahead.parse().ok()?, behind: behind.trim().parse().ok()? })
    })
}
