//! A git host on loopback: the real `git http-backend` behind an HTTP server that checks a token and records the requests.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest time for which a request is held and for which a test waits for it. Only a broken test reaches this limit.
const HELD_MAX: Duration = Duration::from_mins(2);

mod fault;

pub use self::fault::{GARBAGE, ServerFault};

/// A git host on loopback. It serves the repositories below a folder and stops when it is dropped.
#[derive(Debug)]
pub struct GitServer {
    shared: Arc<Shared>,
    port: u16,
}

/// A request that a [`GitServer`] received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    /// The method: `GET` or `POST`.
    pub method: String,
    /// The path with its query string.
    pub target: String,
    /// The value of the header `Authorization`, if the request has one.
    pub authorization: Option<String>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    authorization: Mutex<Option<String>>,
    redirect: Mutex<Option<String>>,
    fault: Mutex<Option<(String, ServerFault)>>,
    /// Repositories for which the server answers 503.
    broken: Mutex<Vec<String>>,
    holds: Mutex<Vec<Arc<Hold>>>,
    is_ended: AtomicBool,
    requests: Mutex<Vec<GitRequest>>,
}

impl GitServer {
    /// Starts a server for the repositories below `root`.
    ///
    /// # Errors
    /// Returns an error if the server cannot listen on loopback.
    pub fn start(root: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            root: root.to_owned(),
            authorization: Mutex::default(),
            redirect: Mutex::default(),
            fault: Mutex::default(),
            broken: Mutex::default(),
            holds: Mutex::default(),
            is_ended: AtomicBool::new(false),
            requests: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || serve(&listener, &serving));
        Ok(Self { shared, port })
    }

    /// The URL of the server. It ends with a slash.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// From now on, accepts only requests with this value of the header `Authorization`.
    pub fn require(&self, authorization: &str) {
        *lock(&self.shared.authorization) = Some(authorization.to_owned());
    }

    /// From now on, redirects every request to another server. `to` is its URL with a slash at the end.
    pub fn redirect(&self, to: &str) {
        *lock(&self.shared.redirect) = Some(to.to_owned());
    }

    /// With `true`, the server accepts requests but never answers them. With `false`, it answers again.
    pub fn set_silent(&self, is_silent: bool) {
        let fault = is_silent.then(|| (String::new(), ServerFault::Silence));
        *lock(&self.shared.fault) = fault;
    }

    /// From now on, answers with this fault if the path or query of a request contains the given text. `None` restores correct answers.
    pub fn set_fault(&self, fault: Option<(&str, ServerFault)>) {
        *lock(&self.shared.fault) = fault.map(|(part, fault)| (part.to_owned(), fault));
    }

    /// From now on, answers 503 to all requests for these repositories, and only for these.
    pub fn set_broken(&self, repositories: &[&str]) {
        *lock(&self.shared.broken) = repositories.iter().map(|name| format!("/{name}/")).collect();
    }

    /// Holds the answer to the next request whose path and query contain these words. All other requests are answered. The answer contains the state
    /// at the time when the request came.
    pub fn hold_next(&self, words: &str) -> HeldAnswer {
        let hold = Arc::new(Hold { words: words.to_owned(), state: Mutex::default(), changed: Condvar::new() });
        lock(&self.shared.holds).push(Arc::clone(&hold));
        HeldAnswer(hold)
    }

    /// All requests that the server received so far.
    pub fn requests(&self) -> Vec<GitRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Removes the recorded requests.
    pub fn forget_requests(&self) {
        lock(&self.shared.requests).clear();
    }
}

/// An answer that is held until this value is released or dropped.
#[derive(Debug)]
pub struct HeldAnswer(Arc<Hold>);

#[derive(Debug)]
struct Hold {
    words: String,
    state: Mutex<HoldState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HoldState {
    #[default]
    Waiting,
    Reached,
    Released,
}

impl HeldAnswer {
    /// Waits until the held request has arrived. Returns `false` if it does not arrive in time.
    pub fn is_reached(&self) -> bool {
        let state = lock(&self.0.state);
        let waiting = |state: &mut HoldState| *state == HoldState::Waiting;
        let (state, _) =
            self.0.changed.wait_timeout_while(state, HELD_MAX, waiting).unwrap_or_else(PoisonError::into_inner);
        *state != HoldState::Waiting
    }

