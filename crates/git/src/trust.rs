//! Checks the owner and permissions of folders and files.
//!
//! The content of the cache decides what is published, and git runs in it with credentials. Therefore the cache is used only if it belongs to the
//! current user, if other users can't write to it, and if other users can't replace the folder with another one.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a folder or file is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// It is a symbolic link.
    #[error("`{}` is a symbolic link", .0.display())]
    Link(PathBuf),
    /// It is a file instead of a folder, or a folder instead of a file.
    #[error("`{}` has the wrong type: a file instead of a folder, or a folder instead of a file", .0.display())]
    Kind(PathBuf),
    /// It belongs to another user, who can change it at any time.
    #[error("`{}` belongs to user {owner}, not to the current user {user}", path.display())]
    Owner {
        /// The folder or file.
        path: PathBuf,
        /// The id of its owner.
        owner: u32,
        /// The id of the current user.
        user: u32,
    },
    /// Other users may write to it.
    #[error("other users may write to `{}`", .0.display())]
    Writable(PathBuf),
    /// The operating system returns an error for it, or it can't be created.
    #[error("`{}` can't be used: {reason}", path.display())]
    Unusable {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
}

impl Distrust {
    fn unusable(path: &Path, error: &io::Error) -> Self {
        Self::Unusable { path: path.to_owned(), reason: error.to_string() }
    }
}

/// Checks that a folder belongs to the current user, and that other users can't write to it. All folders above its real path are checked, too. A
/// folder that does not exist passes if it would be created in such a place. Returns the real path, or the absolute path of a folder that does not exist.
///
/// # Errors
/// If one of the checks fails.
pub fn check_folder(path: &Path) -> Result<PathBuf, Distrust> {
    let path = std::path::absolute(path).map_err(|error| Distrust::unusable(path, &error))?;
    let exists = match fs::symlink_metadata(&path) {
        Ok(metadata) => {
            check_kind(&path, &metadata, Metadata::is_dir)?;
            check(&path, &metadata, Part::Own)?;
            true
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(Distrust::unusable(&path, &error)),
    };
    let Some(parent) = path.parent() else { return Ok(path) };
    let above = parent.ancestors().find(|above| above.exists()).unwrap_or(parent);
    let real = above.canonicalize().map_err(|error| Distrust::unusable(above, &error))?;
    for folder in real.ancestors() {
        let metadata = fs::symlink_metadata(folder).map_err(|error| Distrust::unusable(folder, &error))?;
        check(folder, &metadata, Part::Above)?;
    }
    match path.file_name() {
        Some(name) if exists => Ok(real.join(name)),
        None if exists => path.canonicalize().map_err(|error| Distrust::unusable(&path, &error)),
        _ => Ok(path),
    }
}

/// Creates a folder that only the current user can access, if it does not exist, and checks it. Returns its real path.
///
/// # Errors
/// If the folder can't be created, or if a check fails.
pub fn prepare_folder(path: &Path) -> Result<PathBuf, Distrust> {
    let checked = check_folder(path)?;
    if checked.is_dir() {
        return Ok(checked);
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&checked).map_err(|error| Distrust::unusable(&checked, &error))?;
    // Another process may have created the folder first.
    check_folder(&checked)
}

/// Checks that a file belongs to the current user, and that other users can't write to it. Its folder is checked separately.
///
/// # Errors
/// If a check fails, or if the file does not exist.
pub fn check_file(path: &Path) -> Result<Metadata, Distrust> {
    let metadata = fs::symlink_metadata(path).map_err(|error| Distrust::unusable(path, &error))?;
    check_kind(path, &metadata, Metadata::is_file)?;
    check(path, &metadata, Part::Own)?;
    Ok(metadata)
}

fn check_kind(path: &Path, metadata: &Metadata, is_kind: fn(&Metadata) -> bool) -> Result<(), Distrust> {
    match metadata {
        metadata if metadata.file_type().is_symlink() => Err(Distrust::Link(path.to_owned())),
        metadata if is_kind(metadata) => Ok(()),
        _ => Err(Distrust::Kind(path.to_owned())),
    }
}

/// The user id of the administrator (root), who has all rights anyway.
#[cfg(unix)]
const ADMINISTRATOR: u32 = 0;

/// The part of a path that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The folder or file itself.
    Own,
    /// A folder above it.
    Above,
}

/// The rule that an owner and mode break.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Violation {
    Owner,
    Writable,
}

/// The rules. A folder or file belongs to the current user, and other users can't write to it. Folders above it may also belong to the administrator,
/// who has all rights anyway. If other users can write to a folder above, the sticky bit must be set: then they can't rename entries of the current
/// user.
#[cfg(unix)]
fn violation(part: Part, (owner, mode): (u32, u32), user: u32) -> Option<Violation> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let is_above = part == Part::Above;
    if owner != user && !(is_above && owner == ADMINISTRATOR) {
        return Some(Violation::Owner);
    }
    let is_sticky = is_above && mode & STICKY != 0;
    (mode & WRITABLE_BY_OTHERS != 0 && !is_sticky).then_some(Violation::Writable)
}

