//! Asks Prometheus for the value of a query now.

use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use crate::http::Clients;
use crate::measurement::{HttpAnswer, Measured, Measurement};
use crate::settings::PrometheusSettings;
use crate::text::shown;

/// An answer of the API.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerJson {
    status: String,
    data: Option<DataJson>,
    error_type: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataJson {
    result_type: String,
    result: Value,
}

/// A series of a vector.
#[derive(Debug, Deserialize)]
struct SeriesJson {
    value: PointJson,
}

/// A time with a value, which is a number as text.
#[derive(Debug, Deserialize)]
struct PointJson(#[expect(dead_code, reason = "the time of the query")] f64, String);

/// Measures a check with a query in which the placeholders are replaced.
pub(crate) fn measure(clients: &Clients, settings: &PrometheusSettings, query: &str, timeout: Duration) -> Measured {
    let mut url: Url = settings.url.parse().map_err(|_| "its address is not valid".to_owned())?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(["api", "v1", "query"]);
    }
    url.query_pairs_mut().append_pair("query", query);
    let answer = clients.get(url, settings.credential.as_ref(), timeout)?;
    values(&answer).map(Measurement::Prometheus)
}

/// The values of all series. None of them if there is no series.
fn values(answer: &HttpAnswer) -> Result<Vec<f64>, String> {
    let status = answer.status;
    let body = answer.body.as_ref().map_err(Clone::clone)?;
    let json: AnswerJson = match serde_json::from_slice(body) {
        Ok(json) => json,
        Err(_) if !(200..300).contains(&status) => return Err(format!("Prometheus answers {status}")),
        Err(_) => return Err("the answer is not one of Prometheus".to_owned()),
    };
    let Some(data) = json.data.filter(|_| json.status == "success") else {
        let (kind, message) = (json.error_type.unwrap_or_default(), json.error.unwrap_or_default());
        return Err(format!("Prometheus answers {status}: {}", shown(&format!("{kind}: {message}"))));
    };
    let wrong = |_| "the answer is not one of Prometheus".to_owned();
    let points: Vec<PointJson> = match data.result_type.as_str() {
        "vector" => {
            let series: Vec<SeriesJson> = serde_json::from_value(data.result).map_err(wrong)?;
            series.into_iter().map(|series| series.value).collect()
        }
        "scalar" => vec![serde_json::from_value(data.result).map_err(wrong)?],
        other => return Err(format!("the result of the query is a {}, not the values now", shown(other))),
    };
    points.iter().map(|PointJson(_, text)| number(text)).collect()
}

/// A value as Prometheus writes it.
fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        "-Inf" => Ok(f64::NEG_INFINITY),
        "NaN" => Ok(f64::NAN),
        text => text.parse().map_err(|_| format!("`{}` is not a number", shown(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str) -> Result<Vec<f64>, String> {
        let body = Ok(body.as_bytes().into());
        values(&HttpAnswer { status, content_type: None, body })
    }

    fn result(kind: &str, result: &str) -> Result<Vec<f64>, String> {
        check(200, &format!(r#"{{"status":"success","data":{{"resultType":"{kind}","result":{result}}}}}"#))
    }

    #[test]
    fn vectors_and_scalars_are_read() {
        let vector = r#"[{"metric":{"job":"a"},"value":[1435781451.781,"0.25"]},{"metric":{},"value":[1,"+Inf"]}]"#;
        assert_eq!(result("vector", vector), Ok(vec![0.25, f64::INFINITY]));
        assert_eq!(result("vector", "[]"), Ok(Vec::new()));
        assert_eq!(result("scalar", r#"[1435781451.781,"1e3"]"#), Ok(vec![1_000.0]));
        assert!(result("scalar", r#"[1,"NaN"]"#).unwrap()[0].is_nan());
    }

    #[test]
    fn other_answers_have_a_reason() {
        assert_eq!(result("matrix", "[]").unwrap_err(), "the result of the query is a matrix, not the values now");
        assert_eq!(result("scalar", r#"[1,"many"]"#).unwrap_err(), "`many` is not a number");
        assert_eq!(result("vector", "7").unwrap_err(), "the answer is not one of Prometheus");
        assert_eq!(check(503, "<html>").unwrap_err(), "Prometheus answers 503");
        assert_eq!(check(200, "<html>").unwrap_err(), "the answer is not one of Prometheus");
        let error = r#"{"status":"error","errorType":"bad_data","error":"1:3: parse error\u0007"}"#;
        assert_eq!(check(400, error).unwrap_err(), "Prometheus answers 400: bad_data: 1:3: parse error");
    }
}
