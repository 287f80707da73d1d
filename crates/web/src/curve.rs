//! The progress of a rollout over time, as an area in SVG and as numbers.

use std::fmt::Write as _;

use hub_api::rollouts::CurvePoint;
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use crate::part::Moment;

/// The size of the drawing, in its own units: style sheets scale it.
const WIDTH: i64 = 1_000;
const HEIGHT: i64 = 100;

/// The progress of a rollout over time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) width: i64,
    pub(crate) height: i64,
    /// The area of the reconcilers that hold it, from the bottom.
    pub(crate) succeeded: String,
    /// The area of those that failed, above them.
    pub(crate) failed: String,
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    /// The beginning and the end in words.
    pub(crate) words: String,
    /// The times with their counts, the latest first.
    pub(crate) points: Vec<(Moment, Counts)>,
}

impl Curve {
    /// The curve through points in the order of their times. None: they are at one time only, or nothing is expected.
    pub(crate) fn new(points: Vec<CurvePoint>, now: Timestamp) -> Option<Self> {
        let (first, last) = (*points.first()?, *points.last()?);
        let most = points.iter().map(|point| point.counts.expected).max().filter(|most| *most > 0)?;
        let length = last.on.millis().saturating_sub(first.on.millis());
        if length <= 0 {
            return None;
        }
        let x = |on: Timestamp| on.millis().saturating_sub(first.on.millis()).saturating_mul(WIDTH) / length;
        let y = |number: i64| HEIGHT - number.saturating_mul(HEIGHT) / most;
        let upper: Vec<_> = points.iter().map(|one| (x(one.on), y(one.counts.succeeded))).collect();
        let failed: Vec<_> =
            points.iter().map(|one| (x(one.on), y(one.counts.succeeded + one.counts.failed))).collect();
        let share = |counts: &Counts| format!("{} of {}", counts.succeeded, counts.expected);
        Some(Self {
            width: WIDTH,
            height: HEIGHT,
            succeeded: format!("{} V {HEIGHT} H 0 Z", steps(&upper)),
            failed: area(&failed, &upper),
            from: Moment::new(first.on, now),
            to: Moment::new(last.on, now),
            words: format!("{} as desired, then {}", share(&first.counts), share(&last.counts)),
            points: points.iter().rev().map(|one| (Moment::new(one.on, now), one.counts)).collect(),
        })
    }
}

/// A line that stays at each height until the next point.
fn steps(points: &[(i64, i64)]) -> String {
    let mut path = String::new();
    for (number, (x, y)) in points.iter().enumerate() {
        let _ = if number == 0 { write!(path, "M {x} {y}") } else { write!(path, " H {x} V {y}") };
    }
    path
}

/// The area between two lines with the same positions.
fn area(upper: &[(i64, i64)], lower: &[(i64, i64)]) -> String {
    let mut path = steps(upper);
    let back: Vec<_> = lower.iter().rev().collect();
    for (number, (x, y)) in back.iter().enumerate() {
        // Backwards, a step comes before the point that it leads to.
        let _ = if number == 0 { write!(path, " V {y}") } else { write!(path, " V {y} H {x}") };
    }
    path + " Z"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(i64, i64, i64)]) -> Option<Curve> {
        let point = |(at, succeeded, failed): &(i64, i64, i64)| {
            let counts = Counts { expected: 10, succeeded: *succeeded, failed: *failed, ..Counts::default() };
            CurvePoint { on: Timestamp::from_millis(*at), counts }
        };
        Curve::new(points.iter().map(point).collect(), Timestamp::from_millis(1_000))
    }

    #[test]
    fn a_count_holds_until_the_next_record() {
        let drawn = curve(&[(0, 0, 0), (500, 4, 1), (1_000, 10, 0)]).unwrap();
        assert_eq!(drawn.succeeded, "M 0 100 H 500 V 60 H 1000 V 0 V 100 H 0 Z");
        assert_eq!(drawn.failed, "M 0 100 H 500 V 50 H 1000 V 0 V 0 V 60 H 500 V 100 H 0 Z");
        assert_eq!(drawn.words, "0 of 10 as desired, then 10 of 10");
    }

    #[test]
    fn one_time_is_no_curve() {
        assert!(curve(&[]).is_none() && curve(&[(5, 1, 0)]).is_none() && curve(&[(5, 1, 0), (5, 2, 0)]).is_none());
    }
}
