//! Progress of long operations: a bar on a terminal, or a line from time to time in a log.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use model::progress::{Progress, ProgressPhase, Seen};

use crate::terminal::{count, thousands};
use workbench::visible::message;

/// No progress is shown for work that takes less time than this.
const QUIET: Duration = Duration::from_millis(500);
/// The interval between lines in a log. It is short enough to show progress, and long enough that other messages can be found.
const LOG_EVERY: Duration = Duration::from_secs(3);
/// The interval at which the bar on a terminal is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// The environment variable that disables progress if its value is `never`.
const VARIABLE: &str = "KALYPSO_PROGRESS";

/// Shows progress on standard error until it ends. Then the bar is removed from the terminal.
pub(crate) struct Watch {
    progress: Progress,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts to show progress. Nothing is counted if there is no output for it, or if it is disabled.
    pub(crate) fn start() -> Self {
        if std::env::var_os(VARIABLE).is_some_and(|value| value == "never") {
            return Self { progress: Progress::default(), stop: None, thread: None };
        }
        let progress = Progress::watched();
        let (stop, stopped) = mpsc::channel();
        let mut screen = Screen::of_stderr();
        let mut pace = Pace::new(screen.every());
        let (started, seen) = (Instant::now(), progress.clone());
        let look = move || {
            while stopped.recv_timeout(DRAW_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Some(shown) = seen.seen().and_then(|seen| pace.shown(started.elapsed(), seen)) {
                    screen.show(&shown);
                }
            }
            screen.clear();
        };
        // If the system can't create a thread, the work is still done, without progress.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(look).ok();
        Self { progress, stop: Some(stop), thread }
    }

    /// The counters of the work.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Ends the progress, because other output follows.
    pub(crate) fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Decides when progress is shown, and computes the speed.
struct Pace {
    every: Duration,
    shown: Option<Duration>,
    /// The phase, the time of its first observation, and the work done until then.
    begun: Option<(ProgressPhase, Duration, u64)>,
}

/// The progress that is shown at one time.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    phase: &'static str,
    done: u64,
    total: u64,
    words: String,
}

impl Pace {
    fn new(every: Duration) -> Self {
        Self { every, shown: None, begun: None }
    }

    /// The progress to show at this time since the start of the work. None if no output is due.
    fn shown(&mut self, now: Duration, seen: Seen) -> Option<Shown> {
        let begun = self.begun.filter(|(phase, ..)| *phase == seen.phase).unwrap_or((seen.phase, now, seen.done));
        self.begun = Some(begun);
        // In a log, work that ends before its first line is due is not shown either.
        let is_due = self.shown.map_or(now >= QUIET.max(self.every), |shown| now >= shown + self.every);
        if !is_due {
            return None;
        }
        self.shown = Some(now);
        let (_, since, done_before) = begun;
        let per_second = seen.done.saturating_sub(done_before) as f64 / now.saturating_sub(since).as_secs_f64();
        let words = message(&words(&seen, per_second));
        Some(Shown { phase: verb(seen.phase), done: seen.done, total: seen.total, words })
    }
}

impl Shown {
    fn line(&self) -> String {
        format!("{}  {}", self.phase, self.words).trim_end().to_owned()
    }
}

/// The progress, the speed and the estimated remaining time: `312,004/1,000,000  52,000/s  13 s left`.
fn words(seen: &Seen, per_second: f64) -> String {
    let Seen { done, total, under_way, .. } = seen;
    let done_shown = thousands(*done as usize);
    let mut parts = match (*total, *done) {
        (0, 0) => Vec::new(),
        (0, _) => vec![done_shown],
        // Work may be counted as done before it is added to the total.
        (total, done) => vec![format!("{done_shown}/{}", thousands(total.max(done) as usize))],
    };
    if !under_way.is_empty() {
        parts.push(under_way.join(", "));
    } else if per_second.is_finite() && per_second > 0.0 && (*total == 0 || done < total) {
        // The speed of the phase does not fall while work goes on that is not counted.
        parts.push(format!("{}/s", rounded(per_second)));
        let left = total.saturating_sub(*done);
        if left > 0 {
            parts.push(format!("{} left", duration(left as f64 / per_second)));
        }
    }
    parts.join("  ")
}

fn verb(phase: ProgressPhase) -> &'static str {
    match phase {
        ProgressPhase::Fetching => "fetching",
        ProgressPhase::Reading => "reading",
        ProgressPhase::Preparing => "preparing",
        ProgressPhase::Composing => "composing",
        ProgressPhase::Compiling => "compiling",
        ProgressPhase::Comparing => "comparing",
        ProgressPhase::Writing => "writing",
    }
}

/// A number rounded to two digits: further digits would change all the time.
fn rounded(number: f64) -> String {
    let step = 10_f64.powf(number.log10().floor() - 1.0);
    if number < 10.0 { format!("{number:.1}") } else { thousands(((number / step).round() * step) as usize) }
}

