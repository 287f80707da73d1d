//! A clock that jumps while the service runs: changes are published as before, and nothing exists twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use git_host::HostKind;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;
use testkit::objects;

use super::hosted::{Hosted, eventually};

/// The times of the clock, in hours after the right time, one after another.
const JUMPS_HOURS: [i64; 4] = [0, 24, -24, 0];
/// How long a change may take, whatever the clock does.
const CHANGE_MAX: Duration = Duration::from_secs(30);
/// How far the times of a sync may be from those of the clock.
const DIFFERENCE_MAX: SignedDuration = SignedDuration::from_mins(1);
/// The pause between two syncs without a change, and the longest one after chance has varied it.
const RESYNC: (&str, SignedDuration) = ("1h", SignedDuration::from_hours(2));
/// The library that changes the clock of a process. This variant is for programs with threads.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// Lets the clock of the service jump: a day forward, two days back, and back to the right time.
pub(crate) fn jumping_clock() {
    let Some(library) = library() else {
        println!("skipped: {LIBRARY} is not installed (package faketime)");
        return;
    };
    let service = format!("poll = \"1s\"\nsettle = \"0s\"\nresync = \"{}\"\n", RESYNC.0);
    let mut hosted = Hosted::new(HostKind::GitHub, &service);
    let clock = hosted.company.path("clock");
    set(&clock, 0);
    start(&mut hosted, (&library, &clock));
    let own = || hosted.pull_requests().len();
    let before = own();
    for (number, hours) in JUMPS_HOURS.into_iter().enumerate() {
        set(&clock, hours);
        let took = publish(&hosted, number);
        println!("clock at {hours:+} h: the change was published after {:.1} s", took.as_secs_f64());
        check_times(&hosted, hours);
        assert_eq!(hosted.ask("GET /readyz", &[], "").map(|(status, _)| status), Some(200));
        assert_eq!(own(), before, "pull requests: {:?}", hosted.pull_requests());
    }
    // A service that starts later finds files from the future.
    set(&clock, -24);
    hosted.kill();
    start(&mut hosted, (&library, &clock));
    publish(&hosted, JUMPS_HOURS.len());
    check_times(&hosted, -24);
    assert_eq!(hosted.pull_requests().len(), before, "pull requests: {:?}", hosted.pull_requests());
}

/// Starts the service with the clock in a file. The monotonic clock stays right, as on a machine whose clock is set.
fn start(hosted: &mut Hosted, (library, clock): (&Path, &Path)) {
    let mut command = hosted.company.command();
    command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock).env("FAKETIME_NO_CACHE", "1");
    // The times of files are those of the file system.
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("NO_FAKE_STAT", "1");
    hosted.start_with(command);
    hosted.is_ready();
}

/// The place of the library, if it is installed.
fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let nested = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    nested.chain(folders).map(|folder| folder.join(LIBRARY)).find(|path| path.exists())
}

/// Sets the clock to some hours after the right time.
fn set(clock: &Path, hours: i64) {
    // The processes read the file whenever they need the time, so that it must never be incomplete.
    let next = clock.with_extension("next");
    fs::write(&next, format!("{hours:+}h\n")).unwrap();
    fs::rename(next, clock).unwrap();
}

/// Changes a value, which only a poll can find, and waits until it is proposed. Returns how long that took.
fn publish(hosted: &Hosted, number: usize) -> Duration {
    let (value, start) = (format!("clock-{number}"), Instant::now());
    let values = format!("DATABASE: mysql://main/a\nROUND: {value}");
    hosted.company.change("control-plane@dev", "configs/common.yaml", &objects::config("common", "", &values));
    eventually("the change", || (hosted.proposes("dev", &value) && hosted.is_quiet()).then_some(()));
    let (took, log) = (start.elapsed(), hosted.log());
    assert!(took < CHANGE_MAX, "the change took {} s:\n{log}", took.as_secs());
    assert!(!log.contains("panicked") && !log.contains("a bug of Kalypso"), "{log}");
    took
}

/// Checks that the times of the last sync are those of the clock.
fn check_times(hosted: &Hosted, hours: i64) {
    let dev = || hosted.environments().into_iter().find(|found| found["environment"] == "dev").unwrap_or_default();
    let time = |json: &Json| json.as_str().unwrap_or_default().parse::<Timestamp>().ok();
    let last = dev()["last"].take();
    let (started, now) = (time(&last["startedOn"]).unwrap(), Timestamp::now() + SignedDuration::from_hours(hours));
    assert!(now.duration_since(started).abs() < DIFFERENCE_MAX, "at {now}, the last sync began at {started}");
    let took_ms = last["tookMs"].as_u64().unwrap();
    assert!(u128::from(took_ms) < CHANGE_MAX.as_millis(), "the last sync took {took_ms} ms");
    // It is set shortly after the result.
    eventually("a right time of the next sync", || {
        let pause = time(&dev()["nextOn"])?.duration_since(started);
        (pause.is_positive() && pause < RESYNC.1).then_some(())
    });
}
