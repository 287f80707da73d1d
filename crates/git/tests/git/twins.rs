//! Behaviour that repositories in memory, local repositories and remote ones have in common.

use git::{EntryKind, FileContent, GitRepositories, NewCommit, Push, Pushed, Repositories, RepositoryError, Revision};
use model::git_id::GitId;
use model::progress::{Progress, ProgressPhase};
use model::tree::{Blob, Child, Entry, Mode, Open, Sealed, SealedBy, Tree, closed};
use testkit::git_server::GitServer;

use crate::playground::{Disk, commit, memory, person, tree, url};

/// Runs a test on all implementations, each with an empty repository `app`.
fn check(test: impl Fn(&dyn Repositories)) {
    test(&memory("app"));
    let disk = Disk::new();
    disk.create("app");
    test(&disk.local());
    let disk = Disk::new();
    disk.create("app");
    let server = GitServer::start(&disk.served()).unwrap();
    test(&GitRepositories::new(disk.settings(&server.url())));
}

fn head(repositories: &dyn Repositories, branch: &str) -> git::Commit {
    repositories.resolve(&url("app"), &Revision::branch(branch)).unwrap()
}

fn push(
    repositories: &dyn Repositories,
    branch: &str,
    expected: Option<GitId>,
    tree: &Tree,
) -> Result<Pushed, RepositoryError> {
    push_opening(repositories, Expected { branch, head: expected }, tree, &closed)
}

/// Where a branch is expected to be.
struct Expected<'e> {
    branch: &'e str,
    head: Option<GitId>,
}

fn push_opening(
    repositories: &dyn Repositories,
    Expected { branch, head: expected }: Expected<'_>,
    tree: &Tree,
    open: &Open<'_>,
) -> Result<Pushed, RepositoryError> {
    let (author, parents) = (person("Kalypso"), expected.into_iter().collect::<Vec<_>>());
    let commit =
        NewCommit { parents: &parents, tree, open, message: "publish\n", author: &author, seconds: 5, signer: None };
    repositories.push(&url("app"), &Push { branch, expected, commit: Some(commit), progress: &Progress::default() })
}

#[test]
fn committed_files_are_read() {
    check(|repositories| {
        let id = commit(repositories, &url("app"), "main", &[("a/b/c.yaml", "c"), ("a/d", "d"), ("e", "e")]);
        let commit = head(repositories, "main");
        assert_eq!(commit.id, id);
        let names = |path| {
            let entries = repositories.folder(&commit, path).unwrap()?;
            Some(entries.into_iter().map(|entry| (entry.name, entry.kind)).collect::<Vec<_>>())
        };
        assert_eq!(names(""), Some(vec![("a".to_owned(), EntryKind::Folder), ("e".to_owned(), EntryKind::File)]));
        assert_eq!(names("a"), Some(vec![("b".to_owned(), EntryKind::Folder), ("d".to_owned(), EntryKind::File)]));
        assert_eq!((names("e"), names("x"), names("a/x")), (None, None, None));
        let read = |limit| repositories.content(&commit, GitId::of_blob(b"c"), limit).unwrap();
        assert_eq!(read(1), FileContent::Bytes(b"c".as_slice().into()));
        assert_eq!(read(0), FileContent::TooLarge(1));
        assert_eq!(repositories.tree(&commit).unwrap(), tree(&[("a/b/c.yaml", "c"), ("a/d", "d"), ("e", "e")]));
    });
}

