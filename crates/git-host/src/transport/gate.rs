//! The rate limits of a host: what its answers say about them, and until when it accepts no requests.

use std::time::{Duration, Instant};

use jiff::fmt::rfc2822;
use jiff::{Timestamp, Unit};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::limits::LIMITED_PAUSE;
use crate::rate_limit::RateLimit;

/// What is known about the rate limits of one host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    /// The state of the primary rate limit.
    pub(super) limit: Option<RateLimit>,
    /// The host accepts no requests before this time.
    closed_until: Option<Instant>,
}

/// The current time by both clocks of this machine. The wall clock may be set at any time, so only the monotonic one measures waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    monotonic: Instant,
    wall: Timestamp,
}

/// A wait that is too long for the clock.
const PAUSE_MAX: Duration = Duration::from_hours(100 * 365 * 24);

/// The prefixes of the headers: those of GitHub and Azure DevOps, and those of GitLab.
const PREFIXES: [&str; 2] = ["x-ratelimit-", "ratelimit-"];

impl Now {
    pub(super) fn read() -> Self {
        Self { monotonic: Instant::now(), wall: Timestamp::now() }
    }

    /// The wall clock after a pause, to the second: hosts name seconds, and the two clocks are not read at the very same time.
    pub(super) fn after(self, pause: Duration) -> Timestamp {
        let after = self.wall.checked_add(pause).unwrap_or(Timestamp::MAX);
        after.round(Unit::Second).unwrap_or(after)
    }
}

impl Gate {
    /// Learns from the headers of an answer.
    pub(super) fn observe(&mut self, headers: &HeaderMap, now: Now) {
        let found = limit(headers, now.wall);
        self.limit = found.or(self.limit);
        // Azure DevOps requests pauses in answers of success, too.
        self.close(now, retry_after(headers, now.wall));
        if let Some(RateLimit { remaining: 0, resets_at: Some(at), .. }) = found {
            self.close(now, Duration::try_from(at.duration_since(now.wall)).ok());
        }
    }

    /// When the limit ends that an answer names in its body.
    pub(super) fn reset_of(headers: &HeaderMap, now: Now) -> Timestamp {
        let named = any_limit(headers, now.wall).and_then(|limit| limit.resets_at);
        named.filter(|at| *at > now.wall).unwrap_or_else(|| now.after(LIMITED_PAUSE))
    }

    /// Notes a refusal for too many requests.
    pub(super) fn refuse(&mut self, headers: &HeaderMap, now: Now) {
        if self.pause(now).is_none() && retry_after(headers, now.wall).is_none() {
            self.close(now, Some(LIMITED_PAUSE));
        }
    }

    /// How long the host accepts no requests.
    pub(super) fn pause(&self, now: Now) -> Option<Duration> {
        self.closed_until?.checked_duration_since(now.monotonic).filter(|pause| !pause.is_zero())
    }

    /// Opens the gate after a wait for a pause that began at a time.
    pub(super) fn open(&mut self, (began, pause): (Now, Duration)) {
        self.closed_until = self.closed_until.filter(|until| *until > began.monotonic + pause);
    }

    fn close(&mut self, now: Now, pause: Option<Duration>) {
        let until = pause.and_then(|pause| now.monotonic.checked_add(pause.min(PAUSE_MAX)));
        self.closed_until = self.closed_until.max(until);
    }
}

/// Whether an answer refuses the request because there were too many.
pub(super) fn is_limited(status: u16, headers: &HeaderMap, message: &str) -> bool {
    let is_used_up = || PREFIXES.iter().any(|prefix| number(headers, &format!("{prefix}remaining")) == Some(0));
    // GitHub documents only this text for its secondary limits, if no header is present.
    let is_secondary = || message.to_ascii_lowercase().contains("secondary rate limit");
    status == 429 || (status == 403 && (headers.contains_key(RETRY_AFTER) || is_used_up() || is_secondary()))
}

/// The limit of the REST API. GitHub's other APIs have their own limits, and end without an effect on this one.
fn limit(headers: &HeaderMap, now: Timestamp) -> Option<RateLimit> {
    let resource = headers.get("x-ratelimit-resource");
    if resource.is_some_and(|resource| resource != "core") { None } else { any_limit(headers, now) }
}

