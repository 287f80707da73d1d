//! Runs a command with a time limit, and ends everything that it started.

use std::io::{self, PipeReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::timed_out;
use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_LIMIT};
use crate::measurement::{CommandEnd, Ended, Measured, Measurement};
use crate::runtime::Runtime;
use crate::settings::CommandSettings;
use crate::subject::CheckSubject;
use crate::text::{root_cause, shown};

/// Where programs are found, unless the configuration passes another path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The variables whose values are no secrets.
const PUBLIC: &[&str] = &["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// The shortest value that is removed from the output, in bytes. A shorter one is part of any text.
const SECRET_BYTES_MIN: usize = 4;

/// How often to look whether a command has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for a command that was killed. One that hangs in the kernel is left to the system.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// The end of what a command writes.
struct Output {
    tail: Arc<Mutex<Vec<u8>>>,
    has_ended: Receiver<()>,
}

/// Measures a check: runs its command.
pub(crate) fn measure(
    settings: &CommandSettings,
    subject: &CheckSubject,
    timeout: Duration,
    runtime: &Runtime,
) -> Measured {
    let end = Instant::now() + timeout;
    let (mut child, output) =
        start(settings, subject).map_err(|error| format!("the command can't be started: {}", root_cause(&error)))?;
    let reason = loop {
        match has_ended(&mut child) {
            Ok(true) => break None,
            Err(error) => break Some(format!("the command can't be watched: {}", root_cause(&error))),
            Ok(false) if Instant::now() >= end => break Some(timed_out(timeout)),
            Ok(false) if (runtime.is_stopping)() => break Some("the service stops".to_owned()),
            Ok(false) => thread::sleep(POLL_INTERVAL),
        }
    };
    // This also ends what the command left behind.
    kill_group(&mut child);
    let status = ended(&mut child);
    let line = settings.without_secrets(&output.last_line());
    match (reason, status) {
        (Some(reason), _) if line.is_empty() => Err(reason),
        (Some(reason), _) => Err(format!("{reason}; its last line is: {line}")),
        (None, None) => Err("the command can't be ended".to_owned()),
        (None, Some(status)) => Ok(Measurement::Command(Ended { end: command_end(status), line })),
    }
}

fn start(settings: &CommandSettings, subject: &CheckSubject) -> io::Result<(Child, Output)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(&settings.program);
    command.args(&settings.arguments).current_dir(&settings.directory).env_clear().env("PATH", PATH);
    command.envs(settings.variables.iter().map(|(name, value)| (name, value))).envs(subject.variables());
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn()?;
    // Otherwise, the pipe stays open here.
    drop(command);
    Ok((child, Output::read(reader)))
}

impl Output {
    fn read(mut reader: PipeReader) -> Self {
        let (tail, (sender, has_ended)) = (Arc::new(Mutex::new(Vec::new())), mpsc::channel());
        let shared = Arc::clone(&tail);
        thread::spawn(move || {
            let mut chunk = vec![0; OUTPUT_BYTES_MAX];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                let mut tail = shared.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(chunk.get(..read).unwrap_or_default());
                let excess = tail.len().saturating_sub(OUTPUT_BYTES_MAX);
                tail.drain(..excess);
            }
            // The receiver may have stopped waiting.
            let _ = sender.send(());
        });
        Self { tail, has_ended }
    }

    /// The last line that is not empty.
    fn last_line(&self) -> String {
        // Without an end, the output so far counts.
        let _ = self.has_ended.recv_timeout(OUTPUT_LIMIT);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
    }
}

impl CommandSettings {
    /// A line of the output as it may be shown.
    fn without_secrets(&self, line: &str) -> String {
        let values = self.variables.iter().filter(|(name, _)| !PUBLIC.contains(&name.as_str()));
        let values = values.filter_map(|(_, value)| value.to_str()).map(str::trim);
        let secrets = values.filter(|value| value.len() >= SECRET_BYTES_MIN);
        shown(&secrets.fold(line.to_owned(), |line, secret| line.replace(secret, "…")))
    }
}

/// Whether a command has ended. It stays in the table of processes, so that its number belongs to no other process.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(group(child)?), options)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|status| status.is_some())
}

/// The group of a command, which has the number of its first process.
#[cfg(unix)]
fn group(child: &Child) -> io::Result<rustix::process::Pid> {
    let number = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    number.ok_or_else(|| io::Error::other("it has no process number"))
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    if let Ok(group) = group(child) {
        // It fails only if no process of the group is left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    // It fails only if the process has ended.
    let _ = child.kill();
}

/// The exit status of a command that has ended or was killed.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + KILL_LIMIT;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => thread::sleep(POLL_INTERVAL),
            result => return result.ok().flatten(),
        }
    }
}

fn command_end(status: ExitStatus) -> CommandEnd {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    status.code().map_or(CommandEnd::Signal(signal), CommandEnd::Exit)
}
