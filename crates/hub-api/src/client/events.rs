//! The event stream of a hub. After a lost connection, it continues after the last event.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::{Response, Url, header};

use super::http::{RETRY, is_busy, retry_after};
use super::{Client, ClientError, parameters};
use crate::filter::Filter;

/// The maximum size of one line of a stream, in bytes. A change has some kilobytes.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// A stream of changes.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    url: Url,
    connection: Option<Response>,
    reader: Reader,
    /// Events that were received, but not returned yet.
    received: VecDeque<Event>,
    /// The number of consecutive failures.
    failures: u32,
}

/// An item of the stream.
#[derive(Debug)]
pub enum StreamItem {
    /// A change.
    FleetChange {
        /// The id of the event. The stream can continue after it.
        id: String,
        /// The change as JSON. A later version of the hub may send unknown changes.
        change: serde_json::Value,
    },
    /// The connection is lost. The stream connects again by itself.
    Lost(ClientError),
}

impl Client {
    /// Opens a stream of the changes that the filter selects, from now on or after an event.
    ///
    /// # Errors
    /// If the URL of the hub is not valid.
    pub fn follow(&self, filter: &Filter, after: Option<String>) -> Result<EventStream, ClientError> {
        let url = self.transport.url_of(&["events"], &parameters(filter))?;
        let reader = Reader { last_id: after.unwrap_or_default(), ..Reader::default() };
        let received = VecDeque::new();
        Ok(EventStream { client: self.clone(), url, connection: None, reader, received, failures: 0 })
    }
}

impl EventStream {
    /// Waits for the next item.
    ///
    /// # Errors
    /// If the hub refuses the request, or sends no valid stream.
    pub async fn next(&mut self) -> Result<StreamItem, ClientError> {
        loop {
            if let Some(event) = self.received.pop_front() {
                match serde_json::from_str(&event.data) {
                    Ok(change) => return Ok(StreamItem::FleetChange { id: event.id, change }),
                    Err(error) => return Err(self.client.transport.unexpected(&error.to_string())),
                }
            }
            if let Err(error) = self.receive().await {
                self.connection = None;
                return match error {
                    Interruption::Passing(error, pause) => {
                        self.failures = self.failures.saturating_add(1);
                        tokio::time::sleep(pause.unwrap_or_else(|| RETRY.pause(self.failures))).await;
                        Ok(StreamItem::Lost(error))
                    }
                    Interruption::Lasting(error) => Err(error),
                };
            }
        }
    }

    /// Receives the next bytes of the connection. Connects first if there is no connection.
    async fn receive(&mut self) -> Result<(), Interruption> {
        let passing = |error| Interruption::Passing(error, None);
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let connection = self.connection.insert(connection);
        match connection.chunk().await {
            Ok(Some(bytes)) => {
                self.failures = 0;
                let events = self.reader.push(&bytes);
                self.received
                    .extend(events.map_err(|reason| Interruption::Lasting(self.client.transport.unexpected(reason)))?);
                Ok(())
            }
            Ok(None) => Err(passing(self.client.transport.unexpected("the stream has ended"))),
            Err(error) => Err(passing(self.client.transport.unreachable(&error))),
        }
    }

    async fn connect(&mut self) -> Result<Response, Interruption> {
        self.reader.reset();
        let mut request =
            self.client.transport.streaming.get(self.url.clone()).header(header::ACCEPT, "text/event-stream");
        if !self.reader.last_id.is_empty() {
            request = request.header("last-event-id", &self.reader.last_id);
        }
        let response = self.client.transport.send(request).await.map_err(|error| Interruption::Passing(error, None))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (is_busy, pause) = (is_busy(&response), retry_after(&response));
        match self.client.transport.read::<serde_json::Value>(response).await {
            Err(error) if is_busy => Err(Interruption::Passing(error, pause)),
            Err(error) => Err(Interruption::Lasting(error)),
            Ok(_) => Err(Interruption::Lasting(self.client.transport.unexpected("it is no stream"))),
        }
    }
}

/// The reason for an interruption of the stream.
enum Interruption {
    /// A retry may succeed, perhaps after a pause that the hub names.
    Passing(ClientError, Option<Duration>),
    /// A retry is useless.
    Lasting(ClientError),
}

/// An event with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Event {
    id: String,
    data: String,
}

/// Parses server-sent events (HTML standard) from chunks of any length. Lines must end with a line feed, as those of a hub do.
#[derive(Debug, Default)]
struct Reader {
    line: Vec<u8>,
    data: Option<String>,
    id: Option<String>,
    /// The id of the last event.
    last_id: String,
}

impl Reader {
    /// Removes the incomplete event of a lost connection.
    fn reset(&mut self) {
        self.line.clear();
        (self.data, self.id) = (None, None);
    }

    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, &'static str> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > LINE_BYTES_MAX {
                return Err("a line of its stream never ends");
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                events.extend(self.line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n'])));
            }
        }
        Ok(events)
    }

    /// Parses a complete line. An empty line ends an event.
    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            self.last_id = self.id.take().unwrap_or_else(|| std::mem::take(&mut self.last_id));
            return self.data.take().map(|data| Event { id: self.last_id.clone(), data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => *data = format!("{data}\n{value}"),
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str =
        "id: a\nretry: 2000\n\n:\n\nid: b\nevent: report\ndata: {\ndata: \u{e9}}\n\ndata:x\r\n\r\nid: lost\ndata: y\n";

    fn check(pieces: &[&[u8]]) -> (Vec<String>, String) {
        let mut reader = Reader::default();
        let events = pieces.iter().flat_map(|piece| reader.push(piece).unwrap());
        let data = events.map(|event| event.data).collect();
        reader.reset();
        (data, reader.last_id)
    }

    #[test]
    fn an_incomplete_event_is_not_returned_and_is_sent_again() {
        assert_eq!(check(&[STREAM.as_bytes()]), (vec!["{\n\u{e9}}".to_owned(), "x".to_owned()], "b".to_owned()));
        assert_eq!(check(&[b"id: a\n\n"]), (Vec::new(), "a".to_owned()));
    }

    #[test]
    fn a_line_without_end_is_refused() {
        assert!(Reader::default().push(&vec![b'x'; LINE_BYTES_MAX + 1]).is_err());
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(length in 1usize..20) {
            let pieces: Vec<_> = STREAM.as_bytes().chunks(length).collect();
            prop_assert_eq!(check(&pieces), check(&[STREAM.as_bytes()]));
        }
    }
}
