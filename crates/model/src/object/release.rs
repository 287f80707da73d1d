//! The release of a workload: the version of each key of `manifests` that names one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::git_id::GitId;

/// The keys of `manifests` that name a release, the most exact one first.
pub const RELEASE_KEYS: [&str; 8] =
    ["digest", "commit", "tag", "version", "chartVersion", "targetRevision", "revision", "branch"];

/// The key of a commit.
pub const COMMIT: &str = "commit";
/// The key of a tag.
pub const TAG: &str = "tag";

/// The number of digits of a commit that people see.
const SHOWN_DIGITS: usize = 7;

/// The keys of `manifests` that name something in the git repository of the key `repo`. It can get another commit.
const GIT_KEYS: [&str; 2] = [TAG, "branch"];

/// The `manifests` of a target or of a pin.
type Manifests = BTreeMap<Arc<str>, Arc<str>>;

static NO_MANIFESTS: Manifests = Manifests::new();

/// The release of a workload. A target for clusters may name a `tag`, and one for hosts a `version`: both belong to the release.
///
/// Its text is the version, if one key names it, and otherwise a list: `tag=2.0.0,version=2.0.0-1`. A tag or branch at a commit is written as `v2.0.0@COMMIT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(Manifests);

/// The key that names the release of a target. None: it has none of [`RELEASE_KEYS`].
fn key(manifests: &Manifests) -> Option<&'static str> {
    RELEASE_KEYS.into_iter().find(|key| manifests.contains_key(*key))
}

/// The keys that name the release of targets.
fn keys(targets: &[Manifests]) -> BTreeSet<&'static str> {
    targets.iter().filter_map(key).collect()
}

/// A release that is named by a tag or a branch of a git repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitReference<'a> {
    /// The repository.
    pub repo: &'a str,
    /// The key: `tag` or `branch`.
    pub key: &'static str,
    /// The tag or the branch.
    pub name: &'a str,
}

/// The tag or branch that names the release of a target. None: something else names it.
pub fn git_reference(manifests: &Manifests) -> Option<GitReference<'_>> {
    let key = key(manifests).filter(|key| GIT_KEYS.contains(key))?;
    Some(GitReference { repo: manifests.get("repo")?, key, name: manifests.get(key)? })
}

