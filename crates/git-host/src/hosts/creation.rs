//! Creates things at most once, although answers get lost.

use crate::error::HostError;
use crate::new_repository::RepositoryCreation;

/// Something that was created, or existed already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Creation<T> {
    New(T),
    Existing(T),
}

/// Creates something, and looks for it after an error that leaves open whether it was created. If it does not exist then, tries a second time.
pub(crate) fn once<T>(
    find: impl Fn() -> Result<Option<T>, HostError>,
    create: impl Fn() -> Result<T, HostError>,
) -> Result<T, HostError> {
    match create() {
        Err(error) if error.may_be_done() => match find()? {
            Some(found) => Ok(found),
            None => create(),
        },
        result => result,
    }
}

/// As [`once`], for things that can exist only once: the host refuses a second one.
pub(crate) fn or_existing<T>(
    find: impl Fn() -> Result<Option<T>, HostError>,
    create: impl Fn() -> Result<T, HostError>,
) -> Result<Creation<T>, HostError> {
    match once(&find, create) {
        Ok(new) => Ok(Creation::New(new)),
        // Hosts also use these statuses for other errors. Then nothing is found.
        Err(error @ HostError::Refused { status: 400 | 409 | 422, .. }) => find()?.map(Creation::Existing).ok_or(error),
        Err(error) => Err(error),
    }
}

/// Creates a repository, unless it exists. `read` fails with "not found" if it does not exist.
pub(crate) fn repository(
    read: impl Fn() -> Result<(), HostError>,
    create: impl Fn() -> Result<(), HostError>,
) -> Result<RepositoryCreation, HostError> {
    let find = || super::found(read());
    if find()?.is_some() {
        return Ok(RepositoryCreation::Existed);
    }
    match or_existing(find, create)? {
        Creation::New(()) => Ok(RepositoryCreation::Created),
        Creation::Existing(()) => Ok(RepositoryCreation::Existed),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn refused(status: u16) -> HostError {
        HostError::Refused { call: String::new(), status, message: String::new() }
    }

    fn lost() -> HostError {
        HostError::Unreachable { call: String::new(), reason: String::new(), is_sent: true }
    }

    /// The result, and the number of creations, if these are the results of creations and `found` is what exists.
    fn check(results: &[Result<u8, HostError>], found: Option<u8>) -> (Result<Creation<u8>, HostError>, usize) {
        let count = Cell::new(0);
        let create = || {
            count.set(count.get() + 1);
            results[count.get() - 1].clone()
        };
        (or_existing(|| Ok(found), create), count.get())
    }

    #[test]
    fn nothing_is_created_twice() {
        assert_eq!(check(&[Ok(1)], None), (Ok(Creation::New(1)), 1));
        assert_eq!(check(&[Err(lost())], Some(1)), (Ok(Creation::New(1)), 1));
        assert_eq!(check(&[Err(lost()), Ok(2)], None), (Ok(Creation::New(2)), 2));
        assert_eq!(check(&[Err(lost()), Err(lost())], None), (Err(lost()), 2));
        assert_eq!(check(&[Err(refused(422))], Some(1)), (Ok(Creation::Existing(1)), 1));
        assert_eq!(check(&[Err(refused(422))], None), (Err(refused(422)), 1));
        assert_eq!(check(&[Err(refused(403))], Some(1)), (Err(refused(403)), 1));
    }
}
