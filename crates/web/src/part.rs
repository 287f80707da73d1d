//! The parts of pages: tables with their cells, counts and times.

use std::borrow::Cow;
use std::fmt::Write as _;

use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};

use crate::address::Address;
use crate::text::utc;

/// A table of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// What it lists, for people who can't see it.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Cow<'static, str>>,
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The key of the row: it stays the same when the row changes.
    pub(crate) key: String,
    pub(crate) cells: Vec<Cell>,
}

/// The length of names that are never broken into lines, in characters.
const SHORT_MAX: usize = 28;

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Empty,
    Text(String),
    /// A name or an id, in a font in which similar characters differ.
    Code(String),
    Link(String, String),
    Share(Share),
    State(Sign),
    Time(Moment),
    /// A text from outside with any length.
    Message(String),
}

impl Cell {
    /// A text that may be missing.
    pub(crate) fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.into()))
    }

    /// An id that may be missing.
    pub(crate) fn code(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Empty, |text| Self::Code(text.into()))
    }

    /// A rollout state that may be missing.
    pub(crate) fn state(state: Option<ReconcilerState>) -> Self {
        state.map_or(Self::Empty, |state| {
            Self::State(Sign { class: class(state), shape: sign(state), words: state.words() })
        })
    }

    /// A link to a page.
    pub(crate) fn link(text: &str, to: &Address) -> Self {
        Self::Link(text.to_owned(), to.to_string())
    }

    /// The class of a name: short ones are never broken.
    pub(crate) fn class(text: &str) -> &'static str {
        if text.chars().count() <= SHORT_MAX { "short" } else { "long" }
    }

    /// The content as plain text, for files.
    pub(crate) fn text_only(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Code(text) | Self::Message(text) | Self::Link(text, _) => text.clone(),
            Self::Share(share) => format!("{} of {}", share.counts.succeeded, share.counts.expected),
            Self::State(state) => state.words.to_owned(),
            Self::Time(time) => time.utc.clone(),
        }
    }

    /// A time that may be missing.
    pub(crate) fn time(at: Option<Timestamp>, now: Timestamp) -> Self {
        at.map_or(Self::Empty, |at| Self::Time(Moment::new(at, now)))
    }
}

/// A rollout state: its class in the style sheet, its shape, and its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign {
    pub(crate) class: &'static str,
    pub(crate) shape: &'static str,
    pub(crate) words: &'static str,
}

/// A time, with its age.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// RFC 3339.
    pub(crate) utc: String,
    pub(crate) age: String,
}

impl Moment {
    /// A time, seen from another.
    pub(crate) fn new(at: Timestamp, now: Timestamp) -> Self {
        Self { utc: utc(at.whole_seconds()), age: age(at, now) }
    }
}

/// How long ago a time is.
fn age(at: Timestamp, now: Timestamp) -> String {
    if at > now {
        return format!("in {}", duration(at.since(now).as_secs()));
    }
    match now.since(at).as_secs() {
        0..5 => "just now".to_owned(),
        seconds => format!("{} ago", duration(seconds)),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How many reconcilers hold the desired content, of how many, and in which states the others are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    pub(crate) counts: Counts,
    /// Where the reconcilers are listed.
    pub(crate) to: Option<String>,
}

/// A part of the bar of a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The state, as a class of the style sheet.
    pub(crate) class: &'static str,
    /// Position and width in hundredths of a percent.
    pub(crate) x: i64,
    pub(crate) width: i64,
}

/// The width of a bar.
const BAR: i64 = 10_000;

/// The least width of a part of a bar.
const LEAST: i64 = BAR / 100;

/// The states of a bar, from left to right.
const ORDER: [ReconcilerState; 6] = [
    ReconcilerState::Succeeded,
    ReconcilerState::InProgress,
    ReconcilerState::Outdated,
    ReconcilerState::NeverReported,
    ReconcilerState::Silent,
    ReconcilerState::Failed,
];

impl Share {
    /// Counts, with the address of the list of their reconcilers.
    pub(crate) fn new(counts: Counts, to: Option<&Address>) -> Self {
        Self { counts, to: to.map(Address::to_string) }
    }

    fn worst_state(&self) -> Option<ReconcilerState> {
        worst_first().find(|state| self.counts.get(*state) > 0)
    }

