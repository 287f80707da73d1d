//! The files of a new platform: its control plane, its configuration file, and its templates.

pub mod configuration;
pub mod copied_source;
pub mod environment;
pub mod environment_copy;
mod file;
pub mod microsoft;
pub mod packs;
pub mod platform;
pub mod quoting;

pub use self::file::NewFile;
pub use self::packs::{Pack, PackRole};
pub use self::platform::Platform;
