//! What is going on, while it takes long: on a terminal only, and gone when it is done.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use git::load::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Work that is done sooner is not worth a word.
const QUIET: Duration = Duration::from_millis(500);

/// Says which repositories are being fetched.
pub(crate) struct Fetching {
    started: Instant,
    bar: ProgressBar,
    under_way: Mutex<Vec<String>>,
}

impl Fetching {
    pub(crate) fn new() -> Self {
        // A bar on standard error is hidden by itself where that is no terminal.
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self { started: Instant::now(), bar, under_way: Mutex::default() }
    }

    /// Takes what the loader says. Called from several threads at once.
    pub(crate) fn show(&self, progress: Progress<'_>) {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Fetching(url, revision) => under_way.push(format!("{} ({revision})", url.label())),
            Progress::Fetched(url, revision) => {
                let done = format!("{} ({revision})", url.label());
                if let Some(position) = under_way.iter().position(|name| *name == done) {
                    under_way.remove(position);
                }
            }
        }
        if self.started.elapsed() > QUIET {
            self.bar.set_message(format!("reading {}", under_way.join(", ")));
            self.bar.tick();
        }
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
