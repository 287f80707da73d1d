//! Reads the rules and demanded heartbeats of `kalypso.toml` again while the hub runs: at SIGHUP, and when the file, or a file with
//! the secret of a rule, changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hub::server::reload::{Reload, Reloading};

use crate::arguments::HubDatabase;
use crate::configuration;

/// The interval between two checks of the file.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Runs until it is aborted. An invalid file changes nothing, and its error is logged.
pub(super) async fn watch(arguments: HubDatabase, mut reload: Reload) {
    // Without a file there is nothing to check. SIGHUP reads a file that was created later.
    let mut files = Files::new(configuration::hub_files(&arguments));
    loop {
        tokio::select! {
            () = reload.requested() => {}
            () = files.changed() => {}
        }
        files = Files::new(configuration::hub_files(&arguments));
        let read = configuration::read_hub(&arguments);
        reload.take(match read {
            Ok(configuration) => Ok(Reloading { rules: configuration.rules, heartbeats: configuration.heartbeats }),
            Err(error) => Err(format!("{error:#}")),
        });
    }
}

/// The modification time and the length of a file. They change when an editor saves it, or when a mounted volume is replaced.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Files with their stamps at the last look.
struct Files(Vec<(PathBuf, Option<Stamp>)>);

impl Files {
    fn new(paths: Vec<PathBuf>) -> Self {
        let stamped = paths.into_iter().map(|path| {
            let stamp = stamp(&path);
            (path, stamp)
        });
        Self(stamped.collect())
    }

    /// Waits until one of the files has another stamp. A file that is being replaced may be missing for a short time.
    async fn changed(&self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let is_changed = |(path, known): &(PathBuf, Option<Stamp>)| stamp(path).is_some_and(|now| Some(now) != *known);
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if self.0.iter().any(is_changed) {
                return;
            }
        }
    }
}
