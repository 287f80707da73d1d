//! Reads the rules and demanded heartbeats of `kalypso.toml` again while the hub runs: at SIGHUP, and when the file changes.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hub::reload::{Reload, Reloading};

use crate::arguments::HubDatabase;
use crate::configuration;

/// The interval between two checks of the file.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Runs until it is aborted. An invalid file changes nothing, and its error is logged.
pub(super) async fn watch(arguments: HubDatabase, mut reload: Reload) {
    // Without a file there is nothing to check. SIGHUP reads a file that was created later.
    let path = configuration::hub_file(&arguments).ok().flatten();
    let mut known = path.as_deref().and_then(stamp);
    loop {
        tokio::select! {
            () = reload.requested() => {}
            () = changed(path.as_deref(), known) => {}
        }
        known = path.as_deref().and_then(stamp);
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

/// Waits until there is a file with another stamp. A file that is being replaced may be missing for a short time.
async fn changed(path: Option<&Path>, known: Option<Stamp>) {
    let Some(path) = path else { return std::future::pending().await };
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if stamp(path).is_some_and(|now| Some(now) != known) {
            return;
        }
    }
}
