//! Sends requests over connections that stay open, each as fast as it is answered.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// The result of a load.
pub(super) struct Load {
    pub(super) per_second: f64,
    /// The time of each request.
    pub(super) times: Vec<Duration>,
}

/// Sends a number of requests over a number of connections. Every answer must have the status 200 and a body.
pub(super) fn run(address: &str, path: &str, (requests, connections): (usize, usize)) -> Result<Load> {
    let sent = AtomicUsize::new(0);
    let start = Instant::now();
    let one = || -> Result<Vec<Duration>> {
        let mut connection = Connection::open(address)?;
        let mut times = Vec::new();
        while sent.fetch_add(1, Ordering::Relaxed) < requests {
            let start = Instant::now();
            connection.get(address, path)?;
            times.push(start.elapsed());
        }
        Ok(times)
    };
    let times: Result<Vec<Vec<Duration>>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))?).collect()
    });
    let times = times?.concat();
    Ok(Load { per_second: times.len() as f64 / start.elapsed().as_secs_f64(), times })
}

struct Connection {
    reader: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::with_capacity(64 << 10, stream), body: Vec::new() })
    }

    fn get(&mut self, address: &str, path: &str) -> Result<()> {
        self.reader.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes())?;
        let (mut line, mut length) = (String::new(), None);
        self.reader.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200 "), "{path} is answered with {line}");
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
        }
        self.body.resize(length.context("the answer has no length")?, 0);
        self.reader.read_exact(&mut self.body)?;
        ensure!(self.body.len() > 2, "the answer is empty");
        Ok(())
    }
}