#[test]
fn names_of_others_that_are_not_utf8_stay_as_they_are() {
    check(|repositories| {
        let (latin, other) = (model::tree::name_text(b"caf\xe9"), model::tree::name_text(b"\xff.yaml"));
        let (latin, other) = (latin.as_ref(), other.as_ref());
        let below = format!("{latin}/{other}");
        let deep = format!("x/{latin}/y");
        commit(repositories, &url("app"), "main", &[("a", "1"), (&below, "2"), (&deep, "3"), ("café", "4")]);
        let before = head(repositories, "main");
        let mut new = repositories.tree(&before).unwrap();
        let open = git::opener(repositories, &before);
        for path in ["a", "b/c", "x/z"] {
            new.put(path, Child::File(Entry::file(*b"5")), &open).unwrap();
        }
        push_opening(repositories, Expected { branch: "main", head: Some(before.id) }, &new, &open).unwrap();
        let after = repositories.tree(&head(repositories, "main")).unwrap();
        assert_eq!(after.child(latin), repositories.tree(&before).unwrap().child(latin));
        let files = [("a", "5"), ("b/c", "5"), (&below, "2"), (&deep, "3"), ("café", "4"), ("x/z", "5")];
        assert_eq!(after, tree(&files));
        let entries = repositories.folder(&before, latin).unwrap().unwrap();
        assert_eq!(entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), [other]);
    });
}

#[test]
fn all_twins_give_a_commit_the_same_id() {
    check(|repositories| {
        let id = commit(repositories, &url("app"), "main", &[("a", "1")]);
        // The output of `git hash-object -t commit` for the same text.
        assert_eq!(id.to_string(), "8ba5162a756df090d793f9e105180b79e8205c69");
    });
}

#[test]
fn missing_revisions_are_named_in_the_error() {
    check(|repositories| {
        let resolve = |revision: Revision| repositories.resolve(&url("app"), &revision).unwrap_err().to_string();
        assert_eq!(resolve(Revision::branch("main")), "repository `https://git.example/acme/app` is empty");
        commit(repositories, &url("app"), "main", &[("a", "1")]);
        for name in ["dev", "-x", "a b", "a..b", "refs/heads/main", "*", ""] {
            let expected = format!("repository `https://git.example/acme/app` has no branch `{name}`");
            assert_eq!(resolve(Revision::branch(name)), expected);
        }
        let pinned = Revision::Commit { id: GitId::of_blob(b""), branch: Some("main".into()) };
        assert!(resolve(pinned).contains("has no commit `e69de29"));
        let missing = repositories.resolve(&url("nothing"), &Revision::branch("main"));
        assert!(matches!(missing, Err(RepositoryError::Unreachable { .. })), "{missing:?}");
    });
}

#[test]
fn an_earlier_commit_can_be_pinned() {
    check(|repositories| {
        let first = commit(repositories, &url("app"), "main", &[("a", "1")]);
        commit(repositories, &url("app"), "main", &[("a", "2")]);
        let pinned = Revision::Commit { id: first, branch: Some("main".into()) };
        let pinned = repositories.resolve(&url("app"), &pinned).unwrap();
        assert_eq!(repositories.tree(&pinned).unwrap(), tree(&[("a", "1")]));
    });
}

#[test]
fn history_follows_first_parents() {
    check(|repositories| {
        let ids = ["1", "2", "3"].map(|text| commit(repositories, &url("app"), "main", &[("a", text)]));
        let main = head(repositories, "main");
        let history =
            |reach| repositories.history(&main, reach).unwrap().into_iter().map(|commit| commit.id).collect::<Vec<_>>();
        assert_eq!(history(2), [ids[2], ids[1]]);
        assert_eq!(history(9), [ids[2], ids[1], ids[0]]);
        assert!(repositories.is_ancestor(ids[0], &main, 9).unwrap());
        assert!(!repositories.is_ancestor(ids[0], &main, 2).unwrap());
        assert!(!repositories.is_ancestor(GitId::of_blob(b""), &main, 9).unwrap());
    });
}