fn any_limit(headers: &HeaderMap, now: Timestamp) -> Option<RateLimit> {
    PREFIXES.iter().find_map(|prefix| {
        let number = |name: &str| number(headers, &format!("{prefix}{name}"));
        let (remaining, limit) = (number("remaining")?, number("limit")?);
        let resets_at = number("reset").and_then(|seconds| Timestamp::from_second(seconds as i64).ok());
        let resets_at = resets_at.map(|at| by_our_clock(at, headers, now));
        Some(RateLimit { remaining, limit, resets_at })
    })
}

/// A time of the host's clock as a time of ours. A wrong clock must not cause long waits.
fn by_our_clock(at: Timestamp, headers: &HeaderMap, now: Timestamp) -> Timestamp {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok()).and_then(date);
    match date.map(|date| at.duration_since(date)) {
        Some(left) => now.checked_add(left).unwrap_or(at),
        None => at,
    }
}

fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = by_our_clock(date(text)?, headers, now);
    Duration::try_from(at.duration_since(now)).ok()
}

/// A date as HTTP writes it: `Mon, 23 Nov 2026 09:00:00 GMT`.
fn date(text: &str) -> Option<Timestamp> {
    rfc2822::parse(text).ok().map(|date| date.timestamp())
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    /// The seconds for which the gate is closed after an answer at second 1,000.
    fn check(status: u16, headers: &[(&'static str, &'static str)]) -> Option<u64> {
        let (now, mut gate) = (at_second(1_000), Gate::default());
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let headers: HeaderMap = headers.iter().map(header).collect();
        gate.observe(&headers, now);
        if is_limited(status, &headers, "") {
            gate.refuse(&headers, now);
        }
        gate.pause(now).map(|pause| pause.as_secs())
    }

    fn at_second(second: i64) -> Now {
        Now { monotonic: Instant::now(), wall: Timestamp::from_second(second).unwrap() }
    }

    #[test]
    fn the_hosts_name_their_pauses() {
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-limit", "5000"), ("x-ratelimit-reset", "1042")];
        assert_eq!(check(403, &used_up), Some(42));
        assert_eq!(check(200, &used_up), Some(42));
        assert_eq!(check(403, &[("retry-after", "7")]), Some(7));
        assert_eq!(check(200, &[("retry-after", "7")]), Some(7));
        assert_eq!(
            check(429, &[("ratelimit-remaining", "0"), ("ratelimit-limit", "9"), ("ratelimit-reset", "1005")]),
            Some(5)
        );
        assert_eq!(check(429, &[]), Some(60));
        assert_eq!(check(403, &[]), None);
        assert_eq!(check(429, &[("retry-after", "0")]), None);
        let graphql = [&used_up[..], &[("x-ratelimit-resource", "graphql")]].concat();
        assert_eq!(check(200, &graphql), None);
    }

    #[test]
    fn invalid_delays_use_the_default_and_huge_delays_stay_long() {
        assert!(check(429, &[("retry-after", "18446744073709551615")]) > Some(1 << 30));
        for wrong in ["-1", "18446744073709551616", "soon", ""] {
            assert_eq!(check(429, &[("retry-after", wrong)]), Some(60), "{wrong}");
        }
        let reset = "9223372036854775807";
        let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-limit", "1"), ("x-ratelimit-reset", reset)];
        assert_eq!(check(403, &headers), Some(60));
    }

    #[test]
    fn a_wrong_clock_does_not_matter() {
        let headers = [
            ("date", "Thu, 01 Jan 1970 01:00:00 GMT"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-limit", "1"),
            ("x-ratelimit-reset", "3610"),
        ];
        assert_eq!(check(403, &headers), Some(10));
        let date = [("date", "Thu, 01 Jan 1970 01:00:00 GMT"), ("retry-after", "Thu, 01 Jan 1970 01:00:03 GMT")];
        assert_eq!(check(503, &date), Some(3));
    }

    #[test]
    fn a_pause_is_the_same_after_the_clock_is_set() {
        const DAY: i64 = 24 * 60 * 60;
        let (now, mut gate) = (at_second(2 * DAY), Gate::default());
        gate.observe(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("7"))]), now);
        for second in [0, 2 * DAY, 4 * DAY] {
            let pause = gate.pause(Now { monotonic: now.monotonic, ..at_second(second) });
            assert_eq!(pause, Some(Duration::from_secs(7)), "{second}");
        }
    }

    #[test]
    fn secondary_rate_limits_are_recognized_by_their_text() {
        assert!(is_limited(403, &HeaderMap::new(), "You have exceeded a secondary rate limit."));
        assert!(!is_limited(403, &HeaderMap::new(), "Resource not accessible by integration"));
    }
}
