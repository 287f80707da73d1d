//! Ranges of commits of a control plane, in the notation of Git: `HEAD~1..HEAD`.

use git::limits::BASE_REACHES;
use git::{Commit, Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;
use model::object::promotion::ChangeOrigin;

use crate::Failure;

/// The number of commits of a history that are searched for an abbreviated id, or for the commit at which a branch began.
const HISTORY_MAX: usize = 1_000;
/// The minimum length of an abbreviated id, in hexadecimal digits.
const DIGITS_MIN: usize = 4;

/// The branches of a control plane that an environment is read from.
pub(crate) struct Branches<'a> {
    pub(crate) repositories: &'a dyn Repositories,
    /// The head of the environment's own branch.
    pub(crate) own: Commit,
    /// The head of the main branch. The environment uses a promoted commit of this branch. None if the environment does not use the main branch.
    pub(crate) main: Option<Commit>,
}

/// The branch that a commit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The environment's own branch: the commit replaces its head.
    Own,
    /// The main branch: the commit replaces the promoted commit.
    Main,
}

impl Of {
    /// Where changes of this branch come from.
    pub(crate) fn origin(self) -> ChangeOrigin {
        match self {
            Self::Own => ChangeOrigin::Values,
            Self::Main => ChangeOrigin::Main,
        }
    }
}

/// A range of commits of one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) of: Of,
    /// None: the commit that the environment uses now.
    pub(crate) from: Option<GitId>,
    pub(crate) to: GitId,
}

/// A commit, and the branches that contain it.
struct FoundCommit {
    id: GitId,
    own: bool,
    main: bool,
}

