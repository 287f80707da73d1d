//! The git host of the demo: pull requests for the company's repositories, with pages on loopback.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context as _;
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble, WebhookTarget};
use git_host::hosts::memory::MemoryHost;
use git_host::secret::Secret;

use super::place::{GIT_HOST_STATE, GIT_HOST_TOKEN, WEBHOOK_SECRET};
use super::repositories::{CONTROL_PLANE, GITOPS};
use crate::configuration::{COMPANY_URL, DemoConfiguration};
use crate::exit::Failure;

/// The kind of host whose API the demo's git host has. The `kalypso.toml` in the folder names the same.
const KIND: HostKind = HostKind::Gitea;
/// The account of Kalypso on the host.
const ACCOUNT: &str = "kalypso-bot";
/// The accounts of people on the host. `kalypso.toml` in the folder has those who approve.
const PEOPLE: [&str; 3] = ["paula", "ana", "bob"];

/// The running git host. It ends when it is dropped.
pub(crate) struct DemoGitHost {
    double: HostDouble,
    webhook_secret: Secret,
}

impl DemoGitHost {
    /// Starts the host.
    pub(crate) fn start(configuration: &DemoConfiguration) -> anyhow::Result<Self> {
        let DemoConfiguration { folder, git_host: address } = configuration;
        let host = MemoryHost::new(KIND);
        for (name, path) in [(CONTROL_PLANE, format!("{CONTROL_PLANE}/.git")), (GITOPS, GITOPS.to_owned())] {
            let repository = BareRepository::open(&folder.join(path)).context("the demo is not complete")?;
            host.add_repository(&format!("acme/{}", name.trim_end_matches(".git")), Box::new(repository));
        }
        let token = secret(folder, GIT_HOST_TOKEN)?;
        let webhook_secret = secret(folder, WEBHOOK_SECRET)?;
        let double = HostDouble::start_at(&host, *address, (&folder.join(GIT_HOST_STATE), &PEOPLE));
        let double = double.map_err(|error| unusable(*address, &error))?;
        double.accept_token(token.reveal(), ACCOUNT);
        Ok(Self { double, webhook_secret })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.double.address()
    }

    /// The address of its pages.
    pub(crate) fn url(&self) -> String {
        self.double.url()
    }

    /// Announces merges to the service at a URL.
    pub(crate) fn announce_to(&self, service: &str) {
        self.double.set_webhook(WebhookTarget {
            url: format!("{service}/webhooks/{KIND}"),
            secret: self.webhook_secret.clone(),
            repositories_url: COMPANY_URL.to_owned(),
        });
    }
}

fn secret(folder: &Path, name: &str) -> Result<Secret, Failure> {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path);
    let unreadable = |error| Failure::outside(format!("`{}` can't be read: {error}", path.display()));
    Ok(Secret::new(&text.map_err(unreadable)?))
}

fn unusable(address: SocketAddr, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AddrInUse {
        let message = format!("the git host of the demo can't listen on {address}: another program does");
        return Failure::outside(message)
            .help("set another port in `demo.git-host` of kalypso.toml, such as 127.0.0.1:8091");
    }
    Failure::outside(format!("the git host of the demo can't be started on {address}: {error}"))
}
