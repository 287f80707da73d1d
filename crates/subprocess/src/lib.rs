//! Runs a program with limits for its time and output. The program ends when this process ends.
//!
//! Git starts other programs, such as ssh, and none of them notices when this process is killed. Therefore each program runs in its own process group,
//! whose first process is a shell. The shell reads from a pipe; only this process has the writing end. When this process ends in any way, the system
//! closes the pipe, and the shell ends the group: first with SIGTERM, so that git removes its lock files, and one second later with SIGKILL.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The script of the first process in a group. Its standard input is the pipe that closes when this process ends.
///
/// The shell stays until the program has ended, also while the group is being ended. Then it releases the lock, and sends SIGTERM to processes that the
/// program left behind. If the pipe was closed, it keeps the lock until SIGKILL ends the group one second later: processes that the program started may
/// live longer than the program, and they still create files.
const GUARD: &str = r#"trap must_end=1 TERM
{ read -r _ <&3; trap '' TERM; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
"$@"
status=$?
exec 2>/dev/null
test -n "$must_end" && wait $watcher
exec </dev/null
trap '' TERM
kill -TERM 0
kill -KILL $watcher
wait $watcher
exit $status"#;
/// Ignores SIGXFSZ, so that a write beyond the size limit fails, and the program reports the reason.
const LIMITED: &str = "trap '' XFSZ; ulimit -f";
/// The unit of `ulimit -f` in bytes, as in POSIX.
const BLOCK_BYTES: u64 = 512;

/// The program has an empty standard input.
const WITHOUT_LOCK: &str = "exec 3<&0 </dev/null\n";
/// The shell gets the lock as standard output, because standard input is the pipe. The standard output of the program goes to its standard error.
const WITH_LOCK: &str = "exec 3<&0 <&1 >&2\n";

/// How long to wait for the end of the streams after the program has ended. A process that it left behind may hold them open.
const STREAMS_LIMIT: Duration = Duration::from_secs(2);
/// How long to wait for a program to end after the pipe was closed. The shell needs one second for processes that ignore SIGTERM.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How often to check whether a program has ended while its streams are open.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The result of a program.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status. 126 and 127: the shell could not start it.
    pub status: ExitStatus,
    /// Its standard output, up to the limit.
    pub output: Vec<u8>,
    /// Its standard error, up to the limit.
    pub messages: Vec<u8>,
}

/// A running program. It is ended if this value is dropped.
pub struct Running {
    child: Child,
    /// The pipe. Closing it ends the whole group.
    lifeline: Option<ChildStdin>,
    output: Stream,
    messages: Stream,
}

/// A command for a program; the caller adds the arguments. If `has_lock`, the program gets the lock as standard input and holds it as long as it
/// runs, and its output is not captured. `file_bytes_max` limits the size of each file that it writes.
pub fn guarded(program: impl AsRef<OsStr>, has_lock: bool, file_bytes_max: Option<u64>) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    let program = program.as_ref();
    // The shell puts this name before its own messages.
    let name = Path::new(program).file_name().unwrap_or(program);
    let first = if has_lock { WITH_LOCK } else { WITHOUT_LOCK };
    let limit = file_bytes_max.map_or_else(String::new, |bytes| format!("{LIMITED} {}\n", bytes.div_ceil(BLOCK_BYTES)));
    command.arg("-c").arg(format!("{limit}{first}{GUARD}")).arg(name).arg(program);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Starts a command from [`guarded`]. `limits` are the captured bytes of its standard output and standard error.
///
/// # Errors
/// If the shell can't be started.
pub fn start(mut command: Command, lock: Option<&File>, limits: (u64, u64)) -> io::Result<Running> {
    let output = lock.map(File::try_clone).transpose()?.map_or_else(Stdio::piped, Stdio::from);
    command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let lifeline = child.stdin.take();
    let output = Stream::drain(child.stdout.take(), limits.0);
    let messages = Stream::drain(child.stderr.take(), limits.1);
    Ok(Running { child, lifeline, output, messages })
}

impl Running {
    /// Waits for the program. None if it did not end in time: then its whole group is ended.
    pub fn finish(mut self, end: Instant) -> Option<Finished> {
        let mut streams_end = None;
        while !(self.output.has_ended() && self.messages.has_ended()) {
            let now = Instant::now();
            if streams_end.is_none() && self.has_ended() {
                streams_end = Some(now + STREAMS_LIMIT);
            }
            match streams_end {
                Some(streams_end) if now >= streams_end => break,
                None if now >= end => return None,
                _ => {}
            }
            let pause = end.saturating_duration_since(now).clamp(Duration::from_millis(1), POLL_INTERVAL);
            let open = if self.output.has_ended() { &self.messages } else { &self.output };
            open.wait(pause);
        }
        let status = self.wait_until(end)?;
        Some(Finished { status, output: self.output.take(), messages: self.messages.take() })
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the exit status. None if the program does not end in time.
    fn wait_until(&mut self, end: Instant) -> Option<ExitStatus> {
        let mut pause = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(pause),
                _ => return None,
            }
            pause = (pause * 2).min(POLL_INTERVAL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        if self.wait_until(Instant::now() + END_LIMIT).is_none() {
            // The shell itself ignores SIGTERM. `kill` fails only for a child that has already ended. A child that hangs in the kernel is left to the
            // system.
            let _ = self.child.kill();
            let _ = self.wait_until(Instant::now() + POLL_INTERVAL);
        }
    }
}

/// The captured bytes of a stream. A thread reads the stream to its end, so that the writer never blocks.
struct Stream(Arc<(Mutex<Captured>, Condvar)>);

/// The state of a captured stream.
#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl Stream {
    /// Starts to read a stream, if there is one. Bytes beyond the limit are dropped.
    fn drain(stream: Option<impl Read + Send + 'static>, limit: u64) -> Self {
        let state = Arc::new((Mutex::default(), Condvar::new()));
        let captured = Self(Arc::clone(&state));
        let Some(mut stream) = stream else {
            captured.lock().has_ended = true;
            return captured;
        };
        thread::spawn(move || {
            let writing = Self(state);
            let mut buffer = [0; 8 << 10];
            // A read error counts as the end of the stream.
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut captured = writing.lock();
                let room = (limit as usize).saturating_sub(captured.bytes.len()).min(count);
                captured.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
            writing.lock().has_ended = true;
            writing.0.1.notify_all();
        });
        captured
    }

