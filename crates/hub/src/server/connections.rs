//! Connections: accepted, served with HTTP/1.1 or HTTP/2 on the same port, and closed in order.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::rt::{Read, Write};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::limits::{CONNECTIONS_MAX, HANDSHAKE_TIMEOUT, HEADER_BYTES_MAX, HEADER_TIMEOUT, STOP_TIMEOUT, STREAMS_MAX};

/// The pause after a connection could not be accepted, for example because there were no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The interval of pings that check whether the client of an HTTP/2 connection is still connected.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// Serves until `stop`. Then it finishes open requests, for [`STOP_TIMEOUT`] at most.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    routes: Router,
    stop: impl Future<Output = ()>,
) {
    let builder = builder();
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut tasks = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = tasks.join_next() => {}
            (stream, permit) = accept(&listener, &room) => {
                let (tls, builder, routes, watcher) = (tls.clone(), builder.clone(), routes.clone(), graceful.watcher());
                tasks.spawn(async move {
                    greet(stream, tls, Conversation { builder, routes, watcher }).await;
                    drop(permit);
                });
            }
        }
    }
    drop(listener);
    if timeout(STOP_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests that took too long were cut off");
    }
    tasks.shutdown().await;
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(HEADER_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADER_BYTES_MAX as u32);
    builder
}

/// The next connection, as soon as the number of connections allows it.
async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let permit = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

struct Conversation {
    builder: Builder<TokioExecutor>,
    routes: Router,
    watcher: Watcher,
}

/// Serves a connection. A client that sends nothing, or does not finish the TLS handshake in time, is disconnected.
async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>, conversation: Conversation) {
    // Responses are small: they must not be delayed until more data is sent (Nagle's algorithm).
    let _ = stream.set_nodelay(true);
    if !matches!(timeout(HEADER_TIMEOUT, stream.readable()).await, Ok(Ok(()))) {
        return;
    }
    match tls {
        None => conversation.hold(TokioIo::new(stream)).await,
        Some(tls) => match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => conversation.hold(TokioIo::new(stream)).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        },
    }
}

impl Conversation {
    async fn hold<I: Read + Write + Unpin + Send + 'static>(self, io: I) {
        let connection = self.builder.serve_connection(io, TowerToHyperService::new(self.routes)).into_owned();
        if let Err(error) = self.watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}