#[test]
fn ancestry_follows_all_parents_children_first() {
    check(|repositories| {
        let commit_on = |branch: &str, parents: &[GitId], text: &str| {
            let (tree, author) = (tree(&[("a", text)]), person("Ann"));
            let commit = NewCommit {
                parents,
                tree: &tree,
                open: &closed,
                message: text,
                author: &author,
                seconds: 5,
                signer: None,
            };
            let expected = parents.first().copied().filter(|_| branch == "main");
            let push = Push { branch, expected, commit: Some(commit), progress: &Progress::default() };
            let Ok(Pushed::Moved(id)) = repositories.push(&url("app"), &push) else { panic!("{text}") };
            id
        };
        let first = commit_on("main", &[], "first");
        let second = commit_on("main", &[first], "second");
        let side = commit_on("side", &[first], "side");
        let merge = commit_on("main", &[second, side], "merge");
        let ancestry = |reach| {
            let found = repositories.ancestry(&head(repositories, "main"), reach).unwrap();
            found.into_iter().map(|(id, info)| (id, info.message)).collect::<Vec<_>>()
        };
        let named = |id, name: &str| (id, name.to_owned());
        let all = [named(merge, "merge"), named(side, "side"), named(second, "second"), named(first, "first")];
        assert_eq!((ancestry(3), ancestry(9)), (all.to_vec(), all.to_vec()));
        assert_eq!((ancestry(1), ancestry(2)), (all[..1].to_vec(), all[..3].to_vec()));
    });
}

#[test]
fn a_push_needs_the_branch_to_be_where_it_is_expected() {
    check(|repositories| {
        let first = commit(repositories, &url("app"), "main", &[("a", "1")]);
        let expected = tree(&[("a", "2")]);
        assert_eq!(push(repositories, "main", None, &expected), Ok(Pushed::LostRace));
        assert_eq!(push(repositories, "main", Some(GitId::of_blob(b"")), &expected), Ok(Pushed::LostRace));
        assert_eq!(head(repositories, "main").id, first);
        assert!(matches!(push(repositories, "main", Some(first), &expected), Ok(Pushed::Moved(_))));
        assert_eq!(repositories.tree(&head(repositories, "main")).unwrap(), expected);
        assert_eq!(push(repositories, "other", Some(first), &expected), Ok(Pushed::LostRace));
    });
}

#[test]
fn push_keeps_existing_objects_by_id() {
    check(|repositories| {
        commit(repositories, &url("app"), "main", &[("docs/x", "1"), ("a/b", "2")]);
        let main = head(repositories, "main");
        let mut expected = repositories.tree(&main).unwrap();
        let open = git::opener(repositories, &main);
        expected.put("a/c", Child::File(Entry::file(*b"3")), &open).unwrap();
        push(repositories, "main", Some(main.id), &expected).unwrap();
        let now = repositories.tree(&head(repositories, "main")).unwrap();
        assert_eq!(now, tree(&[("docs/x", "1"), ("a/b", "2"), ("a/c", "3")]));
        let nowhere = Entry { mode: Mode::File, blob: Blob::existing(GitId::of_blob(b"nowhere")) };
        expected.put("a/d", Child::File(nowhere), &open).unwrap();
        let missing = push(repositories, "main", Some(main.id), &expected);
        assert!(!matches!(missing, Ok(Pushed::Moved(_))), "{missing:?}");
    });
}

#[test]
fn folders_are_made_when_the_repository_lacks_them() {
    check(|repositories| {
        let known = tree(&[("x", "1")]);
        commit(repositories, &url("app"), "main", &[("old/x", "1")]);
        let main = head(repositories, "main");
        let opened = std::sync::Mutex::new(Vec::new());
        let open = |sealed: &Sealed| {
            opened.lock().unwrap().push(sealed.by);
            Ok(tree(&[("y", "2")]))
        };
        let mut expected = repositories.tree(&main).unwrap();
        for (name, id, by) in [("known", known.id(), 1), ("new", tree(&[("y", "2")]).id(), 2)] {
            expected.set(name, Child::Sealed(Sealed { id, by: SealedBy::Generator(by) }));
        }
        push_opening(repositories, Expected { branch: "main", head: Some(main.id) }, &expected, &open).unwrap();
        assert_eq!(*opened.lock().unwrap(), [SealedBy::Generator(2)]);
        let main = head(repositories, "main");
        let open = git::opener(repositories, &main);
        let files = repositories.tree(&main).unwrap().files(&open).map(Result::unwrap);
        assert_eq!(files.map(|(path, _)| path).collect::<Vec<_>>(), ["known/x", "new/y", "old/x"]);
    });
}

