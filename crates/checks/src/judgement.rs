//! Compares a measurement with what a gate expects.

use engine::promotion::evidence::CheckOutcome;
use model::object::promotion::Expectation;
use serde_json::Value;

use crate::json_path;
use crate::measurement::{CommandEnd, Ended, HttpAnswer, Measured, Measurement};
use crate::settings::CheckKind;
use crate::text::shown;

/// The statuses that come from a server in between, or from one that can't answer now: they say nothing about the change.
const NO_ANSWER: &[u16] = &[401, 403, 407, 408, 429, 502, 503, 504];

/// The outcome, and what was seen.
pub(crate) type Judgement = (CheckOutcome, String);

/// Whether a check measures what a gate expects.
pub(crate) fn fits(kind: &CheckKind, expected: &Expectation) -> bool {
    matches!(
        (kind, expected),
        (CheckKind::Http(_), Expectation::Http { .. })
            | (CheckKind::Prometheus(_), Expectation::Prometheus { .. })
            | (CheckKind::Command(_), Expectation::Command)
    )
}

/// What a gate expects, for messages.
pub(crate) fn title(expected: &Expectation) -> &'static str {
    match expected {
        Expectation::Http { .. } => "an HTTP request",
        Expectation::Prometheus { .. } => "a query of Prometheus",
        Expectation::Command => "a command",
    }
}

/// Compares a measurement with what is expected.
pub(crate) fn judge(measured: &Measured, expected: &Expectation) -> Judgement {
    match (measured, expected) {
        (Err(reason), _) => unknown(reason.clone()),
        (Ok(Measurement::Http(answer)), Expectation::Http { status, json }) => {
            let json = json.as_ref().map(|(path, text)| (&**path, &**text));
            http(answer, *status, json)
        }
        (Ok(Measurement::Prometheus(values)), Expectation::Prometheus { min, max }) => {
            prometheus(values, (min.as_deref(), max.as_deref()))
        }
        (Ok(Measurement::Command(ended)), Expectation::Command) => command(ended),
        (Ok(_), expected) => unknown(format!("it is not {}", title(expected))),
    }
}

fn unknown(text: impl Into<String>) -> Judgement {
    (CheckOutcome::Unknown, text.into())
}

fn http(answer: &HttpAnswer, expected: Option<u16>, json: Option<(&str, &str)>) -> Judgement {
    let status = answer.status;
    let is_expected = expected.map_or((200..300).contains(&status), |expected| expected == status);
    if !is_expected {
        let wanted = expected.map_or_else(|| "200 to 299".to_owned(), |expected| expected.to_string());
        return match status {
            300..400 => unknown(format!("the server redirects ({status}); redirects are not followed")),
            status if NO_ANSWER.contains(&status) => unknown(format!("the server answers {status}")),
            status => (CheckOutcome::Failed, format!("the server answers {status}, not {wanted}")),
        };
    }
    match json {
        None => (CheckOutcome::Passed, format!("the server answers {status}")),
        Some(json) => value_at(answer, json).unwrap_or_else(unknown),
    }
}

/// Compares the value at a path. The error says why there is no value.
fn value_at(answer: &HttpAnswer, (path, expected): (&str, &str)) -> Result<Judgement, String> {
    let place = shown(path);
    let body = answer.body.as_ref().map_err(Clone::clone)?;
    let json: Value = serde_json::from_slice(body).map_err(|_| {
        let kind = answer.content_type.as_deref().unwrap_or("without a type");
        format!("the answer is no JSON ({kind})")
    })?;
    let texts = json_path::find(path, &json)?.into_iter().map(|value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) => Err(format!("the value at `{place}` is a list")),
        Value::Object(_) => Err(format!("the value at `{place}` is an object")),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
    });
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let Some(first) = texts.first() else { return Err(format!("no value at `{place}`")) };
    Ok(match texts.iter().find(|text| *text != expected) {
        None => (CheckOutcome::Passed, format!("`{place}` is `{}`", shown(first))),
        Some(other) => (CheckOutcome::Failed, format!("`{place}` is `{}`, not `{}`", shown(other), shown(expected))),
    })
}

