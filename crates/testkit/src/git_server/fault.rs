//! Faults of a git host or of the connection to it.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// A fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFault {
    /// The answer has this status and no body.
    Status(u16),
    /// The answer is a login page with status 200.
    Page,
    /// The answer has the correct content type, but invalid content: one of several kinds.
    Garbage(usize),
    /// The connection ends before the request is complete, after this many bytes of its body.
    Deaf(usize),
    /// The request is executed, but the connection ends after this many bytes of the answer.
    Cut(usize),
    /// The request is executed, but the answer stops after this many bytes and the connection stays open.
    Stall(usize),
    /// The request is executed, and the answer arrives in small pieces.
    Drip,
    /// The request is read, but never answered.
    Silence,
}

/// A page without line breaks, as servers send it to save bytes.
const PAGE: &str = "<!DOCTYPE html><html><body><form action=\"/login\">Who are you?</form></body></html>";
/// Answers that no git server sends: impossible packet sizes, an empty answer, an end without a beginning, an incomplete packet, a packet of another
/// protocol exchange, a status report outside of its sideband, and a sideband that does not exist.
pub const GARBAGE: [&str; 7] = [
    "zzzznonsense 0001 0002fffe\0\0\u{fffd}\n",
    "",
    "0000",
    "fff0\u{2}and then nothing",
    "0008NAK\n",
    "000eunpack ok\n0000",
    "000a\u{7}band\n0000",
];
/// The speed of a dripping answer: bytes of one piece, and the pause between pieces.
const DRIP: (usize, Duration) = (64, Duration::from_millis(5));

impl ServerFault {
    /// Answers instead of the backend, if the fault needs no backend. Returns whether it answered.
    pub(super) fn answer(self, mut stream: &TcpStream) -> io::Result<bool> {
        match self {
            Self::Status(status) => {
                write!(stream, "HTTP/1.1 {status} Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
            }
            Self::Page => page(stream, "text/html", PAGE)?,
            Self::Silence => until_given_up(stream)?,
            Self::Garbage(_) | Self::Deaf(_) | Self::Cut(_) | Self::Stall(_) | Self::Drip => return Ok(false),
        }
        Ok(true)
    }

    /// The number of body bytes that are read. `None` if the whole body is read.
    pub(super) fn hears(self) -> Option<usize> {
        if let Self::Deaf(bytes) = self { Some(bytes) } else { None }
    }

    /// Sends the answer of the backend with this fault.
    pub(super) fn spoil(self, mut stream: &TcpStream, answer: &[u8]) -> io::Result<()> {
        match self {
            Self::Garbage(which) => {
                let text = String::from_utf8_lossy(answer);
                let kind = text.lines().find_map(|line| line.strip_prefix("Content-Type: "));
                page(stream, kind.unwrap_or("text/plain"), GARBAGE[which % GARBAGE.len()])
            }
            Self::Cut(bytes) => stream.write_all(answer.get(..bytes).unwrap_or(answer)),
            Self::Stall(bytes) => {
                stream.write_all(answer.get(..bytes).unwrap_or(answer))?;
                until_given_up(stream)
            }
            _ => answer.chunks(DRIP.0).try_for_each(|piece| {
                thread::sleep(DRIP.1);
                stream.write_all(piece)
            }),
        }
    }
}

fn page(mut stream: &TcpStream, kind: &str, text: &str) -> io::Result<()> {
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// Waits until the client closes the connection.
fn until_given_up(mut stream: &TcpStream) -> io::Result<()> {
    stream.read_to_end(&mut Vec::new()).map(drop)
}
