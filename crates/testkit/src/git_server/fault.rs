//! What a git host does when something is wrong with it, or with the way to it.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is this status and nothing else.
    Status(u16),
    /// It is a page where somebody may log in, with status 200.
    Page,
    /// It has the right type, and its content is nonsense: one of several kinds.
    Garbage(usize),
    /// The connection ends before the request is heard, after so many bytes of its body.
    Deaf(usize),
    /// The request is done, but the connection ends after so many bytes of the answer.
    Cut(usize),
    /// The request is done, but the answer stops after so many bytes, and the connection stays.
    Stall(usize),
    /// The request is done, and its answer comes in small pieces.
    Drip,
    /// The request is heard, and never answered.
    Silence,
}

/// A page without line breaks, as they are sent by those who want to save bytes.
const PAGE: &str = "<!DOCTYPE html><html><body><form action=\"/login\">Who are you?</form></body></html>";
/// Answers that no git server gives: sizes that packets can't have, nothing, an end without a beginning, a packet without its end, a packet of another
/// conversation, a report outside of the band that it belongs into, and a band that does not exist.
pub const GARBAGE: [&str; 7] = [
    "zzzznonsense 0001 0002fffe\0\0\u{fffd}\n",
    "",
    "0000",
    "fff0\u{2}and then nothing",
    "0008NAK\n",
    "000eunpack ok\n0000",
    "000a\u{7}band\n0000",
];
/// How fast an answer drips.
const DRIP: (usize, Duration) = (64, Duration::from_millis(5));

impl Fault {
    /// Answers in place of the backend, if it is not asked at all.
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

    /// How much of a body is heard.
    pub(super) fn hears(self) -> Option<usize> {
        if let Self::Deaf(bytes) = self { Some(bytes) } else { None }
    }

    /// Answers in its way with what the backend says.
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

/// Until the client goes away.
fn until_given_up(mut stream: &TcpStream) -> io::Result<()> {
    stream.read_to_end(&mut Vec::new()).map(drop)
}
