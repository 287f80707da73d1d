//! Who calls, and what the caller may do: tokens, the accounts of an OIDC issuer, and the sessions of people.

pub mod authority;
pub mod oidc;
pub mod random_secret;
pub mod sessions;
pub mod sign_in;
pub mod tokens;