    /// Lets the server send the answer.
    pub fn release(self) {}
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        *lock(&self.0.state) = HoldState::Released;
        self.0.changed.notify_all();
    }
}

impl Hold {
    /// Holds the request if it is the first one that matches.
    fn keep(&self, target: &str) -> bool {
        let mut state = lock(&self.state);
        if *state != HoldState::Waiting || !target.contains(&self.words) {
            return false;
        }
        *state = HoldState::Reached;
        self.changed.notify_all();
        let reached = |state: &mut HoldState| *state == HoldState::Reached;
        drop(self.changed.wait_timeout_while(state, HELD_MAX, reached));
        true
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::SeqCst);
        // This connection wakes the thread that waits in `accept`.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_ended.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), shared) = (stream, Arc::clone(shared)) else { continue };
        // An error is ignored here: the client may close the connection at any time.
        thread::spawn(move || drop(answer(&stream, &shared)));
    }
}

/// The request line and the headers of a request.
#[derive(Default)]
struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn read(input: &mut impl io::BufRead) -> io::Result<Self> {
        let mut first = String::new();
        input.read_line(&mut first)?;
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut head = Self { method, target, headers: Vec::new() };
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(head) };
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

fn answer(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut input = BufReader::new(stream);
    let head = Head::read(&mut input)?;
    let authorization = head.header("authorization").map(str::to_owned);
    let request = GitRequest { method: head.method.clone(), target: head.target.clone(), authorization };
    let is_let_in =
        lock(&shared.authorization).as_ref().is_none_or(|expected| request.authorization.as_ref() == Some(expected));
    lock(&shared.requests).push(request);
    let fault = lock(&shared.fault).clone().filter(|(part, _)| head.target.contains(part)).map(|(_, fault)| fault);
    if let Some(fault) = fault
        && fault.answer(stream)?
    {
        return Ok(());
    }
    let mut output = stream;
    if lock(&shared.broken).iter().any(|repository| head.target.starts_with(repository)) {
        return write!(output, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    if let Some(to) = lock(&shared.redirect).as_ref() {
        write!(output, "HTTP/1.1 302 Found\r\nLocation: {to}{}\r\n", head.target.trim_start_matches('/'))?;
        return write!(output, "Content-Length: 0\r\nConnection: close\r\n\r\n");
    }
    if !is_let_in {
        write!(output, "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n")?;
        return write!(output, "Content-Length: 0\r\nConnection: close\r\n\r\n");
    }
    if head.header("expect").is_some() {
        write!(output, "HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if let Some(bytes) = fault.and_then(ServerFault::hears) {
        return input.take(bytes as u64).read_to_end(&mut Vec::new()).map(drop);
    }
    let body = read_body(&head, &mut input)?;
    let answer = as_http(&backend(&head, &body, &shared.root)?);
    let holds = lock(&shared.holds).clone();
    holds.iter().any(|hold| hold.keep(&head.target));
    match fault {
        Some(fault) => fault.spoil(stream, &answer)?,
        None => output.write_all(&answer)?,
    }
    stream.shutdown(Shutdown::Write)
}

fn read_body(head: &Head, input: &mut impl io::BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if head.header("transfer-encoding") != Some("chunked") {
        let length = head.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        input.take(length).read_to_end(&mut body)?;
        return Ok(body);
    }
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        input.take(length).read_to_end(&mut body)?;
        input.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(body);
        }
    }
}

/// Runs `git http-backend` as CGI and returns its output.
fn backend(head: &Head, body: &[u8], root: &Path) -> io::Result<Vec<u8>> {
    let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
    let header = |name| head.header(name).unwrap_or_default();
    let mut child = Command::new("git")
        .args(["-c", "safe.directory=*", "http-backend"])
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &head.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", "somebody")
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (input, body) = (child.stdin.take(), body.to_owned());
    let writing = thread::spawn(move || input.map(|mut input| input.write_all(&body)));
    let output = child.wait_with_output()?.stdout;
    drop(writing.join());
    Ok(output)
}

fn as_http(cgi: &[u8]) -> Vec<u8> {
    let end = cgi.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(cgi.len());
    let head = String::from_utf8_lossy(cgi.get(..end).unwrap_or_default()).into_owned();
    let body = cgi.get(end + 4..).unwrap_or_default();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let headers = head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n"));
    let headers: String = headers.collect();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}