impl Branches<'_> {
    /// The commits that `A..B` or `B` names.
    ///
    /// # Errors
    /// If a commit does not exist, or if the two commits are of different branches.
    pub(crate) fn range(&self, text: &str) -> Result<Range, Failure> {
        let (from, to) = match text.split_once("..") {
            Some((_, to)) if to.starts_with('.') => {
                let message = format!("`{text}` is not a range of commits");
                return Err(Failure::usage(message).help("write A..B, with two dots"));
            }
            Some((from, to)) => (Some(from), to),
            None => (None, text),
        };
        let from_found = from.map(|from| self.find(from)).transpose()?;
        let to_found = self.find(to)?;
        let both = |is_on: fn(&FoundCommit) -> bool| is_on(&to_found) && from_found.as_ref().is_none_or(is_on);
        let of = if both(|found| found.own) {
            Of::Own
        } else if both(|found| found.main) {
            Of::Main
        } else {
            let message = format!("`{}` and `{to}` are on different branches", from.unwrap_or_default());
            return Err(Failure::refused(message).help(format!("name two commits of {}", self.names())));
        };
        Ok(Range { of, from: from_found.map(|found| found.id), to: to_found.id })
    }

    fn names(&self) -> String {
        let own = self.own.revision.name();
        self.main
            .as_ref()
            .map_or_else(|| format!("`{own}`"), |main| format!("`{own}`, or two of `{}`", main.revision.name()))
    }

    fn find(&self, text: &str) -> Result<FoundCommit, Failure> {
        let position = text.find(['~', '^']).unwrap_or(text.len());
        let (name, steps) = text.split_at(position);
        let steps = back(steps).ok_or_else(|| {
            Failure::usage(format!("`{text}` is not a commit")).help("behind a name, `~3` and `^` are understood")
        })?;
        let failed = |error: RepositoryError| Failure::outside(format!("`{text}` can't be resolved: {error}"));
        let found = self.named(name).map_err(failed)?.ok_or_else(|| self.unknown(name))?;
        if steps == 0 {
            return Ok(found);
        }
        let line = if found.own { &self.own } else { self.main.as_ref().unwrap_or(&self.own) };
        let commit = Commit { id: found.id, ..line.clone() };
        let history = self.repositories.history(&commit, steps + 1).map_err(failed)?;
        let earlier = history.get(steps).ok_or_else(|| {
            Failure::refused(format!("there is no `{text}`: before `{name}` there are {} commits", history.len() - 1))
        })?;
        Ok(FoundCommit { id: earlier.id, ..found })
    }

    fn unknown(&self, name: &str) -> Failure {
        let branches = match &self.main {
            Some(main) => format!("`{}` or `{}`", self.own.revision.name(), main.revision.name()),
            None => format!("`{}`", self.own.revision.name()),
        };
        Failure::refused(format!("`{name}` is no commit of {branches}, nor of a branch that began there"))
            .help("name a commit by its id, a branch or a tag of the control plane's repository, or HEAD, the head of the environment's branch; was it pushed?")
    }

    /// Finds the commit of a name: `HEAD`, a branch, a tag, an id or an abbreviated id. None if there is none.
    fn named(&self, name: &str) -> Result<Option<FoundCommit>, RepositoryError> {
        let main = self.main.as_ref();
        if matches!(name, "" | "HEAD") || name == &*self.own.revision.name() {
            return Ok(Some(FoundCommit { id: self.own.id, own: true, main: false }));
        }
        if let Some(main) = main.filter(|main| name == &*main.revision.name()) {
            return Ok(Some(FoundCommit { id: main.id, own: false, main: true }));
        }
        let id = match GitId::from_hex(name) {
            Some(id) => Some(id),
            None => self.abbreviated(name)?,
        };
        if let Some(id) = id {
            let found = FoundCommit { id, own: self.is_on(id, Some(&self.own))?, main: self.is_on(id, main)? };
            if found.own || found.main {
                return Ok(Some(found));
            }
        }
        for url in [Some(&self.own), main].into_iter().flatten().map(|head| &head.url) {
            let tag_or_branch = || [Revision::Tag(name.into()), Revision::branch(name)];
            let revisions =
                id.map_or_else(|| tag_or_branch().to_vec(), |id| vec![Revision::Commit { id, branch: None }]);
            for revision in revisions {
                if let Some(commit) = self.resolved(url, &revision)? {
                    return self.of_line(&commit);
                }
            }
        }
        Ok(None)
    }

    fn resolved(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Option<Commit>, RepositoryError> {
        match self.repositories.resolve(url, revision) {
            Err(RepositoryError::NoRevision { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    fn is_on(&self, id: GitId, head: Option<&Commit>) -> Result<bool, RepositoryError> {
        let Some(head) = head else { return Ok(false) };
        for reach in BASE_REACHES {
            if self.repositories.is_ancestor(id, head, reach)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds the commit by the first digits of its id, on the environment's branch and on the main branch.
    fn abbreviated(&self, digits: &str) -> Result<Option<GitId>, RepositoryError> {
        if digits.len() < DIGITS_MIN || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let digits = digits.to_ascii_lowercase();
        for head in [Some(&self.own), self.main.as_ref()].into_iter().flatten() {
            let history = self.repositories.history(head, HISTORY_MAX)?;
            if let Some(commit) = history.iter().find(|commit| commit.id.to_string().starts_with(&digits)) {
                return Ok(Some(commit.id));
            }
        }
        Ok(None)
    }

    /// The commit of a tag, a branch or an id, with the branches that contain it. If no branch contains it, these are the branches that contain its
    /// newest ancestor on a branch.
    fn of_line(&self, commit: &Commit) -> Result<Option<FoundCommit>, RepositoryError> {
        let main = self.main.as_ref();
        let found = FoundCommit {
            id: commit.id,
            own: self.is_on(commit.id, Some(&self.own))?,
            main: self.is_on(commit.id, main)?,
        };
        if found.own || found.main {
            return Ok(Some(found));
        }
        let own = self.repositories.history(&self.own, HISTORY_MAX)?;
        let main = main.map(|main| self.repositories.history(main, HISTORY_MAX)).transpose()?.unwrap_or_default();
        let is_in = |history: &[Commit], id| history.iter().any(|commit| commit.id == id);
        let before = self.repositories.history(commit, HISTORY_MAX)?;
        let began = before.iter().map(|before| (is_in(&own, before.id), is_in(&main, before.id)));
        Ok(began.into_iter().find(|(own, main)| *own || *main).map(|(own, main)| FoundCommit {
            id: commit.id,
            own,
            main,
        }))
    }
}

/// The number of commits that a suffix like `~2^` goes back. None if the suffix is not valid.
fn back(steps: &str) -> Option<usize> {
    let mut total = 0_usize;
    let mut rest = steps;
    while let Some(step) = rest.chars().next() {
        let behind = rest.get(1..)?;
        let digits =
            if step == '~' { behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len() } else { 0 };
        let number = if digits == 0 { 1 } else { behind.get(..digits)?.parse().ok()? };
        total = total.checked_add(number).filter(|total| *total <= HISTORY_MAX && matches!(step, '~' | '^'))?;
        rest = behind.get(digits..)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use git::{MemoryRepositories, NewCommit, Person};
    use model::tree::{Tree, closed};

    use super::*;

    const URL: &str = "https://git.example/acme/control-plane";

    /// Commits 1, 2 and 3 on `prod`; 4 and 5 on `main`; 6 on `feature`, which began at 2; 7 by itself on `other`; a tag at 4.
    fn check(text: &str, expected: Result<(Of, Option<usize>, usize), &str>) {
        let (repositories, url) = (MemoryRepositories::default(), RepositoryUrl::from_object(URL).unwrap());
        let mut ids: Vec<GitId> = Vec::new();
        let branches = [("prod", None), ("prod", Some(0)), ("prod", Some(1)), ("main", None), ("main", Some(3))];
        for (branch, parent) in branches.into_iter().chain([("feature", Some(1)), ("other", None)]) {
            let mut tree = Tree::default();
            tree.write("file", ids.len().to_string().into_bytes());
            let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
            let parents: Vec<_> = parent.map(|parent: usize| ids[parent]).into_iter().collect();
            let (open, message) = (&closed, "A change");
            let commit =
                NewCommit { parents: &parents, tree: &tree, open, message, author: &author, seconds: 0, signer: None };
            ids.push(repositories.commit(&url, branch, &commit).unwrap());
        }
        repositories.tag(&url, "v1", ids[3]);
        let head = |branch| repositories.resolve(&url, &Revision::branch(branch)).unwrap();
        let branches = Branches { repositories: &repositories, own: head("prod"), main: Some(head("main")) };
        let text = (1..=7).fold(text.to_owned(), |text, number: usize| {
            let id = ids[number - 1].to_string();
            text.replace(&format!("<{number}>"), &id).replace(&format!("<{number} short>"), &id[..7])
        });
        let number = |id: GitId| 1 + ids.iter().position(|other| *other == id).unwrap();
        let range = branches.range(&text).map(|range| (range.of, range.from.map(number), number(range.to)));
        match (range, expected) {
            (Err(failure), Err(words)) => assert!(failure.message.contains(words), "{}", failure.message),
            (range, expected) => assert_eq!(range.ok(), expected.ok(), "{text}"),
        }
    }

    #[test]
    fn commits_of_the_environment_stand_for_its_branch() {
        check("HEAD~1..HEAD", Ok((Of::Own, Some(2), 3)));
        check("prod^^..prod~", Ok((Of::Own, Some(1), 2)));
        check("<1>..<3 short>", Ok((Of::Own, Some(1), 3)));
        check("<2>", Ok((Of::Own, None, 2)));
        check("<2>..", Ok((Of::Own, Some(2), 3)));
    }

    #[test]
    fn commits_of_main_stand_for_the_promoted_one() {
        check("main~1..main", Ok((Of::Main, Some(4), 5)));
        check("<5 short>", Ok((Of::Main, None, 5)));
        check("v1..main", Ok((Of::Main, Some(4), 5)));
    }

    #[test]
    fn a_branch_that_began_at_a_commit_belongs_to_its_branch() {
        check("HEAD..feature", Ok((Of::Own, Some(3), 6)));
        check("<6>", Ok((Of::Own, None, 6)));
    }

    #[test]
    fn invalid_ranges_are_reported() {
        check("<1>..<5>", Err("are on different branches"));
        check("HEAD..other", Err("`other` is no commit of `prod` or `main`"));
        check("nothing", Err("`nothing` is no commit"));
        check("HEAD~7", Err("before `HEAD` there are 2 commits"));
        check("HEAD...main", Err("is not a range"));
        check("HEAD~x", Err("is not a commit"));
    }
}