    /// The worst state that occurs, as a class of the style sheet.
    pub(crate) fn worst(&self) -> &'static str {
        match self.worst_state() {
            Some(state) => class(state),
            None => "none",
        }
    }

    /// The sign of the worst state: its shape says the same as its colour.
    pub(crate) fn sign(&self) -> &'static str {
        match self.worst_state() {
            Some(state) => sign(state),
            None => "·",
        }
    }

    /// The numbers as words: "73 of 100 succeeded, 2 failed".
    pub(crate) fn words(&self) -> String {
        if self.counts.expected == 0 {
            return "nothing is expected here".to_owned();
        }
        let mut words = format!("{} of {} as desired", self.counts.succeeded, self.counts.expected);
        for state in ORDER.into_iter().skip(1).rev() {
            let number = self.counts.get(state);
            if number > 0 {
                let _ = write!(words, ", {number} {}", state.words());
            }
        }
        words
    }

    /// The parts of the bar. A state that occurs is never invisible.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let numbers = ORDER.map(|state| (state, self.counts.get(state))).into_iter().filter(|(_, number)| *number > 0);
        let mut segments: Vec<_> = numbers
            .map(|(state, number)| Segment { class: class(state), x: 0, width: (self.width(number)).max(LEAST) })
            .collect();
        // What the small ones have too much, the largest one has too little.
        let excess = segments.iter().map(|one| one.width).sum::<i64>() - BAR;
        if let Some(largest) = segments.iter_mut().max_by_key(|one| one.width) {
            largest.width -= excess;
        }
        let mut x = 0;
        for segment in &mut segments {
            segment.x = x;
            x += segment.width;
        }
        segments
    }

    fn width(&self, number: i64) -> i64 {
        i64::try_from(i128::from(number) * i128::from(BAR) / i128::from(self.counts.expected.max(1))).unwrap_or(BAR)
    }
}

/// The rollout states, the ones that need attention first.
pub(crate) fn worst_first() -> impl Iterator<Item = ReconcilerState> {
    ORDER.into_iter().rev()
}

/// The class of a state in the style sheet.
fn class(state: ReconcilerState) -> &'static str {
    match state {
        ReconcilerState::Succeeded => "good",
        ReconcilerState::Failed => "bad",
        ReconcilerState::InProgress => "busy",
        ReconcilerState::Silent => "silent",
        ReconcilerState::Outdated => "old",
        ReconcilerState::NeverReported => "none",
    }
}

/// The sign of a state.
fn sign(state: ReconcilerState) -> &'static str {
    match state {
        ReconcilerState::Succeeded => "✓",
        ReconcilerState::Failed => "✕",
        ReconcilerState::InProgress => "◐",
        ReconcilerState::Silent => "◌",
        ReconcilerState::Outdated => "△",
        ReconcilerState::NeverReported => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rollout::Liveness;

    fn counts(numbers: &[(ReconcilerState, i64)]) -> Counts {
        let mut counts = Counts::default();
        numbers.iter().for_each(|(state, number)| counts.add(*state, Liveness::Alive, *number));
        counts
    }

    #[test]
    fn few_failures_of_many_are_visible() {
        let share = Share::new(counts(&[(ReconcilerState::Succeeded, 999_999), (ReconcilerState::Failed, 1)]), None);
        let segments = share.segments();
        assert_eq!(segments.iter().map(|one| one.class).collect::<Vec<_>>(), ["good", "bad"]);
        assert!(segments[1].width == LEAST);
        assert_eq!(segments[1].x + segments[1].width, BAR);
        assert_eq!((share.worst(), share.words().as_str()), ("bad", "999999 of 1000000 as desired, 1 failed"));
    }

    #[test]
    fn ages_are_rounded_down() {
        let check = |seconds: i64| {
            age(Timestamp::from_millis(1_000_000_000 - seconds * 1_000), Timestamp::from_millis(1_000_000_000))
        };
        let ages = [0, 5, 119, 120, 7_199, 7_200, 172_800, -300].map(check);
        assert_eq!(
            ages,
            ["just now", "5 s ago", "119 s ago", "2 min ago", "119 min ago", "2 h ago", "2 d ago", "in 5 min"]
        );
    }
}
