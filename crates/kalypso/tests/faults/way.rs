//! The transports to repositories, and their faults.

use std::fs;
use std::path::Path;

use testkit::git_server::{GitServer, ServerFault};
use testkit::ssh_server::SshServer;

use crate::chance::Chance;
use crate::proxy::{Break, Proxy};

/// The transport to the company's repositories.
pub(crate) enum Way {
    Local,
    Http(GitServer),
    Ssh(SshServer, Proxy),
}

impl Way {
    /// The base URL of the company's repositories.
    pub(crate) fn url(&self, served: &Path) -> String {
        match self {
            Self::Local => format!("{}/", served.display()),
            Self::Http(server) => server.url(),
            Self::Ssh(server, proxy) => format!("{}/", server.url(proxy.port, served)),
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
            Self::Ssh(_, proxy) => {
                let bytes = chance.below(8_000) as usize;
                let broken =
                    chance.one_of(&[Break::Refused, Break::Cut(bytes), Break::Stalled(bytes), Break::Garbled(bytes)]);
                proxy.set(Some(broken));
                format!("{broken:?}")
            }
        }
    }

    /// Ends all faults.
    pub(crate) fn restore(&self) {
        match self {
            Self::Local => {}
            Self::Http(server) => server.set_fault(None),
            Self::Ssh(_, proxy) => proxy.set(None),
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

/// Repositories behind an ssh server.
pub(crate) fn ssh(folder: &Path) -> Way {
    let keys = folder.join("keys");
    fs::create_dir(&keys).unwrap();
    let server = SshServer::start(&keys);
    let known = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR";
    let command = format!("ssh -F /dev/null -o IdentitiesOnly=yes -i {} {known}", keys.join("client").display());
    fs::write(folder.join(".gitconfig"), format!("[core]\n\tsshCommand = {command}\n")).unwrap();
    let proxy = Proxy::start(server.port);
    Way::Ssh(server, proxy)
}
