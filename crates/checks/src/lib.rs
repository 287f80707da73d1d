//! Evidence from outside for the gates of promotions: what HTTP servers, Prometheus and commands say of a change, and which accounts count.
//!
//! The configuration of the service names each check with its address or its command; objects only name the check and what they expect. So a repository can
//! neither choose an address nor a command. A result that can't be read is unknown, with the reason; it never counts as passed.

mod accounts;
mod cache;
mod checks;
mod command;
mod http;
mod json_path;
mod judgement;
mod limits;
mod measurement;
mod placeholders;
mod prometheus;
mod runtime;
mod settings;
mod sources;
mod subject;
mod text;

pub use model::secret::Secret;

pub use self::accounts::Accounts;
pub use self::checks::Checks;
pub use self::runtime::Runtime;
pub use self::settings::{
    CheckKind, CheckSettings, CommandSettings, HttpSettings, PrometheusSettings, RequestCredential, SettingsError,
};
pub use self::sources::EvidenceSources;
pub use self::subject::CheckSubject;
