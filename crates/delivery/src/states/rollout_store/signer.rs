//! The key that signs commits with states.

use git::{Commit, SigningKey};
use model::name::EnvironmentName;

use super::StoreError;
use crate::access::RepositoryAccess;

/// The key that signs the next commit with states. None: no key is configured, and the states are not signed.
///
/// # Errors
/// If the states are signed, and this program has no key. A commit without a signature would stop all promotions of the environment.
pub(super) fn signer<'a>(
    access: &'a RepositoryAccess,
    environment: &EnvironmentName,
    before: Option<&Commit>,
) -> Result<Option<&'a SigningKey>, StoreError> {
    let keys = &access.settings.state_keys;
    let reason = match &keys.own {
        Ok(key) => return Ok(Some(key)),
        Err(reason) => reason,
    };
    let is_signed = match before {
        Some(before) => access.repositories.info(before)?.signature.is_some(),
        None => false,
    };
    if is_signed || !keys.trusted.is_empty() {
        return Err(StoreError::NoKey { environment: environment.clone(), reason: reason.clone() });
    }
    Ok(None)
}
