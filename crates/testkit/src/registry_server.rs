//! A registry of images and charts on loopback, with the ways of access and the faults that real ones have.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use sha2::{Digest as _, Sha256};

/// A registry on loopback, without encryption. It stops when it is dropped.
#[derive(Debug)]
pub struct RegistryServer {
    shared: Arc<SharedRegistry>,
    port: u16,
}

/// Who may read the manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RegistryAccess {
    /// All requests.
    #[default]
    Open,
    /// Requests with a token, which all clients get.
    AnyToken,
    /// Requests with a token, for this value of `Authorization`.
    Token(String),
    /// Requests with a token, for this refresh token.
    RefreshToken(String),
    /// Requests with a token of a server at this address.
    ForeignToken(String),
    /// Requests with this value of `Authorization`.
    Basic(String),
}

/// A fault of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryFault {
    /// The digest in the header of a manifest is this one. Requests with the method HEAD get none.
    WrongDigest(String),
    /// There is no digest in the header.
    NoDigest,
    /// Requests with the method HEAD are refused.
    NoHead,
    /// The body of a manifest never ends, and has no digest in the header.
    EndlessBody,
    /// Requests are never answered.
    Silence,
    /// All requests lead to another address: this start of a URL, with the path of the request.
    Redirect(String),
    /// All requests lead to the same path below this one, on the same server.
    Moved(String),
    /// All requests have this status.
    Status(u16),
}

#[derive(Debug, Default)]
struct SharedRegistry {
    /// By path.
    contents: Mutex<BTreeMap<String, RegistryContent>>,
    access: Mutex<RegistryAccess>,
    fault: Mutex<Option<RegistryFault>>,
    requests: Mutex<Vec<String>>,
    /// Connections that are never answered.
    silent: Mutex<Vec<TcpStream>>,
    is_ended: AtomicBool,
}

/// What the registry has at a path.
#[derive(Clone, Debug)]
struct RegistryContent {
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// The type of a manifest.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The type of blobs, and of lists of tags.
const BLOB: &str = "application/octet-stream";
/// The types of the parts of a chart (<https://helm.sh/docs/topics/registries/>).
const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CHART_ARCHIVE: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// The token that the server gives.
const TOKEN: &str = "registry-t0ken";

impl RegistryServer {
    /// Starts an empty registry.
    ///
    /// # Errors
    /// If the server can't listen on loopback.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(SharedRegistry::default());
        let serving = Arc::clone(&shared);
        thread::spawn(move || serve(&listener, &serving, port));
        Ok(Self { shared, port })
    }