    fn lock(&self) -> MutexGuard<'_, Captured> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    /// Waits until the stream ends, or until the time limit.
    fn wait(&self, limit: Duration) {
        drop(self.0.1.wait_timeout_while(self.lock(), limit, |captured| !captured.has_ended));
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Runs a script in the same way as git.
    fn run(script: &str, lock: Option<&File>, limit: Duration) -> Option<Finished> {
        let mut command = guarded("sh", lock.is_some(), None);
        command.args(["-c", script]);
        start(command, lock, (100, 100)).unwrap().finish(Instant::now() + limit)
    }

    /// Waits until the process with the id in the file has ended.
    fn check_end(file: &Path) {
        let id = fs::read_to_string(file).unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        // A zombie process has ended too.
        while fs::read_to_string(format!("/proc/{}/stat", id.trim())).is_ok_and(|state| !state.contains(") Z ")) {
            assert!(Instant::now() < end, "process {id} still runs");
            thread::sleep(POLL_INTERVAL);
        }
    }

    #[test]
    fn output_and_exit_status_are_returned() {
        let long = "printf %0200d 7; echo bad >&2; exit 3";
        let finished = run(long, None, Duration::from_mins(1)).unwrap();
        let Finished { status, output, messages } = finished;
        assert_eq!((status.code(), output.len(), &*messages), (Some(3), 100, &b"bad\n"[..]));
        assert_eq!(run("cat; kill -KILL $$", None, Duration::from_mins(1)).unwrap().status.code(), Some(128 + 9));
        let missing = start(guarded("/no/such/program", false, None), None, (100, 100)).unwrap();
        assert_eq!(missing.finish(Instant::now() + Duration::from_mins(1)).unwrap().status.code(), Some(127));
    }

    #[test]
    fn timed_out_programs_end_with_their_child_processes() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let deaf = "trap '' TERM; while :; do sleep 1; done";
        let script =
            format!("sleep 1000 & echo $! > '{}'; ({deaf}) & echo $! > '{}'; wait", one.display(), other.display());
        assert!(run(&script, None, Duration::from_secs(2)).is_none());
        check_end(&one);
        check_end(&other);
    }

    #[test]
    fn background_processes_end_with_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("left");
        let script = format!("sleep 1000 & echo $! > '{}'", left.display());
        assert!(run(&script, None, Duration::from_mins(1)).unwrap().status.success());
        check_end(&left);
    }

    #[test]
    fn detached_processes_do_not_delay_the_result() {
        // The process runs in its own session, with the same streams.
        let start = Instant::now();
        let finished = run("setsid sleep 40 & echo good", None, Duration::from_secs(30)).unwrap();
        assert_eq!(finished.output, b"good\n");
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_lock_is_held_as_long_as_the_program_lives() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            || File::options().write(true).create(true).truncate(false).open(folder.path().join("lock")).unwrap();
        let (lock, other) = (open(), open());
        lock.lock().unwrap();
        let mut command = guarded("sh", true, None);
        command.args(["-c", "echo begun >&2; exec sleep 1000"]);
        let running = super::start(command, Some(&lock), (100, 100)).unwrap();
        drop(lock);
        assert!(other.try_lock().is_err());
        drop(running);
        // The shell may end slightly earlier than the program, because both get the same signal.
        let end = Instant::now() + Duration::from_secs(10);
        while other.try_lock().is_err() {
            assert!(Instant::now() < end, "the lock is still held");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Whether a process has ended, or got SIGKILL and runs no more instructions.
    #[cfg(target_os = "linux")]
    fn is_killed(id: &str) -> bool {
        const SIGKILL: u64 = 1 << 8;
        let Ok(status) = fs::read_to_string(format!("/proc/{}/status", id.trim())) else { return true };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let pending = ["SigPnd:", "ShdPnd:"].map(|name| u64::from_str_radix(field(name), 16).unwrap_or_default());
        field("State:").starts_with(['Z', 'X']) || pending.iter().any(|signals| signals & SIGKILL != 0)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_is_held_as_long_as_a_process_of_the_program_lives() {
        let folder = tempfile::tempdir().unwrap();
        let (path, child) = (folder.path().join("lock"), folder.path().join("child"));
        let open = || File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        let (lock, other) = (open(), open());
        lock.lock().unwrap();
        let mut command = guarded("sh", true, None);
        // Like `git index-pack`: it has another standard input than git, and lives longer.
        let deaf = "trap '' TERM; echo begun >&2; while :; do sleep 1; done";
        let script = format!("({deaf}) </dev/null & echo $! > '{}'; wait", child.display());
        command.args(["-c", &script]);
        let mut running = super::start(command, Some(&lock), (100, 100)).unwrap();
        while running.messages.lock().bytes.is_empty() {
            running.messages.wait(POLL_INTERVAL);
        }
        drop(lock);
        // As if this process was killed.
        drop(running.lifeline.take());
        other.lock().unwrap();
        assert!(is_killed(&fs::read_to_string(&child).unwrap()), "a child process still runs");
    }
}
