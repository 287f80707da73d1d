//! Who calls, and what the caller may do: tokens, and the accounts of an OIDC issuer.

pub mod authority;
pub mod oidc;
pub mod tokens;