/// The key that names the release of a target, and its version, if the version can get another content later. A gate can't know that. None: it names one content, as
/// far as its text says.
pub fn movable(manifests: &Manifests) -> Option<(&'static str, &str)> {
    let key = key(manifests)?;
    let version = &**manifests.get(key)?;
    let is_movable = match key {
        "digest" | "commit" => false,
        "branch" => true,
        // Tags such as `latest` follow the newest version.
        "tag" => !has_digit(version),
        "version" | "chartVersion" => is_range(version),
        // A commit, a version or a range of versions, or else a branch.
        _ => !is_commit(version) && (!is_version(version) || is_range(version)),
    };
    is_movable.then_some((key, version))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_version(text: &str) -> bool {
    text.trim_start_matches('v').starts_with(|first: char| first.is_ascii_digit() || "^~<>=*".contains(first))
}

/// Whether a text is a range of versions, as Helm and npm write it.
fn is_range(text: &str) -> bool {
    let has_wildcard = || text.split('.').any(|part| matches!(part, "x" | "X"));
    text.contains(['*', '^', '~', '<', '>', '|', ' ']) || has_wildcard()
}

impl Release {
    /// The release of targets with these manifests. None under the conditions of [`Self::of_promoted`].
    pub fn of_targets(targets: &[Manifests]) -> Option<Self> {
        Self::of_promoted(targets.iter().map(|manifests| (manifests, &NO_MANIFESTS)))
    }

    /// The release of targets that name a tag or a branch, at a commit.
    pub fn at_commit(reference: GitReference<'_>, commit: &str) -> Self {
        let version = format!("{}@{commit}", reference.name);
        Self(BTreeMap::from([(reference.key.into(), version.into())]))
    }

    /// The release of targets: the manifests of each, with those that a promoted release has set. None if no key names it, if two targets have different versions of
    /// one key, or if its text would be read as another release.
    pub fn of_promoted<'a>(targets: impl IntoIterator<Item = (&'a Manifests, &'a Manifests)>) -> Option<Self> {
        let mut release = BTreeMap::new();
        for (own, promoted) in targets {
            let all: Manifests = own.iter().chain(promoted).map(|(key, one)| (key.clone(), one.clone())).collect();
            let Some(key) = key(&all) else { continue };
            let version = all.get(key)?;
            // A team chooses the names of its tags. None may pass the gates as a tag at a commit.
            let is_reserved = GIT_KEYS.contains(&key) && at_commit(version).is_some() && !promoted.contains_key(key);
            let has_other = release.insert(Arc::from(key), Arc::clone(version)).is_some_and(|other| other != *version);
            if is_reserved || has_other {
                return None;
            }
        }
        let release = (!release.is_empty()).then_some(Self(release))?;
        (Self::parse_like(&release.text(), &release)? == release).then_some(release)
    }

    /// The release that a promotion wrote into a pin. None: it names none.
    pub fn of_pin(manifests: &Manifests) -> Option<Self> {
        let named = manifests.iter().filter(|(key, _)| RELEASE_KEYS.contains(&&***key));
        let release: Manifests = named.map(|(key, version)| (Arc::clone(key), Arc::clone(version))).collect();
        (!release.is_empty()).then_some(Self(release))
    }

    /// The release with this text, for the keys of another one. None: it has no version for one of the keys.
    pub fn parse_like(text: &str, other: &Self) -> Option<Self> {
        let listed = list(text);
        if let (true, 1, Some((key, _))) = (listed.is_empty(), other.0.len(), other.0.first_key_value()) {
            return Some(Self(BTreeMap::from([(Arc::clone(key), version_of(key, text).into())])));
        }
        let version = |key: &Arc<str>| Some((Arc::clone(key), Arc::from(&**listed.get(&**key)?)));
        other.0.keys().map(version).collect::<Option<_>>().map(Self)
    }

    /// What an admitted release with this text sets in targets with these manifests. It does not set keys that the targets got later: what is new in an environment
    /// has what its sources name. None: nothing.
    pub fn admitted(text: &str, targets: &[Manifests]) -> Option<Self> {
        let (keys, listed) = (keys(targets), list(text));
        let set: Manifests = if listed.is_empty() {
            let first = RELEASE_KEYS.into_iter().find(|key| keys.contains(key));
            first.map(|key| (Arc::from(key), Arc::from(version_of(key, text)))).into_iter().collect()
        } else {
            let of_targets = listed.iter().filter(|(key, _)| keys.contains(*key));
            of_targets.map(|(key, version)| (Arc::from(*key), Arc::from(&**version))).collect()
        };
        (!set.is_empty()).then_some(Self(set))
    }

    /// The text.
    pub fn text(&self) -> Arc<str> {
        if let (1, Some((_, version))) = (self.0.len(), self.0.first_key_value()) {
            return Arc::clone(version);
        }
        let all: Vec<_> = self.0.iter().map(|(key, version)| format!("{key}={version}")).collect();
        all.join(",").into()
    }

    /// The keys with their versions.
    pub fn manifests(&self) -> &Manifests {
        &self.0
    }
}

/// The tag or branch, and the commit, of a text `v2.0.0@COMMIT`. None: it is another text.
fn at_commit(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('@').filter(|(name, commit)| !name.is_empty() && GitId::from_hex(commit).is_some())
}

/// Whether people may call a release so: by its text, by what they see, or by its tag or branch without the commit.
pub fn is_called(release: &str, name: &str) -> bool {
    release == name || shown(release) == name || at_commit(release).is_some_and(|(git, _)| git == name)
}

/// Whether people may mean a release by a version: it is called so, or one of its keys has this version.
pub fn is_meant(release: &str, version: &str) -> bool {
    is_called(release, version) || list(release).values().any(|one| is_called(one, version))
}

/// A version as targets with this key name it: of a tag at a commit, `commit` is the commit alone.
fn version_of<'a>(key: &str, version: &'a str) -> &'a str {
    at_commit(version).filter(|_| key == COMMIT).map_or(version, |(_, commit)| commit)
}

/// What a version of a promoted release sets in a target: a tag or branch at a commit sets both.
pub fn set_by<'a>(key: &'a Arc<str>, version: &'a Arc<str>) -> Vec<(Arc<str>, Arc<str>)> {
    match at_commit(version).filter(|_| GIT_KEYS.contains(&&**key)) {
        Some((name, commit)) => vec![(Arc::clone(key), name.into()), (COMMIT.into(), commit.into())],
        None => vec![(Arc::clone(key), Arc::clone(version))],
    }
}

