//! A git host on loopback, for the demo and for tests: the API of each kind over the state of a [`MemoryHost`]. The demo needs only that of Gitea; feature
//! `all-doubles` adds the others.

#[cfg(feature = "all-doubles")]
mod azure_devops;
mod bare_repository;
pub mod events;
mod gitea;
#[cfg(feature = "all-doubles")]
mod github;
#[cfg(feature = "all-doubles")]
mod gitlab;
mod http;
mod pages;
mod state_file;
mod webhooks;
#[cfg(feature = "all-doubles")]
mod work_items;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use data_encoding::BASE64;

pub use self::bare_repository::BareRepository;
use self::http::{Request, Response};
pub use self::webhooks::WebhookTarget;
use self::webhooks::Webhooks;
use crate::host::GitHost as _;
use crate::hosts::memory::{HostState, MemoryHost};
use crate::kind::HostKind;

/// A git host on loopback. It ends when it is dropped.
#[derive(Debug)]
pub struct HostDouble {
    shared: Arc<Shared>,
    address: SocketAddr,
}

/// A request with its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The headers of the request, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body of the request.
    pub body: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer.
    pub answer: Vec<u8>,
}

/// A fault of the host, or of the way to it.
#[derive(Clone, Debug)]
pub struct DoubleFault {
    /// The method of the requests.
    pub method: &'static str,
    /// A part of their path and query.
    pub target: String,
    /// Whether the host does what the request requires.
    pub is_done: bool,
    /// The answer.
    pub answer: FaultAnswer,
    /// The number of requests with this fault.
    pub times: u32,
}

/// The answer to a request with a fault.
#[derive(Clone, Debug)]
pub enum FaultAnswer {
    /// This answer.
    Answer {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
    /// Half of the right answer.
    Half,
    /// The right answer, after this time.
    Late(Duration),
    /// The right answer, byte by byte, with this pause before each.
    Drip(Duration),
    /// None: the connection ends.
    None,
}

/// The GitHub App that a host accepts.
#[cfg(feature = "all-doubles")]
#[derive(Clone, Debug)]
pub struct AppDouble {
    /// Its short name.
    pub slug: String,
    /// Its only installation.
    pub installation: u64,
    /// How long its tokens are valid, in seconds.
    pub token_seconds: i64,
}

#[derive(Debug)]
struct Shared {
    host: MemoryHost,
    /// The accounts by token.
    tokens: Mutex<BTreeMap<String, String>>,
    #[cfg(feature = "all-doubles")]
    app: Mutex<Option<AppDouble>>,
    faults: Mutex<Vec<DoubleFault>>,
    exchanges: Mutex<Vec<Exchange>>,
    webhooks: Mutex<Option<Webhooks>>,
    people: Option<People>,
    is_ended: AtomicBool,
}

/// What a host has that people use: pages, and a state that stays.
#[derive(Debug)]
struct People {
    state_file: PathBuf,
    /// The accounts that people can use on the pages.
    accounts: Vec<String>,
    /// The content of the file.
    saved: Mutex<Vec<u8>>,
}

/// What a request is answered with.
struct Context<'c> {
    state: &'c mut HostState,
    account: &'c str,
    request: &'c Request,
}

impl HostDouble {
    /// Starts a double of a host for tests, without pages. The host's state may be changed at any time.
    ///
    /// # Errors
    /// If loopback can't be listened to.
    pub fn start(host: &MemoryHost) -> io::Result<Self> {
        Self::listen(host, (Ipv4Addr::LOCALHOST, 0).into(), None)
    }