fn duration(seconds: f64) -> String {
    // The limit avoids absurdly long estimates.
    let seconds = seconds.min(1e10).ceil() as usize;
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{} {minutes} min", count(hours, "hour")),
    }
}

/// The output for the progress.
enum Screen {
    Terminal(ProgressBar),
    Log,
}

impl Screen {
    fn of_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Terminal(ProgressBar::new(0)) } else { Self::Log }
    }

    fn every(&self) -> Duration {
        match self {
            Self::Terminal(_) => DRAW_EVERY,
            Self::Log => LOG_EVERY,
        }
    }

    fn show(&mut self, shown: &Shown) {
        match self {
            Self::Terminal(bar) => {
                let template = if shown.total > 0 { "{prefix}  {bar:20}  {wide_msg}" } else { "{prefix}  {wide_msg}" };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏░"));
                }
                bar.set_prefix(shown.phase);
                bar.set_length(shown.total.max(shown.done));
                bar.set_position(shown.done);
                bar.set_message(shown.words.clone());
                bar.tick();
            }
            // If standard error is closed, there is no other place for this output.
            Self::Log => drop(writeln!(std::io::stderr(), "{}", shown.line())),
        }
    }

    fn clear(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(phase: ProgressPhase, done: u64, total: u64) -> Seen {
        Seen { phase, done, total, under_way: Vec::new() }
    }

    /// Checks the progress that is shown at these times in milliseconds, when it is updated at this interval.
    fn check(every: Duration, times: &[(u64, Seen)], expected: &[(u64, &str)]) {
        let mut pace = Pace::new(every);
        let shown =
            |(now, seen): &(u64, Seen)| Some((*now, pace.shown(Duration::from_millis(*now), seen.clone())?.line()));
        let shown: Vec<_> = times.iter().filter_map(shown).collect();
        let expected: Vec<_> = expected.iter().map(|(now, line)| (*now, (*line).to_owned())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn terminal_shows_phases_longer_than_half_a_second() {
        let at = |now| (now, seen(ProgressPhase::Compiling, now * 52, 1_000_000));
        check(DRAW_EVERY, &[at(0), at(100), at(400)], &[]);
        check(
            DRAW_EVERY,
            &[at(0), at(499), at(500), at(550), at(6000)],
            &[
                (500, "compiling  26,000/1,000,000  52,000/s  19 s left"),
                (6000, "compiling  312,000/1,000,000  52,000/s  14 s left"),
            ],
        );
    }

    #[test]
    fn a_log_gets_a_line_every_few_seconds() {
        let at = |now| (now, seen(ProgressPhase::Reading, now / 10, 0));
        let times: Vec<_> = (0..=80).map(|step| at(step * 100)).collect();
        check(LOG_EVERY, &times, &[(3000, "reading  300  100/s"), (6000, "reading  600  100/s")]);
    }

    #[test]
    fn each_phase_has_a_speed_of_its_own() {
        let (reading, compiling) =
            (seen(ProgressPhase::Reading, 9_000, 18_000), |done| seen(ProgressPhase::Compiling, done, 100));
        check(
            DRAW_EVERY,
            &[(0, seen(ProgressPhase::Reading, 0, 0)), (900, reading), (1000, compiling(0)), (3000, compiling(10))],
            &[
                (900, "reading  9,000/18,000  10,000/s  1 s left"),
                (1000, "compiling  0/100"),
                (3000, "compiling  10/100  5.0/s  18 s left"),
            ],
        );
    }

    #[test]
    fn finished_phases_have_no_speed() {
        let reading = |done| seen(ProgressPhase::Reading, done, 9_000);
        check(DRAW_EVERY, &[(0, reading(0)), (4000, reading(9_000))], &[(4000, "reading  9,000/9,000")]);
    }

    #[test]
    fn running_fetches_are_named() {
        let under_way = ["shop (branch `main`)".into(), "bank (tag `1`)".into()].to_vec();
        let fetching = Seen { under_way, ..seen(ProgressPhase::Fetching, 3, 5) };
        check(DRAW_EVERY, &[(700, fetching)], &[(700, "fetching  3/5  shop (branch `main`), bank (tag `1`)")]);
    }

    #[test]
    fn push_is_shown_after_the_written_count() {
        let under_way = vec!["push to gitops".into()];
        let pushing = Seen { under_way, ..seen(ProgressPhase::Writing, 2_000, 2_001) };
        check(DRAW_EVERY, &[(700, pushing)], &[(700, "writing  2,000/2,001  push to gitops")]);
    }

    #[test]
    fn the_time_left_is_easy_to_read() {
        let check = |seconds, text| assert_eq!(duration(seconds), text);
        check(0.2, "1 s");
        check(75.0, "1 min 15 s");
        check(4000.0, "1 hour 6 min");
        check(f64::MAX, "2,777,777 hours 46 min");
    }
}