/// Whether a promoted release with these manifests is a tag or branch at a commit.
pub fn is_at_commit(manifests: &Manifests) -> bool {
    GIT_KEYS.into_iter().filter_map(|key| manifests.get(key)).any(|version| at_commit(version).is_some())
}

/// A release or commit for people: with the first digits of the commit, if it is one, or is at one.
pub fn shown(revision: &str) -> &str {
    let id = at_commit(revision).map_or(revision, |(_, commit)| commit);
    let hidden = GitId::from_hex(id).map_or(0, |_| id.len() - SHOWN_DIGITS);
    revision.get(..revision.len() - hidden).unwrap_or(revision)
}

/// The versions in a list by their keys. Empty: the text is a version alone. A version may contain `,` and `=`.
fn list(text: &str) -> BTreeMap<&'static str, String> {
    let mut listed: Vec<(&'static str, String)> = Vec::new();
    for part in text.split(',') {
        let named = part.split_once('=').and_then(|(name, version)| {
            let key = RELEASE_KEYS.into_iter().find(|key| *key == name)?;
            Some((key, version.to_owned()))
        });
        match (named, listed.last_mut()) {
            (Some(named), _) => listed.push(named),
            (None, Some((_, version))) => {
                version.push(',');
                version.push_str(part);
            }
            (None, None) => return BTreeMap::new(),
        }
    }
    if listed.len() < 2 { BTreeMap::new() } else { listed.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifests(pairs: &[(&str, &str)]) -> Manifests {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    fn targets(all: &[&[(&str, &str)]]) -> Vec<Manifests> {
        all.iter().map(|pairs| manifests(pairs)).collect()
    }

    fn check(all: &[&[(&str, &str)]], expected: Option<&str>) {
        let all = targets(all);
        let found = Release::of_targets(&all);
        assert_eq!(found.as_ref().map(|found| found.text().to_string()).as_deref(), expected);
        if let Some(found) = found {
            assert_eq!(Release::admitted(&found.text(), &all), Some(found.clone()));
            assert_eq!(Release::parse_like(&found.text(), &found), Some(found.clone()));
            assert_eq!(Release::of_pin(found.manifests()), Some(found));
        }
    }

    #[test]
    fn the_most_exact_key_of_each_target_names_the_release() {
        check(&[&[("repo", "r"), ("branch", "dev"), ("tag", "v2.0.0-rc.1")]], Some("v2.0.0-rc.1"));
        check(&[&[("repo", "r"), ("branch", "dev")], &[("branch", "dev")]], Some("dev"));
        check(&[&[("tag", "v1"), ("branch", "a")], &[("tag", "v1"), ("branch", "b")]], Some("v1"));
        check(&[&[("tag", "v1")], &[("version", "1.0-1")]], Some("tag=v1,version=1.0-1"));
        check(&[&[("tag", "a,b=c")], &[("version", "x=1,y")]], Some("tag=a,b=c,version=x=1,y"));
        check(&[&[("tag", "tag=1")]], Some("tag=1"));
        check(&[&[("tag", "v1")], &[("tag", "v2")]], None);
        check(&[&[("repo", "r")]], None);
    }

    #[test]
    fn a_tag_or_branch_moves_with_its_commit() {
        let commit = "41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0";
        for key in ["tag", "branch"] {
            let target = manifests(&[("repo", "r"), (key, "v1")]);
            let release = Release::at_commit(git_reference(&target).unwrap(), commit);
            let text = format!("v1@{commit}");
            assert_eq!((release.text().as_ref(), is_at_commit(release.manifests())), (&*text, true));
            let later = std::slice::from_ref(&target);
            assert_eq!(Release::admitted(&text, later).as_ref(), Some(&release));
            assert_eq!(Release::parse_like(&text, &Release::of_targets(later).unwrap()).as_ref(), Some(&release));
            assert_eq!(Release::of_promoted([(&target, release.manifests())]).as_ref(), Some(&release));
            let (key, version) = release.manifests().first_key_value().unwrap();
            assert_eq!(Manifests::from_iter(set_by(key, version)), manifests(&[(key, "v1"), (COMMIT, commit)]));
            // A target that names commits itself gets the commit.
            let pinned = targets(&[&[(COMMIT, "a1")]]);
            let of_pinned = Release::parse_like(&text, &Release::of_targets(&pinned).unwrap()).unwrap();
            assert_eq!(
                (of_pinned.text().as_ref(), Release::admitted(&text, &pinned)),
                (commit, Some(of_pinned.clone()))
            );
        }
        assert_eq!(git_reference(&manifests(&[("repo", "r"), ("branch", "b"), ("digest", "sha256:1")])), None);
        assert_eq!(git_reference(&manifests(&[("tag", "v1")])), None);
        // The commit of one target is none of the tag of another one.
        check(&[&[("tag", "v1")], &[(COMMIT, commit)]], Some(&format!("commit={commit},tag=v1")));
    }

    #[test]
    fn no_tag_is_read_as_another_release() {
        let commit = "41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0";
        check(&[&[("tag", &format!("v1@{commit}"))]], None);
        check(&[&[("version", &format!("v1@{commit}"))]], Some(&format!("v1@{commit}")));
        check(&[&[("tag", &format!("commit={commit},tag=v1"))]], None);
        check(&[&[("tag", "v1,version=2")], &[("version", "1")]], None);
        check(&[&[("tag", "v1@41c77fe")]], Some("v1@41c77fe"));
    }

    #[test]
    fn people_see_the_first_digits_of_commits() {
        let commit = "41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0";
        let at = format!("v1@{commit}");
        assert_eq!(
            (shown(commit), shown(&at), shown("v1"), shown("ann@41c77fe")),
            ("41c77fe", "v1@41c77fe", "v1", "ann@41c77fe")
        );
        for name in [&*at, "v1@41c77fe", "v1"] {
            assert!(is_called(&at, name), "{name}");
        }
        assert!(is_called(commit, "41c77fe") && !is_called(&at, "v2") && !is_called("v1", "v"));
        let both = format!("tag={at},version=1.0-1");
        assert!(["v1", "1.0-1", &both].into_iter().all(|version| is_meant(&both, version)));
        assert!(!is_meant(&both, "1.0") && !is_called(&both, "v1"));
    }

    #[test]
    fn branches_ranges_and_moving_tags_are_movable() {
        let check = |pairs: &[(&str, &str)], expected: Option<(&str, &str)>| {
            assert_eq!(movable(&manifests(pairs)), expected);
        };
        for branch in ["main", "v2", "release-2.0"] {
            check(&[("branch", branch)], Some(("branch", branch)));
        }
        check(&[("branch", "main"), ("commit", "41c77fe")], None);
        check(&[("tag", "latest"), ("digest", "sha256:77aa")], None);
        for (key, version) in [
            ("tag", "latest"),
            ("version", "^1.2"),
            ("version", "1.x"),
            ("chartVersion", ">=1.0.0 <2.0.0"),
            ("chartVersion", "*"),
            ("targetRevision", "HEAD"),
            ("targetRevision", "main"),
            ("targetRevision", "1.*"),
            ("revision", "release/next"),
        ] {
            check(&[(key, version)], Some((key, version)));
        }
        for (key, version) in [
            ("tag", "v2.0.0"),
            ("tag", "2.0.0-hotfix.x1"),
            ("version", "1.4.0+max"),
            ("chartVersion", "12.0.1"),
            ("targetRevision", "v1.2.0"),
            ("revision", "41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0"),
        ] {
            check(&[(key, version)], None);
        }
        check(&[("repo", "r")], None);
    }

    #[test]
    fn a_release_needs_a_version_for_each_key() {
        let (cluster, both) = (targets(&[&[("tag", "1")]]), targets(&[&[("tag", "1")], &[("version", "1")]]));
        let like = |text, targets: &[Manifests]| {
            let release = Release::of_targets(targets).unwrap();
            Release::parse_like(text, &release).map(|found| found.text().to_string())
        };
        assert_eq!(like("2", &both), None);
        assert_eq!(like("tag=2,version=2-1", &cluster).as_deref(), Some("2"));
        assert_eq!(like("tag=2,version=2-1", &both).as_deref(), Some("tag=2,version=2-1"));
    }

    #[test]
    fn an_admitted_release_stays_when_targets_get_other_keys() {
        let admitted = |text: &str, all: &[Manifests]| Release::admitted(text, all).map(|found| found.0);
        let both = targets(&[&[("tag", "9")], &[("version", "9")]]);
        assert_eq!(admitted("1", &both), Some(manifests(&[("tag", "1")])));
        assert_eq!(admitted("tag=1,version=1-1", &targets(&[&[("tag", "9")]])), Some(manifests(&[("tag", "1")])));
        assert_eq!(admitted("1", &targets(&[])), None);
    }
}
