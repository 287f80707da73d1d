//! The section `[demo]` of `kalypso.toml`: the parts of the demo that `kalypso serve` runs.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::exit::Failure;

/// The address of the company's git host. It does not exist, so the demo's git host takes its place.
pub(crate) const COMPANY_URL: &str = "https://git.acme.example";
/// How long the demo's git host may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(1);

/// The section as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct DemoOptions {
    git_host: String,
}

/// The settings of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemoConfiguration {
    /// The folder with the company.
    pub(crate) folder: PathBuf,
    /// Where its git host listens.
    pub(crate) git_host: SocketAddr,
}

impl DemoOptions {
    pub(super) fn resolve(&self, folder: &Path) -> Result<DemoConfiguration, Failure> {
        let text = &self.git_host;
        let git_host = text.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
        let wrong = || {
            Failure::usage(format!("`demo.git-host` is {text:?}, and not an address of this machine only"))
                .help("write a loopback address with a port, such as 127.0.0.1:8090")
        };
        Ok(DemoConfiguration { folder: folder.to_owned(), git_host: git_host.ok_or_else(wrong)? })
    }
}

impl DemoConfiguration {
    /// Whether its git host answers.
    pub(crate) fn is_running(&self) -> bool {
        TcpStream::connect_timeout(&self.git_host, PATIENCE).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, String> {
        let resolved = DemoOptions { git_host: text.to_owned() }.resolve(Path::new("demo"));
        resolved.map(|demo| demo.git_host.to_string()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn git_host_of_the_demo_listens_on_loopback_only() {
        assert_eq!(check("127.0.0.1:8090").unwrap(), "127.0.0.1:8090");
        assert_eq!(check("[::1]:0").unwrap(), "[::1]:0");
        assert!(check("0.0.0.0:8090").unwrap_err().contains("`demo.git-host` is \"0.0.0.0:8090\""));
        assert!(check("8090").unwrap_err().contains("`demo.git-host` is \"8090\""));
    }
}
