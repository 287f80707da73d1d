//! Memos on disk, and whatever can be wrong with them.

use std::sync::Arc;

use engine::compile::Compiled;
use model::fleet::Fleet;
use tempfile::TempDir;
use testkit::generator::{self, ENVIRONMENT, Size};

use super::*;

/// What is known of a fleet of so many assignments.
fn memo(assignments: usize) -> Memo {
    let size = Size { cluster_types: 1, targets: assignments, config_maps: 1, schemas: 1 };
    let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _): (Fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT).unwrap();
    Compiled::new(&Arc::new(fleet)).results()
}

/// The file of an environment in a cache, with a key.
fn file(cache: &Path, secret: &str) -> MemoFile {
    MemoFile::new((cache, CacheKey::derive(secret.as_bytes()).ok()), "control-plane", "prod")
}

/// A file with a memo of two assignments, and how many are known after something was done to it.
fn check(change: impl FnOnce(&MemoFile)) -> usize {
    let cache = TempDir::new().unwrap();
    let file = file(&cache.path().join("deep/cache"), "a key of this machine");
    file.save(&memo(2));
    change(&file);
    file.load().len()
}

/// Puts bytes where the file is.
fn put(file: &MemoFile, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(&file.path).unwrap();
    change(&mut bytes);
    fs::write(&file.path, bytes).unwrap();
}

#[test]
fn saved_memos_are_loaded() {
    assert_eq!(check(|_| ()), 2);
    assert_eq!(check(|file| file.save(&memo(3))), 3);
    assert_eq!(check(MemoFile::touch), 2);
}

#[test]
fn damaged_memos_are_ignored() {
    assert_eq!(check(|file| put(file, |bytes| bytes.truncate(bytes.len() / 2))), 0);
    assert_eq!(check(|file| put(file, |bytes| bytes[HEADER.len() + 40] ^= 1)), 0);
    assert_eq!(check(|file| put(file, Vec::clear)), 0);
    assert_eq!(check(|file| fs::remove_file(&file.path).unwrap()), 0);
    assert_eq!(check(|file| fs::remove_dir_all(&file.folder).unwrap()), 0);
}

#[test]
fn memos_of_another_build_are_ignored() {
    let mut other = HEADER.replace(env!("KALYPSO_CODE_DIGEST"), &"0".repeat(32)).into_bytes();
    assert_eq!(other.len(), HEADER.len());
    assert_eq!(check(|file| put(file, |bytes| bytes[..other.len()].swap_with_slice(&mut other))), 0);
}

#[test]
fn memos_signed_with_another_key_are_ignored() {
    let cache = TempDir::new().unwrap();
    let [ours, theirs] = ["a key of this machine", "a key of another machine"].map(|key| file(cache.path(), key));
    theirs.save(&memo(2));
    assert_eq!((theirs.load().len(), ours.load().len()), (2, 0));
    // As they are known to everybody, check sums can be made again: the body has one, and it is right.
    ours.save(&memo(2));
    put(&ours, |bytes| {
        let forged = memo(3).write();
        bytes.truncate(HEADER.len());
        bytes.extend_from_slice(&forged);
        bytes.extend_from_slice(&[0; SIGNATURE_BYTES]);
    });
    assert_eq!(ours.load().len(), 0);
}

#[test]
fn memos_of_another_environment_are_ignored() {
    let cache = TempDir::new().unwrap();
    let key = || CacheKey::derive(b"a key of this machine").ok();
    let [prod, dev] = ["prod", "dev"].map(|name| MemoFile::new((cache.path(), key()), "control-plane", name));
    dev.save(&memo(2));
    fs::rename(&dev.path, &prod.path).unwrap();
    assert_eq!(prod.load().len(), 0);
}

#[test]
fn without_a_key_memos_are_neither_loaded_nor_saved() {
    let cache = TempDir::new().unwrap();
    file(cache.path(), "a key of this machine").save(&memo(2));
    let without = MemoFile::new((cache.path(), None), "control-plane", "prod");
    let before = fs::read(&without.path).unwrap();
    without.save(&memo(3));
    assert_eq!((without.load().len(), fs::read(&without.path).unwrap()), (0, before));
}

