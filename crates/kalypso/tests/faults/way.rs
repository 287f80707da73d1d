//! The transports to repositories, and their faults.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testkit::git_server::{GitServer, ServerFault};

use crate::chance::Chance;
use crate::proxy::{Break, Proxy};

pub(crate) const SSHD: &str = "/usr/sbin/sshd";

/// The transport to the company's repositories.
pub(crate) enum Way {
    Local,
    Http(GitServer),
    Ssh(Sshd),
}

/// An ssh server that ends when it is dropped, and its connection settings.
pub(crate) struct Sshd {
    process: Child,
    proxy: Proxy,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Way {
    /// The base URL of the company's repositories.
    pub(crate) fn url(&self, served: &Path) -> String {
        match self {
            Self::Local => format!("{}/", served.display()),
            Self::Http(server) => server.url(),
            Self::Ssh(server) => format!("ssh://{}@127.0.0.1:{}{}/", user(), server.proxy.port, served.display()),
        }
    }

    /// Starts a fault. Returns its description.
    pub(crate) fn spoil(&self, chance: &mut Chance) -> String {
        match self {
            Self::Local => "nothing".to_owned(),
            Self::Http(server) => {
                let bytes = chance.below(600) as usize;
                let fault = chance.one_of(&[
                    ServerFault::Status(500),
                    ServerFault::Status(503),
                    ServerFault::Status(401),
                    ServerFault::Page,
                    ServerFault::Garbage(bytes),
                    ServerFault::Deaf(bytes),
                    ServerFault::Cut(bytes),
                    ServerFault::Stall(bytes),
                    ServerFault::Drip,
                    ServerFault::Silence,
                ]);
                let part = chance.one_of(&["", "info/refs", "git-upload-pack", "/git-receive-pack", "gitops"]);
                server.set_fault(Some((part, fault)));
                format!("{fault:?} at `{part}`")
            }
            Self::Ssh(server) => {
                let bytes = chance.below(8_000) as usize;
                let broken =
                    chance.one_of(&[Break::Refused, Break::Cut(bytes), Break::Stalled(bytes), Break::Garbled(bytes)]);
                server.proxy.set(Some(broken));
                format!("{broken:?}")
            }
        }
    }

    /// Ends all faults.
    pub(crate) fn restore(&self) {
        match self {
            Self::Local => {}
            Self::Http(server) => server.set_fault(None),
            Self::Ssh(server) => server.proxy.set(None),
        }
    }
}

/// Repositories on this machine. This transport has no faults.
pub(crate) fn local(_: &Path) -> Way {
    Way::Local
}

/// Repositories behind Git's own HTTP backend.
pub(crate) fn http(folder: &Path) -> Way {
    Way::Http(GitServer::start(&folder.join("served")).unwrap())
}

pub(crate) fn has_ssh() -> bool {
    Path::new(SSHD).exists()
}

/// Repositories behind an ssh server.
pub(crate) fn ssh(folder: &Path) -> Way {
    // The server needs this folder. Packages create it only when the server is started as a service.
    drop(fs::create_dir_all("/run/sshd"));
    let keys = folder.join("keys");
    fs::create_dir(&keys).unwrap();
    let path = |name: &str| keys.join(name).display().to_string();
    for name in ["host", "client"] {
        let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)]).status();
        assert!(made.unwrap().success());
    }
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    // The user's shell finds no settings of the user there. They would run for each connection.
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nMaxStartups 1000\nKexAlgorithms curve25519-sha256\nSetEnv HOME={}\n",
        path("host"),
        path("client.pub"),
        path("pid"),
        keys.display(),
    );
    fs::write(keys.join("config"), config).unwrap();
    let log = fs::File::create(keys.join("log")).unwrap();
    let process = Command::new(SSHD).args(["-D", "-e", "-f", &path("config")]).stdin(Stdio::null()).stderr(log).spawn();
    let server = Sshd { process: process.unwrap(), proxy: Proxy::start(port) };
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "{}", fs::read_to_string(keys.join("log")).unwrap());
        thread::sleep(Duration::from_millis(10));
    }
    let known = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR";
    let command = format!("ssh -F /dev/null -o IdentitiesOnly=yes -i {} {known}", path("client"));
    fs::write(folder.join(".gitconfig"), format!("[core]\n\tsshCommand = {command}\n")).unwrap();
    Way::Ssh(server)
}

fn user() -> String {
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    String::from_utf8(user).unwrap().trim().to_owned()
}
