//! The owner of a server: the process with which the server ends. Also removes servers whose owner no longer exists.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The prefix of the name of each folder with a server.
pub(super) const PREFIX: &str = "kalypso-pg-";
/// The file that identifies the owner.
const OWNER: &str = "owner";
/// The file with the id of the server process. The server writes it.
pub(super) const PROCESS: &str = "process";
/// The number of attempts to remove a folder. Child processes of a killed server may still write there.
const ATTEMPTS: usize = 50;

/// A process. It is distinguished from a later process with the same id.
#[derive(PartialEq, Eq)]
struct Owner {
    process: u32,
    /// The start time, in the units of the system.
    started: String,
    /// The namespace in which the process id is valid.
    namespace: String,
}

impl Owner {
    /// Returns `None` if the process does not exist, or if the system does not provide the start time of processes.
    fn from_process(process: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program may contain any character. The start time is the 20th field after it.
        let started = stat.rsplit_once(") ")?.1.split(' ').nth(19)?.to_owned();
        Some(Self { process, started, namespace: namespace()? })
    }

    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(OWNER)).ok()?;
        let mut words = text.split_whitespace().map(str::to_owned);
        Some(Self { process: words.next()?.parse().ok()?, started: words.next()?, namespace: words.next()? })
    }

    /// Whether the process has certainly ended. For a process in another namespace, this is not known, and the result is `false`.
    fn is_gone(&self) -> bool {
        namespace().is_some_and(|here| here == self.namespace)
            && Self::from_process(self.process).as_ref() != Some(self)
    }
}

fn namespace() -> Option<String> {
    Some(fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned())
}

/// Records the owner of the folder. Without this record, the folder is not removed when its owner has ended.
pub(super) fn sign(folder: &Path, process: u32) -> io::Result<()> {
    let Some(Owner { process, started, namespace }) = Owner::from_process(process) else { return Ok(()) };
    fs::write(folder.join(OWNER), format!("{process} {started} {namespace}\n"))
}

/// Ends servers and removes folders whose owner was killed together with the process that watches it. Only folders of the given users that record
/// their owner are touched.
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

/// Kills the server of this folder like `kill -9`, if the process with this id is really that server.
fn kill(folder: &Path) {
    let process = fs::read_to_string(folder.join(PROCESS)).unwrap_or_default();
    let Ok(process) = process.trim().parse::<u32>() else { return };
    let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    if arguments.split(|byte| *byte == 0).any(|argument| Path::new(&*String::from_utf8_lossy(argument)) == folder) {
        drop(Command::new("kill").args(["-9", &process.to_string()]).status());
    }
}

/// Removes the folder and the files next to it.
pub(super) fn remove(folder: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(Duration::from_millis(20)),
            _ => break,
        }
    }
    drop(fs::remove_file(folder.with_extension("lock")));
}
