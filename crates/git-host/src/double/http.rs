//! HTTP for the double: one request on each connection.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};

use crate::repository::decoded;

/// How long a connection may wait for its request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// The maximum size of a request, in bytes.
const REQUEST_BYTES_MAX: u64 = 16 << 20;

/// A request.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) path: Vec<String>,
    query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Reads a request.
    pub(super) fn read(stream: &TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(REQUEST_TIME_MAX))?;
        let mut input = BufReader::new(stream.take(REQUEST_BYTES_MAX));
        let mut line = String::new();
        input.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut request = Self { method, target, ..Self::default() };
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        input.take(length).read_to_end(&mut request.body)?;
        request.split_target();
        Ok(request)
    }

    fn split_target(&mut self) {
        let Ok(url) = format!("http://double{}", self.target).parse::<Url>() else { return };
        self.query = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let segments = url.path().trim_matches('/').split('/');
        self.path = segments.map(|segment| decoded(segment).unwrap_or_default()).collect();
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// A field of a form in the body.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let form = std::str::from_utf8(&self.body).ok()?;
        let url = format!("http://double/?{form}").parse::<Url>().ok()?;
        url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A text in the body.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.json().get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// A list of texts in the body.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let json = self.json();
        let items = json.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Response {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned())];
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    pub(super) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(super) fn message(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message }))
    }

    /// The page of a list that a request asks for, with a link to the next one.
    pub(super) fn page(request: &Request, size_name: &str, items: Vec<Value>) -> Self {
        let number =
            |name: &str, default: usize| request.parameter(name).and_then(|n| n.parse().ok()).unwrap_or(default);
        let (size, page) = (number(size_name, 30).clamp(1, 100), number("page", 1).max(1));
        let has_next = items.len() > size * page;
        let items: Vec<Value> = items.into_iter().skip(size * (page - 1)).take(size).collect();
        let mut response = Self::json(200, &Value::Array(items));
        if has_next {
            let link = format!("<http://double/?page={}>; rel=\"next\"", page + 1);
            response.headers.push(("Link".to_owned(), link));
        }
        response
    }

    /// Writes the answer. With `body_bytes`, only so many bytes of the body, although the header names all.
    pub(super) fn write(&self, mut stream: &TcpStream, body_bytes: Option<usize>) -> io::Result<()> {
        stream.write_all(self.head().as_bytes())?;
        let length = body_bytes.unwrap_or(self.body.len());
        stream.write_all(self.body.get(..length).unwrap_or(&self.body))
    }

    /// Writes the answer byte by byte, with a pause before each.
    pub(super) fn drip(&self, mut stream: &TcpStream, pause: Duration) -> io::Result<()> {
        // Otherwise, the system would collect bytes.
        stream.set_nodelay(true)?;
        [self.head().as_bytes(), &self.body].concat().iter().try_for_each(|byte| {
            thread::sleep(pause);
            stream.write_all(&[*byte])
        })
    }

    fn head(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = self.body.len();
        format!("HTTP/1.1 {} Answer\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n", self.status)
    }
}
