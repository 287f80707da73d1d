//! A proxy between two programs that simulates network faults.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The fault of the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Break {
    /// Connections are closed immediately.
    Refused,
    /// Connections are closed after this number of bytes from the server.
    Cut(usize),
    /// The server's data stops after this number of bytes.
    Stalled(usize),
    /// The server's bytes are corrupted after this number of bytes.
    Garbled(usize),
}

/// Forwards connections of clients to a port of this machine, as long as the program runs.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    broken: Arc<Mutex<Option<Break>>>,
}

impl Proxy {
    pub(crate) fn start(to: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let broken = Arc::new(Mutex::default());
        let shared = Arc::clone(&broken);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let broken = *shared.lock().unwrap_or_else(PoisonError::into_inner);
                // Broken connections are the purpose of the proxy, so errors are ignored.
                thread::spawn(move || drop(connect(&client, to, broken)));
            }
        });
        Self { port, broken }
    }

    pub(crate) fn set(&self, broken: Option<Break>) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = broken;
    }
}

fn connect(client: &TcpStream, to: u16, broken: Option<Break>) -> io::Result<()> {
    if matches!(broken, Some(Break::Refused)) {
        return client.shutdown(Shutdown::Both);
    }
    let server = TcpStream::connect(("127.0.0.1", to))?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        drop(io::copy(&mut from_client, &mut to_server));
        to_server.shutdown(Shutdown::Write)
    });
    let done = forward((&server, client), broken);
    drop(server.shutdown(Shutdown::Both));
    drop(client.shutdown(Shutdown::Both));
    done
}

fn forward((mut server, mut client): (&TcpStream, &TcpStream), broken: Option<Break>) -> io::Result<()> {
    let (mut buffer, mut sent) = ([0; 512], 0);
    loop {
        let count = server.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        match broken {
            Some(Break::Cut(after)) if sent + count > after => return Ok(()),
            Some(Break::Stalled(after)) if sent + count > after => {
                // Waits until the client gives up. The client's bytes are still forwarded to the server.
                return client.peek(&mut [0]).and_then(|_| io::copy(&mut &*server, &mut io::sink())).map(drop);
            }
            Some(Break::Garbled(after)) if sent + count > after => buffer.fill(0xa5),
            _ => {}
        }
        client.write_all(&buffer[..count])?;
        sent += count;
    }
}
