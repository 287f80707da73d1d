//! A program that does not outlive us, and that we don't wait for beyond a limit.
//!
//! Git starts programs of its own, such as ssh, and none of them notices when we are killed. So each git is a process group with a shell at its head,
//! which holds the reading end of a pipe whose writing end is ours alone. The system closes that end however we end, and the shell ends the group:
//! first with a signal at which git removes its lock files, and soon after with one that nobody can ignore.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What runs at the head of a group. Its standard input is the pipe that says whether we live.
///
/// The shell stays until the program has ended, also while the group is being ended, and what the program left behind is asked to end with it. If
/// all must end, then everybody who does not listen ends a second later, the shell too; it has let go of the lock before.
const GUARD: &str = r#"trap must_end=1 TERM
{ read -r _ <&3; trap '' TERM; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
"$@"
status=$?
exec </dev/null 2>/dev/null
test -n "$must_end" && wait $watcher
trap '' TERM
kill -TERM 0
kill -KILL $watcher
wait $watcher
exit $status"#;
/// What is too large fails to be written, so that git says why it ends.
const LIMITED: &str = "trap '' XFSZ; ulimit -f";
/// The unit of that limit, in bytes: POSIX says so.
const BLOCK_BYTES: u64 = 512;

/// Nothing to read.
const WITHOUT_LOCK: &str = "exec 3<&0 </dev/null\n";
/// The lock comes as standard output, because there is no other way for it beside the pipe. What the program writes there goes to its messages.
const WITH_LOCK: &str = "exec 3<&0 <&1 >&2\n";

/// How long the streams of a program that has ended are waited for: somebody whom it left behind may hold them open.
const STREAMS_LIMIT: Duration = Duration::from_secs(2);
/// How long a program that was told to end is waited for. The shell needs a second for those that don't listen.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How often is looked whether a program has ended whose streams are open.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// What a program left.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    pub(super) messages: Vec<u8>,
}

/// A program that runs.
pub(super) struct Running {
    child: Child,
    /// Closed, it ends the whole group.
    lifeline: Option<ChildStdin>,
    output: Stream,
    messages: Stream,
}