#[cfg(unix)]
pub(crate) fn check(path: &Path, metadata: &Metadata, part: Part) -> Result<(), Distrust> {
    use std::os::unix::fs::MetadataExt as _;
    let (owner, user) = (metadata.uid(), user());
    match violation(part, (owner, metadata.mode()), user) {
        None => Ok(()),
        Some(Violation::Owner) => Err(Distrust::Owner { path: path.to_owned(), owner, user }),
        Some(Violation::Writable) => Err(Distrust::Writable(path.to_owned())),
    }
}

/// Whether a file belongs to the current user.
#[cfg(unix)]
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == user()
}

/// Whether a file belongs neither to the current user nor to the administrator.
#[cfg(unix)]
pub fn has_foreign_owner(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() != user() && metadata.uid() != ADMINISTRATOR)
}

#[cfg(unix)]
fn user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// On this platform, the system closes the folders of a user to other users.
#[cfg(not(unix))]
pub(crate) fn check(_path: &Path, _metadata: &Metadata, _part: Part) -> Result<(), Distrust> {
    Ok(())
}

/// On this platform, the system closes the folders of a user to other users.
#[cfg(not(unix))]
pub fn has_foreign_owner(_path: &Path) -> bool {
    false
}

/// On this platform, the system closes the folders of a user to other users.
#[cfg(not(unix))]
pub(crate) fn is_own(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: u32 = 1000;
    const BOB: u32 = 1001;
    const ROOT: u32 = 0;

    fn check_rule(part: Part, of: (u32, u32), expected: Option<Violation>) {
        assert_eq!(violation(part, of, ANN), expected, "{part:?} {} {:o}", of.0, of.1);
    }

    #[test]
    fn folders_must_be_owned_by_the_user_and_not_writable_by_others() {
        for mode in [0o700, 0o750, 0o755, 0o1755, 0o500] {
            check_rule(Part::Own, (ANN, mode), None);
        }
        for mode in [0o770, 0o707, 0o777, 0o1777, 0o775, 0o720] {
            check_rule(Part::Own, (ANN, mode), Some(Violation::Writable));
        }
        check_rule(Part::Own, (BOB, 0o700), Some(Violation::Owner));
        check_rule(Part::Own, (ROOT, 0o700), Some(Violation::Owner));
    }

    #[test]
    fn parent_folders_may_belong_to_root_or_be_sticky() {
        for of in [(ANN, 0o755), (ROOT, 0o755), (ROOT, 0o1777), (ANN, 0o1777)] {
            check_rule(Part::Above, of, None);
        }
        for of in [(ROOT, 0o777), (ANN, 0o775)] {
            check_rule(Part::Above, of, Some(Violation::Writable));
        }
        for of in [(BOB, 0o755), (BOB, 0o1777)] {
            check_rule(Part::Above, of, Some(Violation::Owner));
        }
    }

    #[test]
    fn root_follows_the_same_ownership_rule() {
        assert_eq!(violation(Part::Own, (ANN, 0o700), ROOT), Some(Violation::Owner));
        assert_eq!(violation(Part::Above, (ANN, 0o755), ROOT), Some(Violation::Owner));
        assert_eq!(violation(Part::Own, (ROOT, 0o700), ROOT), None);
    }

    #[cfg(unix)]
    mod on_unix {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        use tempfile::TempDir;

        use super::super::*;

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn created_folders_are_private() {
            let folder = TempDir::new().unwrap();
            let made = prepare_folder(&folder.path().join("a/b")).unwrap();
            for path in [made.clone(), folder.path().join("a")] {
                assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
            }
            assert_eq!(prepare_folder(&made), Ok(made));
        }

        #[test]
        fn folders_and_parents_writable_by_others_are_refused() {
            let folder = TempDir::new().unwrap();
            let (above, cache) = (folder.path().join("a"), folder.path().join("a/b"));
            prepare_folder(&cache).unwrap();
            set_mode(&cache, 0o777);
            assert_eq!(check_folder(&cache), Err(Distrust::Writable(cache.clone())));
            set_mode(&cache, 0o755);
            set_mode(&above, 0o777);
            assert_eq!(check_folder(&cache), Err(Distrust::Writable(above.canonicalize().unwrap())));
            assert!(check_folder(&above.join("none")).is_err());
            set_mode(&above, 0o1777);
            assert!(check_folder(&cache).is_ok());
        }

        #[test]
        fn links_are_refused_but_allowed_as_parents() {
            let folder = TempDir::new().unwrap();
            let real = prepare_folder(&folder.path().join("real/cache")).unwrap();
            symlink(&real, folder.path().join("link")).unwrap();
            symlink(folder.path().join("real"), folder.path().join("above")).unwrap();
            let link = folder.path().join("link");
            assert_eq!(check_folder(&link), Err(Distrust::Link(link)));
            assert_eq!(check_folder(&folder.path().join("above/cache")), Ok(real));
        }

        #[test]
        fn folders_of_other_users_are_refused() {
            // The root folder belongs to the administrator, and only the administrator can change the owner of a folder.
            if !nix::unistd::geteuid().is_root() {
                assert!(matches!(check_folder(Path::new("/")), Err(Distrust::Owner { .. })));
                return;
            }
            let folder = TempDir::new().unwrap();
            let cache = prepare_folder(&folder.path().join("a/b")).unwrap();
            std::os::unix::fs::chown(folder.path().join("a"), Some(65_534), None).unwrap();
            assert!(matches!(check_folder(&cache), Err(Distrust::Owner { owner: 65_534, .. })));
        }
    }
}
