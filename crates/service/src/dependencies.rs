//! What an environment depends on: branches and tags of repositories.

use std::collections::BTreeMap;

use delivery::branches::push::Delivered;
use delivery::publication::publish::Outcome;
use delivery::sources::loaded::Loaded;
use git::RepositoryUrl;
use hub_api::syncs::SyncResult;
use model::git_id::GitId;

/// The branches and tags that an environment depends on, with the commits of its last sync. None: the branch did not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies(BTreeMap<(RepositoryUrl, String), Option<GitId>>);

impl Dependencies {
    /// The dependencies after a sync: its sources, and the branches that its output goes to.
    pub(crate) fn from_outcome(outcome: &Outcome) -> Self {
        let mut found = Self::default();
        for place in &outcome.places {
            found.add_sources(&place.loaded);
            let Some(known) = &place.planned.target.branch.heads else { continue };
            let (Ok(heads), Ok(url)) = (&known.heads, place.loaded.url(&known.place.repo)) else { continue };
            let (mut base, mut branch) = (Some(heads.base.id), heads.branch.as_ref().map(|commit| commit.id));
            match &place.delivered {
                Some(Delivered::Pushed { branch: pushed, commit, .. }) if *pushed == known.proposing_branch => {
                    branch = Some(*commit);
                }
                Some(Delivered::Pushed { commit, .. }) => base = Some(*commit),
                Some(Delivered::Withdrawn { .. }) => branch = None,
                _ => {}
            }
            found.0.insert((url.clone(), known.place.branch.to_string()), base);
            found.0.insert((url, known.proposing_branch.clone()), branch);
        }
        if let delivery::publication::publish::End::Incomplete(loaded) = &outcome.end {
            found.add_sources(loaded);
        }
        found
    }

    /// The dependencies of a sync in another replica, as it shows its result. The commits of destinations are not shown, so each one counts as new.
    pub(crate) fn shown(result: &SyncResult) -> Self {
        let mut found = Self::default();
        for source in &result.sources {
            let Ok(url) = RepositoryUrl::from_configuration(&source.repository) else { continue };
            found.0.insert((url, source.revision.clone()), GitId::from_hex(&source.commit));
        }
        for destination in &result.destinations {
            let Ok(url) = RepositoryUrl::from_configuration(&destination.repository) else { continue };
            found.0.insert((url, destination.branch.clone()), Some(GitId::from_bytes([0; 20])));
        }
        found
    }

    fn add_sources(&mut self, loaded: &Loaded) {
        for read in &loaded.reads {
            self.0.insert((read.url.clone(), read.revision.to_string()), Some(read.commit));
        }
    }

    /// Keeps dependencies of an earlier sync, which this one could not read.
    pub(crate) fn extend(&mut self, earlier: &Self) {
        for (key, commit) in &earlier.0 {
            self.0.entry(key.clone()).or_insert(*commit);
        }
    }

    /// The repositories.
    pub(crate) fn repositories(&self) -> impl Iterator<Item = &RepositoryUrl> {
        self.0.keys().map(|(url, _)| url)
    }

    /// Whether a sync is needed. `now` and `before` are the references of a repository, by their full names: those of the last two polls. A reference that the last
    /// sync read, or that was there at the poll before, is no change.
    pub(crate) fn are_changed(
        &self,
        url: &RepositoryUrl,
        now: &BTreeMap<String, GitId>,
        before: Option<&BTreeMap<String, GitId>>,
    ) -> bool {
        self.of_repository(url).any(|(name, read)| {
            let branch = format!("refs/heads/{name}");
            let is_changed = |found: &BTreeMap<String, GitId>, name: &str| found.get(name) != now.get(name);
            if now.contains_key(&branch) || before.is_some_and(|before| before.contains_key(&branch)) {
                let id = now.get(&branch).copied();
                return id != read && before.is_none_or(|before| is_changed(before, &branch));
            }
            // An annotated tag has an id of its own, so only two polls can be compared.
            before.is_some_and(|before| is_changed(before, &format!("refs/tags/{name}")))
        })
    }

    /// Whether the environment reads a branch of a repository, and has not read this commit of it.
    pub(crate) fn have(&self, is_meant: impl Fn(&RepositoryUrl) -> bool, branch: &str, commit: Option<GitId>) -> bool {
        self.0.iter().any(|((url, name), read)| name == branch && *read != commit && is_meant(url))
    }

    fn of_repository<'a>(&'a self, url: &'a RepositoryUrl) -> impl Iterator<Item = (&'a str, Option<GitId>)> {
        let of_repository = self.0.iter().filter(move |((own, _), _)| own == url);
        of_repository.map(|((_, name), commit)| (name.as_str(), *commit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> GitId {
        GitId::from_hex(&format!("{number:040x}")).unwrap()
    }

    fn references(found: &[(&str, u8)]) -> BTreeMap<String, GitId> {
        found.iter().map(|(name, number)| ((*name).to_owned(), id(*number))).collect()
    }

    fn check(read: Option<u8>, before: Option<&[(&str, u8)]>, now: &[(&str, u8)]) -> bool {
        let url = RepositoryUrl::from_object("https://git.example/a/b").unwrap();
        let dependencies = Dependencies([((url.clone(), "main".to_owned()), read.map(id))].into());
        let before = before.map(references);
        dependencies.are_changed(&url, &references(now), before.as_ref())
    }

    #[test]
    fn commits_read_by_the_last_sync_are_no_change() {
        let main = "refs/heads/main";
        assert!(!check(Some(1), None, &[(main, 1)]));
        assert!(check(Some(1), None, &[(main, 2)]));
        assert!(check(Some(1), Some(&[(main, 1)]), &[(main, 2)]));
        // Its own push, seen by the next poll.
        assert!(!check(Some(2), Some(&[(main, 1)]), &[(main, 2)]));
        // It was requested at the poll before.
        assert!(!check(Some(1), Some(&[(main, 2)]), &[(main, 2)]));
        assert!(check(Some(1), Some(&[(main, 1)]), &[]));
        assert!(!check(None, Some(&[]), &[("refs/heads/other", 1)]));
        assert!(check(None, Some(&[]), &[(main, 1)]));
    }

    #[test]
    fn a_tag_is_compared_with_the_poll_before() {
        let tag = "refs/tags/main";
        assert!(!check(Some(1), None, &[(tag, 9)]));
        assert!(!check(Some(1), Some(&[(tag, 9)]), &[(tag, 9)]));
        assert!(check(Some(1), Some(&[(tag, 9)]), &[(tag, 8)]));
    }

    #[test]
    fn a_commit_that_was_read_is_no_change() {
        let url = RepositoryUrl::from_object("https://git.example/a/b.git").unwrap();
        let dependencies = Dependencies([((url, "main".to_owned()), Some(id(1)))].into());
        assert!(dependencies.have(|_| true, "main", Some(id(2))));
        assert!(!dependencies.have(|_| true, "main", Some(id(1))));
        assert!(!dependencies.have(|_| true, "dev", Some(id(2))));
        assert!(!dependencies.have(|_| false, "main", Some(id(2))));
    }
}
