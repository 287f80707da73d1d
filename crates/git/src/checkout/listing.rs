//! Lists the files of a working tree as git sees them.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Checkout, CheckoutError};
use crate::repositories::in_checkout;
use crate::settings::Settings;

/// The files of a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Files in the index, and new files that are not ignored. Links and the folders of submodules are among them.
    pub(super) present: Vec<Vec<u8>>,
    /// Files that git leaves out of the working tree (sparse checkout).
    pub(super) skipped: Vec<Vec<u8>>,
    /// Files of a merge that need a decision.
    pub(super) unmerged: Vec<Vec<u8>>,
}

/// Lists the files. Ignored files are left out.
pub(super) fn list(settings: &Settings, checkout: &Checkout) -> Result<Listing, CheckoutError> {
    let arguments = ["ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"];
    let failed =
        |message| CheckoutError::Git { path: checkout.root().to_owned(), command: "ls-files".to_owned(), message };
    Ok(parse(&in_checkout(settings, checkout.root(), &arguments).map_err(failed)?))
}

fn parse(output: &[u8]) -> Listing {
    let mut listing = Listing::default();
    for entry in output.split(|byte| *byte == 0).filter(|entry| entry.len() > 2) {
        let (tag, path) = entry.split_at(2);
        // Names of nested repositories end with a slash.
        if path.ends_with(b"/") {
            continue;
        }
        match tag.first() {
            Some(b'S') => listing.skipped.push(path.to_owned()),
            Some(b'M') => listing.unmerged.push(path.to_owned()),
            _ => listing.present.push(path.to_owned()),
        }
    }
    listing.unmerged.sort();
    listing.unmerged.dedup();
    listing
}

/// The path of a file on this machine, from its name in git.
pub(super) fn os_path(name: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let name: OsString = std::os::unix::ffi::OsStringExt::from_vec(name.to_owned());
    #[cfg(not(unix))]
    let name = OsString::from(String::from_utf8_lossy(name).into_owned());
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_tags_classify_files() {
        let listing =
            parse(b"H a b.yaml\0? new.yaml\0S sparse.yaml\0M both.yaml\0M both.yaml\0? nested/\0H \xff.yaml\0");
        assert_eq!(listing.present, [&b"a b.yaml"[..], b"new.yaml", b"\xff.yaml"]);
        assert_eq!(listing.skipped, [b"sparse.yaml"]);
        assert_eq!(listing.unmerged, [b"both.yaml"]);
        assert_eq!(parse(b""), Listing::default());
    }
}