#[test]
fn opened_folders_are_compared_with_their_id() {
    check(|repositories| {
        let wrong = Sealed { id: tree(&[("x", "1")]).id(), by: SealedBy::Generator(0) };
        let expected = Tree::from_children([("a".into(), Child::Sealed(wrong))]);
        let nowhere = Expected { branch: "main", head: None };
        let pushed = push_opening(repositories, nowhere, &expected, &|_| Ok(Tree::default()));
        assert!(matches!(pushed, Err(RepositoryError::Unopened { .. })), "{pushed:?}");
    });
}

#[test]
fn many_files_of_all_sizes_are_pushed() {
    check(|repositories| {
        let files: Vec<_> = (0..100).map(|index| (format!("{index}/x"), "y".repeat(index * index))).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        commit(repositories, &url("app"), "main", &files);
        let main = head(repositories, "main");
        assert_eq!(repositories.tree(&main).unwrap(), tree(&files));
        for (_, text) in files {
            let content = repositories.content(&main, GitId::of_blob(text.as_bytes()), 1 << 20).unwrap();
            assert_eq!(content, FileContent::Bytes(text.as_bytes().into()));
        }
    });
}

#[test]
fn folders_that_are_written_are_counted() {
    let author = person("Kalypso");
    let counted = |repositories: &dyn Repositories, parent: Option<GitId>, files: &[(&str, &str)]| {
        let (progress, tree) = (Progress::watched(), tree(files));
        let parents = Vec::from_iter(parent);
        let commit = NewCommit {
            parents: &parents,
            tree: &tree,
            open: &closed,
            message: "m",
            author: &author,
            seconds: 5,
            signer: None,
        };
        let push = Push { branch: "main", expected: parent, commit: Some(commit), progress: &progress };
        let Ok(Pushed::Moved(id)) = repositories.push(&url("app"), &push) else { panic!("the push failed") };
        let seen = progress.seen().unwrap();
        assert_eq!(
            (seen.phase, seen.total, seen.under_way.len()),
            (ProgressPhase::Writing, 1, 0),
            "the push counts as one"
        );
        (id, seen.done - seen.total)
    };
    check(|repositories| {
        let (first, folders) = counted(repositories, None, &[("a/x/f", "1"), ("a/y/f", "2"), ("b/f", "3")]);
        assert_eq!(folders, 5);
        let (_, folders) = counted(repositories, Some(first), &[("a/x/f", "1"), ("a/y/f", "4"), ("b/f", "3")]);
        assert_eq!(folders, 3);
    });
}

#[test]
fn a_branch_can_be_made_and_removed() {
    check(|repositories| {
        let first = commit(repositories, &url("app"), "main", &[("a", "1")]);
        let (tree, author) = (tree(&[("a", "2")]), person("Kalypso"));
        let commit = NewCommit {
            parents: &[first],
            tree: &tree,
            open: &closed,
            message: "m",
            author: &author,
            seconds: 5,
            signer: None,
        };
        let (branch, progress) = ("kalypso/dev", &Progress::default());
        let made = repositories.push(&url("app"), &Push { branch, expected: None, commit: Some(commit), progress });
        let Ok(Pushed::Moved(id)) = made else { panic!("{made:?}") };
        let info = repositories.info(&head(repositories, "kalypso/dev")).unwrap();
        assert_eq!((info.parents, info.author, info.message), (vec![first], author, "m".to_owned()));
        let remove = |expected| repositories.push(&url("app"), &Push { branch, expected, commit: None, progress });
        assert_eq!(remove(Some(first)), Ok(Pushed::LostRace));
        assert_eq!(remove(Some(id)), Ok(Pushed::Removed));
        assert!(repositories.resolve(&url("app"), &Revision::branch("kalypso/dev")).is_err());
    });
}
