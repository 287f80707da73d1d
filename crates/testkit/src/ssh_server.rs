//! An ssh server on this machine, for repositories over ssh: OpenSSH's, on a port of its own.

#![expect(clippy::expect_used, reason = "a server that does not start is a broken test")]

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The program. OpenSSH starts only by its absolute path.
const SSHD: &str = "/usr/sbin/sshd";

/// How long the server may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);

/// An ssh server for the user who runs the tests. It ends when it is dropped.
#[derive(Debug)]
pub struct SshServer {
    process: Child,
    /// Its port on the loopback interface.
    pub port: u16,
    user: String,
}

impl SshServer {
    /// Whether a server can be started here.
    ///
    /// # Errors
    /// If the program is not installed.
    pub fn availability() -> Result<(), String> {
        if Path::new(SSHD).exists() { Ok(()) } else { Err(format!("{SSHD} is not installed")) }
    }

    /// Starts a server, and writes its keys to a folder: `client` is the private key of the user.
    ///
    /// # Panics
    /// Panics with the log of the server if it does not listen.
    pub fn start(folder: &Path) -> Self {
        // The server needs this folder. Packages create it only when the server is started as a service.
        let _ = fs::create_dir_all("/run/sshd");
        create_key(&folder.join("host"));
        create_key(&folder.join("client"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = listener.expect("there is a free port").port();
        fs::write(folder.join("sshd_config"), configuration(folder, port)).expect("the folder is writable");
        let log = File::create(folder.join("sshd.log")).expect("the folder is writable");
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config")).stdin(Stdio::null()).stderr(log);
        let user = Command::new("id").arg("-un").output().expect("every system has `id`").stdout;
        let user = String::from_utf8_lossy(&user).trim().to_owned();
        let server = Self { process: command.spawn().expect("OpenSSH is installed"), port, user };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "{}", fs::read_to_string(folder.join("sshd.log")).unwrap_or_default());
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// The URL of a path on this machine. `port` is that of the server, or of a proxy before it.
    pub fn url(&self, port: u16, path: &Path) -> String {
        format!("ssh://{}@127.0.0.1:{port}{}", self.user, path.display())
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Creates a private key at a path, and the public one beside it, with the ending `.pub`.
///
/// # Panics
/// Panics if the key can't be written.
pub fn create_key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.expect("OpenSSH is installed").success(), "ssh-keygen writes no key");
}

/// The configuration of a server that only the client key opens. The user's shell finds no settings of the user in this home folder: they would run for each
/// connection. The default key exchange takes several times as long.
fn configuration(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        "Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 1000
KexAlgorithms curve25519-sha256
SetEnv HOME={folder}
"
    )
}