#[test]
fn environments_and_control_planes_have_files_of_their_own() {
    let path = |control_plane, environment| MemoFile::new((Path::new("cache"), None), control_plane, environment).path;
    let all = [path("a", "prod"), path("a", "dev"), path("b", "prod")];
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
    assert_eq!(path("a", "prod"), all[0]);
}

#[test]
fn concurrent_saves_leave_a_complete_file() {
    let (two, three) = (memo(2), memo(3));
    let known = check(|file| {
        std::thread::scope(|scope| {
            for memo in [&two, &three, &two, &three] {
                scope.spawn(move || (0..50).for_each(|_| file.save(memo)));
                scope.spawn(move || (0..50).for_each(|_| assert!([2, 3].contains(&file.load().len()))));
            }
        });
        let names = fs::read_dir(&file.folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), [file.path.file_name().unwrap()]);
    });
    assert!([2, 3].contains(&known));
}

#[test]
fn unwritable_cache_gives_an_empty_memo() {
    let cache = TempDir::new().unwrap();
    fs::write(cache.path().join(FOLDER), "a file").unwrap();
    let file = file(cache.path(), "a key of this machine");
    file.save(&memo(2));
    file.touch();
    assert_eq!(file.load().len(), 0);
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn memo_files_are_private_to_the_user() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        check(|file| assert_eq!((mode(&file.path), mode(&file.folder)), (0o600, 0o700)));
    }

    #[test]
    fn memos_writable_by_others_are_ignored() {
        assert_eq!(check(|file| set_mode(&file.path, 0o666)), 0);
        assert_eq!(check(|file| set_mode(&file.folder, 0o777)), 0);
        // What others may only read is harmless.
        assert_eq!(check(|file| set_mode(&file.folder, 0o755)), 2);
    }

    #[test]
    fn memos_of_other_users_are_ignored() {
        // Only root can give a file away.
        if nix::unistd::geteuid().is_root() {
            assert_eq!(check(|file| std::os::unix::fs::chown(&file.path, Some(65_534), None).unwrap()), 0);
        }
    }

    #[test]
    fn symbolic_links_are_not_followed() {
        let elsewhere = TempDir::new().unwrap();
        let target = elsewhere.path().join("target");
        let known = check(|file| {
            fs::rename(&file.path, &target).unwrap();
            symlink(&target, &file.path).unwrap();
        });
        assert_eq!(known, 0);
        let before = fs::read(&target).unwrap();
        let known = check(|file| {
            fs::remove_file(&file.path).unwrap();
            symlink(&target, &file.path).unwrap();
            file.save(&memo(3));
        });
        assert_eq!((known, fs::read(&target).unwrap()), (3, before));
    }

    #[test]
    fn a_folder_that_is_a_symbolic_link_is_not_used() {
        let elsewhere = TempDir::new().unwrap();
        let known = check(|file| {
            fs::remove_dir_all(&file.folder).unwrap();
            symlink(elsewhere.path(), &file.folder).unwrap();
            file.save(&memo(2));
        });
        assert_eq!((known, fs::read_dir(elsewhere.path()).unwrap().count()), (0, 0));
    }
}

/// Files of some ages, in hours, and lengths, and the ones that are left.
fn left(files: &[(&str, u64, u64)]) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let newest = folder.path().join("newest.memo");
    fs::write(&newest, "new").unwrap();
    for (name, age, length) in files {
        let file = File::create(folder.path().join(name)).unwrap();
        file.set_len(*length).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(*age)).unwrap();
    }
    prune(folder.path(), &newest).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn least_recently_used_files_are_deleted() {
    let third = TOTAL_BYTES_MAX / 3;
    let files = [("a.memo", 3, third), ("b.memo", 1, third), ("c.memo", 2, third), ("d.memo", 4, 1)];
    assert_eq!(left(&files), ["b.memo", "c.memo", "newest.memo"]);
    assert_eq!(left(&files[2..]), ["c.memo", "d.memo", "newest.memo"]);
}

#[test]
fn old_unfinished_files_are_deleted_and_foreign_files_kept() {
    let files = [("a.memo.1-2.unfinished", 2, 1), ("b.memo.1-2.unfinished", 0, 1), ("notes.txt", 90, TOTAL_BYTES_MAX)];
    assert_eq!(left(&files), ["b.memo.1-2.unfinished", "newest.memo", "notes.txt"]);
}