    /// Starts a double of a host for people, with pages for these accounts. Its pull requests and issues are kept in a file. Requests are not recorded.
    ///
    /// # Errors
    /// If the address is not on loopback or can't be listened to, or the file can't be read.
    pub fn start_at(
        host: &MemoryHost,
        address: SocketAddr,
        (state_file, accounts): (&Path, &[&str]),
    ) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let message = "it is not an address of this machine only, such as 127.0.0.1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let accounts = accounts.iter().map(|name| (*name).to_owned()).collect();
        let people = People { state_file: state_file.to_owned(), accounts, saved: Mutex::default() };
        Self::listen(host, address, Some(people))
    }

    fn listen(host: &MemoryHost, address: SocketAddr, people: Option<People>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        {
            let mut state = host.state();
            state.set_url(&format!("http://{address}"));
            if let Some(People { state_file, .. }) = &people {
                let unreadable = |error| io::Error::other(format!("`{}` can't be read: {error}", state_file.display()));
                state_file::load(&mut state, state_file).map_err(unreadable)?;
            }
        }
        let shared = Arc::new(Shared {
            host: host.clone(),
            tokens: Mutex::default(),
            #[cfg(feature = "all-doubles")]
            app: Mutex::default(),
            faults: Mutex::default(),
            exchanges: Mutex::default(),
            webhooks: Mutex::default(),
            people,
            is_ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || serve(&listener, &serving));
        Ok(Self { shared, address })
    }

    /// The address of its pages.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Announces what people do on its pages to a service.
    pub fn set_webhook(&self, target: WebhookTarget) {
        *lock(&self.shared.webhooks) = Some(Webhooks::new(self.shared.host.kind(), target));
    }

    /// Accepts a token of an account.
    pub fn accept_token(&self, token: &str, account: &str) {
        lock(&self.shared.tokens).insert(token.to_owned(), account.to_owned());
    }

    /// Refuses all tokens that were accepted before.
    pub fn revoke_tokens(&self) {
        lock(&self.shared.tokens).clear();
    }

    /// Accepts a GitHub App.
    #[cfg(feature = "all-doubles")]
    pub fn accept_app(&self, app: AppDouble) {
        *lock(&self.shared.app) = Some(app);
    }

    /// Answers the next requests of a kind with a fault.
    pub fn fail_next(&self, fault: DoubleFault) {
        lock(&self.shared.faults).push(fault);
    }

    /// Answers all requests from now on without a fault.
    pub fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
    }

    /// All requests so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.shared.exchanges).clone()
    }

    /// Forgets the requests so far.
    pub fn forget_exchanges(&self) {
        lock(&self.shared.exchanges).clear();
    }
}

impl Drop for HostDouble {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_ended.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), shared) = (stream, Arc::clone(shared)) else { continue };
        // The client may have ended the connection.
        thread::spawn(move || drop(exchange(&stream, &shared)));
    }
}

fn exchange(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let request = Request::read(stream)?;
    let fault = fault_of(shared, &request);
    let is_done = fault.as_ref().is_none_or(|fault| fault.is_done);
    let mut response = if is_done { shared.answer(&request) } else { Response::empty(500) };
    let mut body_bytes = None;
    match fault.map(|fault| fault.answer) {
        Some(FaultAnswer::Answer { status, headers, body }) => {
            let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            response = Response { status, headers, body: body.into_bytes() };
        }
        Some(FaultAnswer::Half) => body_bytes = Some(response.body.len() / 2),
        Some(FaultAnswer::Late(pause)) => thread::sleep(pause),
        Some(FaultAnswer::Drip(pause)) => {
            shared.note(request, &response);
            response.drip(stream, pause)?;
            return stream.shutdown(Shutdown::Write);
        }
        Some(FaultAnswer::None) => {
            shared.note(request, &Response::empty(0));
            return stream.shutdown(Shutdown::Both);
        }
        None => {}
    }
    shared.note(request, &response);
    response.write(stream, body_bytes)?;
    stream.shutdown(Shutdown::Write)
}

/// The fault of a request, and one time less for the next one.
fn fault_of(shared: &Shared, request: &Request) -> Option<DoubleFault> {
    let mut faults = lock(&shared.faults);
    let is_of = |fault: &&mut DoubleFault| {
        fault.times > 0 && fault.method == request.method && request.target.contains(&fault.target)
    };
    let fault = faults.iter_mut().find(is_of)?;
    fault.times -= 1;
    Some(fault.clone())
}

