//! Rules and demanded heartbeats of `kalypso.toml`, read again while the hub runs: at SIGHUP, and when the file changes.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hub::reload::{Reload, Reloading};

use crate::arguments::HubDatabase;
use crate::configuration;

/// Between two looks at the file.
const LOOK: Duration = Duration::from_secs(5);

/// Goes on until it is aborted. A file that can't be used changes nothing, and the log says what is wrong with it.
pub(super) async fn watch(arguments: HubDatabase, mut reload: Reload) {
    // Without a file there is nothing to look at; SIGHUP finds one that has come.
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

/// When a file was changed, and how long it is: what an editor, or a mounted volume that is replaced, changes.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Waits until a file is there that is not the one that is known. A file that is being replaced may be missing for a moment.
async fn changed(path: Option<&Path>, known: Option<Stamp>) {
    let Some(path) = path else { return std::future::pending().await };
    loop {
        tokio::time::sleep(LOOK).await;
        if stamp(path).is_some_and(|now| Some(now) != known) {
            return;
        }
    }
}