fn prometheus(values: &[f64], (min, max): (Option<&str>, Option<&str>)) -> Judgement {
    let (min, max) = match (limit(min), limit(max)) {
        (Ok(min), Ok(max)) => (min, max),
        (Err(reason), _) | (_, Err(reason)) => return unknown(reason),
    };
    if values.is_empty() {
        return unknown("the query has no result");
    }
    let is_low = |value: &&f64| min.is_some_and(|min| **value < min);
    let is_high = |value: &&f64| max.is_some_and(|max| **value > max);
    let bad = values.iter().filter(|value| is_low(value) || is_high(value)).count();
    let of = if values.len() == 1 { String::new() } else { format!(" ({bad} of {} series)", values.len()) };
    let (low, high) = extremes(values);
    match (min.filter(|min| low < *min), max.filter(|max| high > *max)) {
        (Some(min), _) => (CheckOutcome::Failed, format!("{low} is less than {min}{of}")),
        (None, Some(max)) => (CheckOutcome::Failed, format!("{high} is more than {max}{of}")),
        (None, None) if values.iter().any(|value| value.is_nan()) => unknown("the value of the query is not a number"),
        (None, None) if values.len() == 1 => (CheckOutcome::Passed, low.to_string()),
        (None, None) => (CheckOutcome::Passed, format!("{low} to {high} in {} series", values.len())),
    }
}

/// A limit as a number. The error says that it is none.
fn limit(text: Option<&str>) -> Result<Option<f64>, String> {
    let number = |text: &str| text.trim().parse().map_err(|_| format!("the limit `{}` is not a number", shown(text)));
    text.map(number).transpose()
}

/// The lowest and the highest value that are numbers.
fn extremes(values: &[f64]) -> (f64, f64) {
    let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold((low, high), |(low, high), value| (low.min(*value), high.max(*value)))
}

