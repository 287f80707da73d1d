//! Checks: what HTTP servers, Prometheus and commands say of a change, for the gates of promotions.
//!
//! The configuration of the service names each check with its address or its command; objects only name the check and what they expect. So a repository can
//! neither choose an address nor a command. A result that can't be read is unknown, with the reason; it never counts as passed.

mod cache;
mod checks;
mod command;
mod http;
mod json_path;
mod judgement;
mod limits;
mod measurement;
mod missing;
mod placeholders;
mod prometheus;
mod runtime;
mod secret;
mod settings;
mod subject;
mod text;

pub use self::checks::Checks;
pub use self::missing::missing;
pub use self::runtime::Runtime;
pub use self::secret::Secret;
pub use self::settings::{
    CheckKind, CheckSettings, CommandSettings, Credential, HttpSettings, PrometheusSettings, SettingsError,
};
pub use self::subject::Subject;