    /// The name of the registry in references.
    pub fn name(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Gives a tag this manifest. Returns the digest.
    pub fn publish(&self, repository: &str, tag: &str, manifest: &str) -> String {
        let digest = digest(manifest.as_bytes());
        for reference in [tag, &digest] {
            self.put(format!("/v2/{repository}/manifests/{reference}"), (MANIFEST, manifest.as_bytes()));
        }
        digest
    }

    /// Publishes the archive of a chart in this version, as `helm push` does.
    pub fn publish_chart(&self, repository: &str, version: &str, archive: &[u8]) {
        let name = repository.rsplit('/').next().unwrap_or(repository);
        let config = format!(r#"{{"apiVersion":"v2","name":"{name}","version":"{version}"}}"#);
        let blob = |media_type: &str, content: &[u8]| {
            let (digest, size) = (digest(content), content.len());
            self.put(format!("/v2/{repository}/blobs/{digest}"), (BLOB, content));
            format!(r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{size}}}"#)
        };
        let (config, layer) = (blob(CHART_CONFIG, config.as_bytes()), blob(CHART_ARCHIVE, archive));
        self.publish(
            repository,
            version,
            &format!(r#"{{"schemaVersion":2,"mediaType":"{MANIFEST}","config":{config},"layers":[{layer}]}}"#),
        );
        let manifests = format!("/v2/{repository}/manifests/");
        let tags: Vec<_> = lock(&self.shared.contents)
            .keys()
            .filter_map(|path| path.strip_prefix(&manifests))
            .filter(|reference| !reference.contains(':'))
            .map(|tag| format!("{tag:?}"))
            .collect();
        let list = format!(r#"{{"name":"{repository}","tags":[{}]}}"#, tags.join(","));
        self.put(format!("/v2/{repository}/tags/list"), (BLOB, list.as_bytes()));
    }

    fn put(&self, path: String, (media_type, bytes): (&'static str, &[u8])) {
        lock(&self.shared.contents).insert(path, RegistryContent { media_type, bytes: bytes.to_vec() });
    }

    /// Says who may read manifests from now on.
    pub fn set_access(&self, access: RegistryAccess) {
        *lock(&self.shared.access) = access;
    }

    /// From now on, has this fault.
    pub fn set_fault(&self, fault: Option<RegistryFault>) {
        *lock(&self.shared.fault) = fault;
    }

    /// The requests so far: the method, the target, and `Authorization` if there is one.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::SeqCst);
        // This connection wakes the thread that waits in `accept`.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn digest(content: &[u8]) -> String {
    let digits = Sha256::digest(content);
    format!("sha256:{}", digits.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn serve(listener: &TcpListener, shared: &Arc<SharedRegistry>, port: u16) {
    for stream in listener.incoming() {
        if shared.is_ended.load(Ordering::SeqCst) {
            return;
        }
        let (Ok(stream), shared) = (stream, Arc::clone(shared)) else { continue };
        // An error is ignored here: the client may close the connection at any time.
        thread::spawn(move || drop(shared.answer(stream, port)));
    }
}

/// The parts of a request that the registry reads.
struct RegistryCall {
    method: String,
    target: String,
    authorization: String,
    body: String,
}

impl RegistryCall {
    fn read(stream: &TcpStream) -> io::Result<Self> {
        let mut input = BufReader::new(stream);
        let mut line = String::new();
        input.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut authorization, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "authorization" => value.trim().clone_into(&mut authorization),
                "content-length" => length = value.trim().parse().unwrap_or(0),
                _ => {}
            }
        }
        let mut body = String::new();
        input.take(length).read_to_string(&mut body)?;
        Ok(Self { method, target, authorization, body })
    }

    fn shown(&self) -> String {
        format!("{} {} {}", self.method, self.target, self.authorization).trim_end().to_owned()
    }
}

/// An answer: its status, its headers, and its body.
struct RegistryReply(u16, Vec<String>, Vec<u8>);

impl SharedRegistry {
    fn answer(&self, stream: TcpStream, port: u16) -> io::Result<()> {
        let mut call = RegistryCall::read(&stream)?;
        lock(&self.requests).push(call.shown());
        let fault = lock(&self.fault).clone();
        if fault == Some(RegistryFault::Silence) {
            lock(&self.silent).push(stream);
            return Ok(());
        }
        let RegistryReply(status, mut headers, body) = self.reply(&mut call, fault.as_ref(), port);
        let is_endless = fault == Some(RegistryFault::EndlessBody) && call.method == "GET" && status == 200;
        if !is_endless {
            headers.push(format!("Content-Length: {}", body.len()));
        }
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let mut output = &stream;
        write!(output, "HTTP/1.1 {status} Answer\r\n{headers}Connection: close\r\n\r\n")?;
        while is_endless && !self.is_ended.load(Ordering::SeqCst) {
            output.write_all(&[b' '; 1 << 12])?;
        }
        if call.method == "HEAD" { Ok(()) } else { output.write_all(&body) }
    }

    fn reply(&self, call: &mut RegistryCall, fault: Option<&RegistryFault>, port: u16) -> RegistryReply {
        match fault {
            Some(RegistryFault::Status(status)) => return RegistryReply(*status, Vec::new(), Vec::new()),
            Some(RegistryFault::Redirect(to)) => {
                return RegistryReply(307, vec![format!("Location: {to}{}", call.target)], Vec::new());
            }
            Some(RegistryFault::Moved(folder)) => match call.target.strip_prefix(folder.as_str()) {
                Some(target) => call.target = target.to_owned(),
                None => return RegistryReply(307, vec![format!("Location: {folder}{}", call.target)], Vec::new()),
            },
            Some(RegistryFault::NoHead) if call.method == "HEAD" => {
                return RegistryReply(405, Vec::new(), Vec::new());
            }
            _ => {}
        }
        let access = lock(&self.access).clone();
        if call.target.starts_with("/token") {
            return token(call, &access);
        }
        let bearer = format!("Bearer {TOKEN}");
        let challenge = match &access {
            RegistryAccess::Open => None,
            RegistryAccess::Basic(value) => {
                (call.authorization != *value).then(|| "Basic realm=\"registry\"".to_owned())
            }
            _ if call.authorization == bearer => None,
            RegistryAccess::ForeignToken(realm) => Some(format!("Bearer realm=\"{realm}\"")),
            _ => Some(format!("Bearer realm=\"http://127.0.0.1:{port}/token\",service=\"the registry\"")),
        };
        if let Some(challenge) = challenge {
            return RegistryReply(401, vec![format!("WWW-Authenticate: {challenge}")], b"secret".to_vec());
        }
        let path = call.target.split('?').next().unwrap_or_default();
        let Some(content) = lock(&self.contents).get(path).cloned() else {
            return RegistryReply(404, Vec::new(), Vec::new());
        };
        let named = match fault {
            Some(RegistryFault::NoDigest | RegistryFault::EndlessBody) => None,
            Some(RegistryFault::WrongDigest(digest)) => (call.method == "GET").then(|| digest.clone()),
            _ => Some(digest(&content.bytes)),
        };
        let headers = named.map(|digest| format!("Docker-Content-Digest: {digest}"));
        let headers = headers.into_iter().chain([format!("Content-Type: {}", content.media_type)]);
        RegistryReply(200, headers.collect(), content.bytes)
    }
}

/// The answer of the server for tokens.
fn token(call: &RegistryCall, access: &RegistryAccess) -> RegistryReply {
    let is_accepted = match access {
        RegistryAccess::Token(value) => call.authorization == *value,
        RegistryAccess::RefreshToken(token) => {
            call.method == "POST" && call.body.split('&').any(|field| field == format!("refresh_token={token}"))
        }
        RegistryAccess::AnyToken => true,
        _ => false,
    };
    let field = if matches!(access, RegistryAccess::RefreshToken(_)) { "access_token" } else { "token" };
    if is_accepted {
        RegistryReply(200, Vec::new(), format!("{{\"{field}\": \"{TOKEN}\", \"expires_in\": 60}}").into_bytes())
    } else {
        RegistryReply(401, Vec::new(), b"{\"errors\": [{\"message\": \"secret\"}]}".to_vec())
    }
}