fn command(ended: &Ended) -> Judgement {
    let (outcome, end) = match ended.end {
        CommandEnd::Exit(0) => (CheckOutcome::Passed, None),
        CommandEnd::Exit(status) => (CheckOutcome::Failed, Some(format!("exit status {status}"))),
        CommandEnd::Signal(Some(signal)) => (CheckOutcome::Failed, Some(format!("ended by signal {signal}"))),
        CommandEnd::Signal(None) => (CheckOutcome::Failed, Some("ended by a signal".to_owned())),
    };
    let text = match (end, ended.line.is_empty()) {
        (None, true) => "exit status 0".to_owned(),
        (None, false) => ended.line.clone(),
        (Some(end), true) => end,
        (Some(end), false) => format!("{end}: {}", ended.line),
    };
    (outcome, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an answer with a status and a body has the text `ok` at a path.
    fn json(status: u16, body: &str, path: &str) -> Judgement {
        let (body, content_type) = (Ok(body.as_bytes().into()), Some("text/html".to_owned()));
        let answer = HttpAnswer { status, content_type, body };
        let expected = Expectation::Http { status: None, json: Some((path.into(), "ok".into())) };
        judge(&Ok(Measurement::Http(answer)), &expected)
    }

    fn status(status: u16, expected: Option<u16>) -> Judgement {
        let answer = HttpAnswer { status, content_type: None, body: Err("too large".to_owned()) };
        judge(&Ok(Measurement::Http(answer)), &Expectation::Http { status: expected, json: None })
    }

    fn passed(text: &str) -> Judgement {
        (CheckOutcome::Passed, text.to_owned())
    }

    fn failed(text: &str) -> Judgement {
        (CheckOutcome::Failed, text.to_owned())
    }

    #[test]
    fn a_status_is_expected_exactly_or_as_success() {
        assert_eq!(status(204, None), passed("the server answers 204"));
        assert_eq!(status(404, Some(404)), passed("the server answers 404"));
        assert_eq!(status(404, None), failed("the server answers 404, not 200 to 299"));
        assert_eq!(status(200, Some(204)), failed("the server answers 200, not 204"));
        assert_eq!(status(500, None), failed("the server answers 500, not 200 to 299"));
        assert_eq!(status(503, None), unknown("the server answers 503"));
        assert_eq!(status(503, Some(503)), passed("the server answers 503"));
        assert_eq!(status(302, None), unknown("the server redirects (302); redirects are not followed"));
    }

    #[test]
    fn a_value_is_found_by_its_path() {
        let body = r#"{"status":"ok","checks":[{"state":"ok"},{"state":"bad","a.b":"ok","list":[]}],"up":true}"#;
        assert_eq!(json(200, body, "$.status"), passed("`$.status` is `ok`"));
        assert_eq!(json(200, body, "$.checks[0]['state']"), passed("`$.checks[0]['state']` is `ok`"));
        assert_eq!(json(200, body, "$.checks[1]['a.b']"), passed("`$.checks[1]['a.b']` is `ok`"));
        assert_eq!(json(200, body, "$.up"), failed("`$.up` is `true`, not `ok`"));
        assert_eq!(json(200, body, "$.checks[*].state"), failed("`$.checks[*].state` is `bad`, not `ok`"));
        assert_eq!(json(500, body, "$.status"), failed("the server answers 500, not 200 to 299"));
    }

    #[test]
    fn without_a_value_the_result_is_unknown() {
        let body = r#"{"checks":[]}"#;
        assert_eq!(json(200, body, "$.status"), unknown("no value at `$.status`"));
        assert_eq!(json(200, body, "$.checks"), unknown("the value at `$.checks` is a list"));
        assert_eq!(json(200, body, "$"), unknown("the value at `$` is an object"));
        assert_eq!(
            json(200, body, "status"),
            unknown("`status` is no JSON path, such as `$.status` or `$.checks[0]['state']`")
        );
        assert_eq!(json(200, "<html>", "$.status"), unknown("the answer is no JSON (text/html)"));
    }

    fn range(values: &[f64], min: Option<&str>, max: Option<&str>) -> Judgement {
        let expected = Expectation::Prometheus { min: min.map(Into::into), max: max.map(Into::into) };
        judge(&Ok(Measurement::Prometheus(values.to_vec())), &expected)
    }

    #[test]
    fn all_series_must_be_in_range() {
        assert_eq!(range(&[0.5], None, Some("0.5")), passed("0.5"));
        assert_eq!(range(&[0.5, 0.25], Some("0.25"), Some("1")), passed("0.25 to 0.5 in 2 series"));
        assert_eq!(range(&[0.6], None, Some("0.5")), failed("0.6 is more than 0.5"));
        assert_eq!(range(&[0.4], Some("0.5"), None), failed("0.4 is less than 0.5"));
        assert_eq!(range(&[0.1, 7.0, 8.0], None, Some("1")), failed("8 is more than 1 (2 of 3 series)"));
        assert_eq!(range(&[f64::INFINITY, f64::NAN], None, Some("1")), failed("inf is more than 1 (1 of 2 series)"));
    }

    #[test]
    fn without_a_number_the_result_is_unknown() {
        assert_eq!(range(&[], None, Some("1")), unknown("the query has no result"));
        assert_eq!(range(&[0.1, f64::NAN], None, Some("1")), unknown("the value of the query is not a number"));
        assert_eq!(range(&[1.0], Some("many"), None), unknown("the limit `many` is not a number"));
    }

    #[test]
    fn a_command_passes_with_status_0() {
        let check = |end, line: &str| {
            let ended = Ended { end, line: line.to_owned() };
            judge(&Ok(Measurement::Command(ended)), &Expectation::Command)
        };
        assert_eq!(check(CommandEnd::Exit(0), "12 of 12 passed"), passed("12 of 12 passed"));
        assert_eq!(check(CommandEnd::Exit(0), ""), passed("exit status 0"));
        assert_eq!(check(CommandEnd::Exit(3), "slow"), failed("exit status 3: slow"));
        assert_eq!(check(CommandEnd::Signal(Some(11)), ""), failed("ended by signal 11"));
    }
}