impl Shared {
    fn note(&self, request: Request, response: &Response) {
        if self.people.is_some() {
            return;
        }
        let Request { method, target, headers, body, .. } = request;
        let (status, answer) = (response.status, response.body.clone());
        lock(&self.exchanges).push(Exchange { method, target, headers, body, status, answer });
    }

    fn answer(&self, request: &Request) -> Response {
        let Some(people) = &self.people else { return self.answer_api(request) };
        let response = if pages::is_for_api(request) {
            self.answer_api(request)
        } else {
            self.answer_browser(request, &people.accounts)
        };
        if !matches!(request.method.as_str(), "GET" | "HEAD")
            && let Err(error) = people.save(&mut self.host.state())
        {
            return Response::message(500, &format!("the state can't be stored: {error}"));
        }
        response
    }

    fn answer_browser(&self, request: &Request, accounts: &[String]) -> Response {
        let (response, pressed) = pages::answer(&mut self.host.state(), request, accounts);
        if let (Some(pressed), Some(webhooks)) = (pressed, lock(&self.webhooks).as_ref()) {
            webhooks.announce(&pressed.repository, &pressed.pull_request);
        }
        response
    }

    fn answer_api(&self, request: &Request) -> Response {
        let kind = self.host.kind();
        #[cfg(feature = "all-doubles")]
        if kind == HostKind::GitHub
            && let Some(response) = self.answer_app(request)
        {
            return response;
        }
        let token = token(kind, request).unwrap_or_default();
        let Some(account) = lock(&self.tokens).get(&token).cloned() else {
            return Response::message(401, "Bad credentials");
        };
        let mut state = self.host.state();
        let context = Context { state: &mut state, account: &account, request };
        match kind {
            HostKind::Gitea => gitea::answer(context),
            #[cfg(feature = "all-doubles")]
            HostKind::GitHub => github::answer(context),
            #[cfg(feature = "all-doubles")]
            HostKind::GitLab => gitlab::answer(context),
            #[cfg(feature = "all-doubles")]
            HostKind::AzureDevOps => azure_devops::answer(context),
            _ => Response::message(404, "Not Found"),
        }
    }

    /// The answer to a request of a GitHub App.
    #[cfg(feature = "all-doubles")]
    fn answer_app(&self, request: &Request) -> Option<Response> {
        let app = lock(&self.app).clone()?;
        let is_signed = token(HostKind::GitHub, request)?.matches('.').count() == 2;
        let (response, issued) = github::answer_app(&app, request, lock(&self.tokens).len())?;
        if !is_signed {
            return Some(Response::message(401, "A JSON web token could not be decoded"));
        }
        if let Some(token) = issued {
            lock(&self.tokens).insert(token, format!("{}[bot]", app.slug));
        }
        Some(response)
    }
}

impl People {
    /// Stores the state, if it changed.
    fn save(&self, state: &mut HostState) -> io::Result<()> {
        let (text, mut saved) = (state_file::text(state), lock(&self.saved));
        if *saved != text {
            state_file::write(&self.state_file, &text)?;
            *saved = text;
        }
        Ok(())
    }
}

/// The token of a request, in the form of the kind.
fn token(kind: HostKind, request: &Request) -> Option<String> {
    let header = request.header("authorization").unwrap_or_default();
    match kind {
        HostKind::GitHub => header.strip_prefix("Bearer ").map(str::to_owned),
        HostKind::GitLab => request.header("private-token").map(str::to_owned),
        HostKind::Gitea => header.strip_prefix("token ").map(str::to_owned),
        HostKind::AzureDevOps | HostKind::Git => {
            let decoded = BASE64.decode(header.strip_prefix("Basic ")?.as_bytes()).ok()?;
            String::from_utf8(decoded).ok()?.strip_prefix(':').map(str::to_owned)
        }
    }
}

#[cfg(all(test, feature = "all-doubles"))]
mod tests;
