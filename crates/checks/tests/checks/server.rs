//! An HTTP server on loopback that answers with given bytes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Writes an answer to a connection.
type Answer = dyn Fn(&mut TcpStream) + Send + Sync;

/// A server. Its threads end with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn new(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (address, requests) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let (answer, shared): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&requests));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (answer, requests) = (Arc::clone(&answer), Arc::clone(&shared));
                thread::spawn(move || {
                    let request = read(&stream);
                    requests.lock().unwrap().push(request);
                    answer(&mut stream);
                });
            }
        });
        Self { address, requests }
    }

    /// A server that always answers the same.
    pub(crate) fn with(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let text =
            format!("HTTP/1.1 {status} Answer\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        // The client may have ended the connection.
        Self::new(move |stream| drop(stream.write_all(text.as_bytes())))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The head of a request.
fn read(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}