/// A command that runs a program, whose arguments are still to be added. With a lock it is the program's standard input, so that it is held as long as
/// the program lives, and no output is kept. No file that it writes becomes larger than so many bytes.
pub(super) fn guarded(program: impl AsRef<OsStr>, has_lock: bool, file_bytes_max: Option<u64>) -> Command {
    if !cfg!(unix) {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    let first = if has_lock { WITH_LOCK } else { WITHOUT_LOCK };
    let limit = file_bytes_max.map_or_else(String::new, |bytes| format!("{LIMITED} {}\n", bytes.div_ceil(BLOCK_BYTES)));
    command.arg("-c").arg(format!("{limit}{first}{GUARD}")).arg("git").arg(program);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Starts a command that [`guarded`] made. So much of its output and messages is kept.
pub(super) fn start(mut command: Command, lock: Option<&File>, limits: (u64, u64)) -> io::Result<Running> {
    let output = lock.map(File::try_clone).transpose()?.map_or_else(Stdio::piped, Stdio::from);
    command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let lifeline = child.stdin.take();
    let output = Stream::drain(child.stdout.take(), limits.0);
    let messages = Stream::drain(child.stderr.take(), limits.1);
    Ok(Running { child, lifeline, output, messages })
}

impl Running {
    /// What the program left. None if it did not end in time: then its whole group is ended.
    pub(super) fn finish(mut self, end: Instant) -> Option<Finished> {
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
            let pause = end.saturating_duration_since(now).clamp(Duration::from_millis(1), LOOK_PAUSE);
            let open = if self.output.has_ended() { &self.messages } else { &self.output };
            open.wait(pause);
        }
        let status = self.wait_until(end)?;
        Some(Finished { status, output: self.output.take(), messages: self.messages.take() })
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// How the program ended; none if it did not in time.
    fn wait_until(&mut self, end: Instant) -> Option<ExitStatus> {
        let mut pause = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(pause),
                _ => return None,
            }
            pause = (pause * 2).min(LOOK_PAUSE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        if self.wait_until(Instant::now() + END_LIMIT).is_none() {
            // The shell itself does not listen. This fails only for a child that has ended; one that hangs in the system is left to it.
            let _ = self.child.kill();
            let _ = self.wait_until(Instant::now() + LOOK_PAUSE);
        }
    }
}

/// What comes out of a stream, read so that its writer never waits for us.
struct Stream(Arc<(Mutex<Kept>, Condvar)>);

/// What is kept of a stream.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl Stream {
    /// Reads a stream, if there is one, and keeps what is within the limit.
    fn drain(stream: Option<impl Read + Send + 'static>, limit: u64) -> Self {
        let shared = Arc::new((Mutex::default(), Condvar::new()));
        let kept = Self(Arc::clone(&shared));
        let Some(mut stream) = stream else {
            kept.lock().has_ended = true;
            return kept;
        };
        thread::spawn(move || {
            let writing = Self(shared);
            let mut buffer = [0; 8 << 10];
            // A stream that breaks is one that ends.
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut kept = writing.lock();
                let room = (limit as usize).saturating_sub(kept.bytes.len()).min(count);
                kept.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
            writing.lock().has_ended = true;
            writing.0.1.notify_all();
        });
        kept
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    /// Waits until the stream ends, but not for longer.
    fn wait(&self, limit: Duration) {
        drop(self.0.1.wait_timeout_while(self.lock(), limit, |kept| !kept.has_ended));
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Runs a script as git is run.
    fn run(script: &str, lock: Option<&File>, limit: Duration) -> Option<Finished> {
        let mut command = guarded("sh", lock.is_some(), None);
        command.args(["-c", script]);
        start(command, lock, (100, 100)).unwrap().finish(Instant::now() + limit)
    }

    /// Waits until a process has ended whose id is in a file.
    fn check_end(file: &Path) {
        let id = fs::read_to_string(file).unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        // One that was not reaped yet has ended too.
        while fs::read_to_string(format!("/proc/{}/stat", id.trim())).is_ok_and(|state| !state.contains(") Z ")) {
            assert!(Instant::now() < end, "{id} lives");
            thread::sleep(LOOK_PAUSE);
        }
    }

    #[test]
    fn a_program_says_what_it_says_and_ends_as_it_ends() {
        let long = "printf %0200d 7; echo bad >&2; exit 3";
        let finished = run(long, None, Duration::from_mins(1)).unwrap();
        let Finished { status, output, messages } = finished;
        assert_eq!((status.code(), output.len(), &*messages), (Some(3), 100, &b"bad\n"[..]));
        assert_eq!(run("cat; kill -KILL $$", None, Duration::from_mins(1)).unwrap().status.code(), Some(128 + 9));
        let missing = start(guarded("/no/such/program", false, None), None, (100, 100)).unwrap();
        assert_eq!(missing.finish(Instant::now() + Duration::from_mins(1)).unwrap().status.code(), Some(127));
    }

    #[test]
    fn a_program_that_takes_too_long_ends_with_all_that_it_started() {
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
    fn what_a_program_leaves_behind_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("left");
        let script = format!("sleep 1000 & echo $! > '{}'", left.display());
        assert!(run(&script, None, Duration::from_mins(1)).unwrap().status.success());
        check_end(&left);
    }

    #[test]
    fn who_goes_its_own_way_is_not_waited_for() {
        // In a session of its own, with our streams.
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
        // The shell may be gone a moment before what the same signal ends.
        let end = Instant::now() + Duration::from_secs(10);
        while other.try_lock().is_err() {
            assert!(Instant::now() < end, "the lock is still held");
            thread::sleep(LOOK_PAUSE);
        }
    }
}
