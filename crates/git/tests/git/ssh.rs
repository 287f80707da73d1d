//! Repositories over ssh, with a real server on the loopback interface.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git::{GitRepositories, Repositories, RepositoryError, RepositoryUrl, Revision, Settings};

use crate::playground::{Disk, commit, tree};

pub(crate) const SSHD: &str = "/usr/sbin/sshd";

/// An ssh server that ends when it is dropped.
pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status().unwrap();
    assert!(made.success());
}

impl Server {
    /// Starts a server with its keys in a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        // The server needs this folder. Packages create it only when the server is started as a service.
        drop(fs::create_dir_all("/run/sshd"));
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        key(&folder.join("host"));
        key(&folder.join("client"));
        fs::copy(folder.join("client.pub"), folder.join("authorized")).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        // The user's shell finds no settings of the user there. They would run for each connection.
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKexAlgorithms curve25519-sha256\nSetEnv HOME={}\n",
            path("host"),
            path("authorized"),
            path("pid"),
            folder.display(),
        );
        fs::write(folder.join("sshd_config"), config).unwrap();
        let log = fs::File::create(folder.join("sshd.log")).unwrap();
        let process = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd_config"))
            .stdin(Stdio::null())
            .stderr(log)
            .spawn();
        let server = Self { process: process.unwrap(), port };
        let end = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "{}", fs::read_to_string(folder.join("sshd.log")).unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// The URL of a repository on this machine.
    pub(crate) fn url(&self, path: &Path) -> RepositoryUrl {
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        RepositoryUrl::from_object(&format!("ssh://{}@127.0.0.1:{}{}", user.trim(), self.port, path.display())).unwrap()
    }
}

/// Settings for an ssh client that has the server's key, and ignores the configuration of this machine.
pub(crate) fn settings(disk: &Disk, identity: &str) -> Settings {
    let folder = disk.folder.path();
    let ssh = format!(
        "ssh -F /dev/null -o IdentitiesOnly=yes -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new",
        folder.join(identity).display(),
        folder.join("known").display(),
    );
    Settings { ssh_command: Some(ssh), ..Settings::new(disk.cache()) }
}

#[test]
fn a_repository_is_read_and_written_over_ssh() {
    if !Path::new(SSHD).exists() {
        println!("skipped: {SSHD} is not installed");
        return;
    }
    let disk = Disk::new();
    let path = disk.create("app");
    let server = Server::start(disk.folder.path());
    let url = server.url(&path);
    let repositories = GitRepositories::new(settings(&disk, "client"));
    commit(&repositories, &url, "main", &[("a", "1")]);
    let head = GitRepositories::new(settings(&disk, "client")).resolve(&url, &Revision::branch("main")).unwrap();
    assert_eq!(repositories.tree(&head).unwrap(), tree(&[("a", "1")]));
    key(&disk.folder.path().join("stranger"));
    let refused = GitRepositories::new(settings(&disk, "stranger")).resolve(&url, &Revision::branch("main"));
    assert!(
        matches!(&refused, Err(RepositoryError::Unreachable { reason, .. }) if reason.contains("denied")),
        "{refused:?}"
    );
}
