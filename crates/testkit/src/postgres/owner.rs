//! Whose server it is: the process with which it ends, and what is left of servers whose process is gone.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How the name of each folder with a server begins.
pub(super) const PREFIX: &str = "kalypso-pg-";
/// The file that says whose it is.
const OWNER: &str = "owner";
/// The file with the number of the server's process, which the server writes.
pub(super) const PROCESS: &str = "process";
/// How often removing a folder is tried: children of a server that was killed may still write there.
const ATTEMPTS: usize = 50;

/// A process, told from another one that has its number later.
#[derive(PartialEq, Eq)]
struct Owner {
    process: u32,
    /// When it started, as the system counts.
    started: String,
    /// Among which processes the number is its own.
    namespace: String,
}

impl Owner {
    /// None if there is no such process, or the system does not say when processes started.
    fn of(process: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the program's name, which may have anything in it, the time is the twentieth.
        let started = stat.rsplit_once(") ")?.1.split(' ').nth(19)?.to_owned();
        Some(Self { process, started, namespace: namespace()? })
    }

    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(OWNER)).ok()?;
        let mut words = text.split_whitespace().map(str::to_owned);
        Some(Self { process: words.next()?.parse().ok()?, started: words.next()?, namespace: words.next()? })
    }

    /// Whether it has certainly ended. Of processes that can't be seen from here nobody knows.
    fn is_gone(&self) -> bool {
        namespace().is_some_and(|here| here == self.namespace) && Self::of(self.process).as_ref() != Some(self)
    }
}

fn namespace() -> Option<String> {
    Some(fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned())
}

/// Says whose folder it is. Where that can't be said, nobody will clear it away for its owner.
pub(super) fn sign(folder: &Path, process: u32) -> io::Result<()> {
    let Some(Owner { process, started, namespace }) = Owner::of(process) else { return Ok(()) };
    fs::write(folder.join(OWNER), format!("{process} {started} {namespace}\n"))
}

/// Ends servers and removes folders that their owners left behind: those that were killed together with who watches over them. Only
/// folders of our own users are touched, and only if they say whose they are.
pub(super) fn clear_leftovers(parent: &Path, users: &[u32]) {
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let is_ours = |folder: &PathBuf| {
        fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir() && users.contains(&about.uid()))
    };
    for folder in folders.map(|entry| entry.path()).filter(is_ours) {
        if Owner::read(&folder).is_some_and(|owner| owner.is_gone()) {
            kill(&folder);
            remove(&folder);
        }
    }
}

/// Ends the server of that folder as `kill -9` does, if it is that server that has the number.
fn kill(folder: &Path) {
    let process = fs::read_to_string(folder.join(PROCESS)).unwrap_or_default();
    let Ok(process) = process.trim().parse::<u32>() else { return };
    let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    if arguments.split(|byte| *byte == 0).any(|argument| Path::new(&*String::from_utf8_lossy(argument)) == folder) {
        drop(Command::new("kill").args(["-9", &process.to_string()]).status());
    }
}

/// Removes it with what is beside it.
pub(super) fn remove(folder: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(Duration::from_millis(20)),
            _ => break,
        }
    }
    drop(fs::remove_file(folder.with_extension("lock")));
}
