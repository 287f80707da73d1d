//! The pages of the double, as browsers and other sites use them.

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
    use std::path::Path;
    use std::process::Command;

    use git_host::HostKind;
    use git_host::double::{BareRepository, HostDouble, WebhookTarget};
    use git_host::hosts::memory::MemoryHost;
    use git_host::pull_request::{NewPullRequest, PullRequestState};
    use git_host::secret::Secret;
    use git_host::status::{CommitStatus, StatusState};
    use git_host::webhook::{self, WebhookEvent};

    const LIST: &str = "/acme/fleet/pulls";
    const PEOPLE: [&str; 2] = ["ana", "bob"];

    /// A host with a real repository and one pull request.
    struct Site {
        folder: tempfile::TempDir,
        host: MemoryHost,
        double: HostDouble,
    }

    fn git(folder: &Path, script: &str) -> String {
        let setup = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a; set -e\n";
        let output = Command::new("sh").arg("-c").arg(format!("{setup}{script}")).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn double(folder: &Path) -> (MemoryHost, HostDouble) {
        let host = MemoryHost::new(HostKind::Gitea);
        host.add_repository("acme/fleet", Box::new(BareRepository::open(&folder.join("fleet/.git")).unwrap()));
        let double =
            HostDouble::start_at(&host, (Ipv4Addr::LOCALHOST, 0).into(), (&folder.join("host.json"), &PEOPLE)).unwrap();
        (host, double)
    }

    impl Site {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            git(
                folder.path(),
                "git init -q -b prod fleet && cd fleet && echo old > a.txt && git add . && git commit -qm one
                 git checkout -qb kalypso/prod && printf '<b>new\n' > a.txt && git commit -qam two && git checkout -q --detach",
            );
            let (host, double) = double(folder.path());
            let new = NewPullRequest {
                head: "kalypso/prod".to_owned(),
                base: "prod".to_owned(),
                title: "<script>1</script>".to_owned(),
                body: "- **2** changes <iframe>\n".to_owned(),
                ..NewPullRequest::default()
            };
            host.state().repository("acme/fleet").unwrap().open("kalypso-bot", &new).unwrap();
            Self { folder, host, double }
        }

        /// The answer to a request with other headers than those of a browser.
        fn send(&self, line: &str, headers: &str, body: &str) -> String {
            let mut stream = TcpStream::connect(self.double.address()).unwrap();
            let length = body.len();
            write!(stream, "{line} HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        }

        fn get(&self, path: &str) -> String {
            self.send(&format!("GET {path}"), &format!("host: {}\r\n", self.double.address()), "")
        }

        fn press(&self, button: &str) -> String {
            let address = self.double.address();
            let headers = format!("host: {address}\r\norigin: http://{address}\r\n");
            let page = self.get(&format!("{LIST}/1"));
            let head = page.split_once("name=\"head\" value=\"").map_or("", |(_, rest)| &rest[..40]);
            self.send(&format!("POST {LIST}/1/{button}"), &headers, &format!("head={head}"))
        }

        /// The answer to a form that an account sends from one of the pages.
        fn send_as(&self, account: &str, path: &str, form: &str) -> String {
            let address = self.double.address();
            let headers = format!("host: {address}\r\norigin: http://{address}\r\ncookie: a=b; account={account}\r\n");
            self.send(&format!("POST {path}"), &headers, form)
        }

        /// A page as an account sees it.
        fn get_as(&self, account: &str, path: &str) -> String {
            let headers = format!("host: {}\r\ncookie: account={account}\r\n", self.double.address());
            self.send(&format!("GET {path}"), &headers, "")
        }

        /// The accounts whose approval of a pull request counts, after a restart too.
        fn approvals(&self, number: u64) -> Vec<String> {
            let of = |host: &MemoryHost| {
                let mut state = host.state();
                let approvals = state.repository("acme/fleet").unwrap().approvals(number).unwrap();
                approvals.into_iter().map(|approval| approval.account).collect::<Vec<_>>()
            };
            let (again, _double) = double(self.folder.path());
            assert_eq!(of(&again), of(&self.host));
            of(&self.host)
        }

        fn state(&self) -> PullRequestState {
            self.host.state().repository("acme/fleet").unwrap().pull_request(1).unwrap().state
        }

        fn log(&self) -> String {
            git(&self.folder.path().join("fleet"), "git log --first-parent --format=%s prod")
        }
    }

    #[test]
    fn pages_show_a_pull_request_and_escape_everything() {
        let site = Site::new();
        let page = site.get(&format!("{LIST}/1"));
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        for part in [
            "<h1>&lt;script&gt;1&lt;/script&gt;</h1>",
            "<strong>2</strong> changes &lt;iframe&gt;",
            "<code>kalypso/prod</code> into <code>prod</code>",
            "<code>a.txt</code> <span class=\"add\">+1</span> <span class=\"remove\">-1</span>",
            "<span class=\"add\">+&lt;b&gt;new</span>",
            "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
            "X-Content-Type-Options: nosniff",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("<iframe"), "{page}");
        for path in ["/", LIST, "/acme/fleet", "/acme/fleet/pull/1"] {
            let page = site.get(path);
            assert!(page.starts_with("HTTP/1.1 200") && page.contains("&lt;script&gt;1"), "{path}: {page}");
        }
        assert!(site.get("/acme/other").starts_with("HTTP/1.1 404"));
        assert!(site.get("/acme/fleet/pulls/2").starts_with("HTTP/1.1 404"));
        assert!(site.get("/api/v1/user").starts_with("HTTP/1.1 401"));
    }

    #[test]
    fn the_statuses_of_the_head_are_shown() {
        let site = Site::new();
        let page = format!("{LIST}/1");
        assert!(!site.get(&page).contains("kalypso/admission"));
        let status = CommitStatus {
            context: "kalypso/admission".to_owned(),
            state: StatusState::Failure,
            description: "held by <ann>".to_owned(),
            target_url: None,
        };
        {
            let mut state = site.host.state();
            let repository = state.repository("acme/fleet").unwrap();
            let head = repository.pull_request(1).unwrap().head_commit.unwrap();
            repository.set_status(head, status).unwrap();
        }
        let shown =
            "<span class=\"state closed\">failure</span> <code>kalypso/admission</code> held by &lt;ann&gt;</li>";
        assert!(site.get(&page).contains(shown), "{}", site.get(&page));
    }

    #[test]
    fn buttons_close_reopen_and_merge() {
        let site = Site::new();
        assert!(site.press("close").starts_with("HTTP/1.1 303"));
        assert_eq!(site.state(), PullRequestState::Closed);
        assert!(site.press("reopen").contains("\r\nLocation: /acme/fleet/pulls/1\r\n"));
        assert_eq!(site.state(), PullRequestState::Open);
        assert!(site.press("merge").starts_with("HTTP/1.1 303"));
        assert!(matches!(site.state(), PullRequestState::Merged { .. }));
        assert_eq!(site.log(), "Merge branch 'kalypso/prod' into prod\none");
        assert!(site.press("reopen").starts_with("HTTP/1.1 422"));
        assert!(site.get(&format!("{LIST}/1")).contains("<span class=\"add\">+&lt;b&gt;new</span>"));
    }

    #[test]
    fn only_the_shown_head_commit_is_merged() {
        let site = Site::new();
        let address = site.double.address();
        let headers = format!("host: {address}\r\norigin: http://{address}\r\n");
        let line = format!("POST {LIST}/1/merge");
        assert!(site.send(&line, &headers, "").starts_with("HTTP/1.1 405"));
        assert!(site.send(&line, &headers, &format!("head={}", "1".repeat(40))).starts_with("HTTP/1.1 405"));
        assert_eq!(site.state(), PullRequestState::Open);
    }

    #[test]
    fn other_sites_can_neither_press_buttons_nor_read() {
        let site = Site::new();
        let (address, line) = (site.double.address(), format!("POST {LIST}/1/close"));
        for headers in [
            format!("host: {address}\r\n"),
            format!("host: {address}\r\norigin: null\r\n"),
            format!("host: {address}\r\norigin: https://{address}\r\n"),
            format!("host: {address}\r\norigin: http://127.0.0.1:1\r\n"),
            format!("host: {address}\r\norigin: https://evil.example\r\n"),
            format!("host: evil.example:{0}\r\norigin: http://evil.example:{0}\r\n", address.port()),
        ] {
            assert!(site.send(&line, &headers, "").starts_with("HTTP/1.1 403"), "{headers}");
        }
        assert_eq!(site.state(), PullRequestState::Open);
        let rebound = site.send("GET /", "host: evil.example\r\n", "");
        assert!(rebound.starts_with("HTTP/1.1 403") && !rebound.contains("fleet"), "{rebound}");
    }

    #[test]
    fn pull_requests_are_there_after_a_restart() {
        let site = Site::new();
        site.press("close");
        let Site { folder, .. } = site;
        let (host, double) = double(folder.path());
        let site = Site { folder, host, double };
        let shown = site.host.state().repository("acme/fleet").unwrap().pull_request(1).unwrap().clone();
        assert_eq!((shown.state, shown.title.as_str()), (PullRequestState::Closed, "<script>1</script>"));
        assert_eq!(shown.url, format!("{}{LIST}/1", site.double.url()));
        std::fs::write(site.folder.path().join("host.json"), "{").unwrap();
        let again = HostDouble::start_at(
            &site.host,
            (Ipv4Addr::LOCALHOST, 0).into(),
            (&site.folder.path().join("host.json"), &PEOPLE),
        );
        assert!(again.unwrap_err().to_string().contains("host.json` can't be read"));
    }

    #[test]
    fn users_switch_accounts_on_the_pages() {
        let site = Site::new();
        // No account is chosen, or one that people can't use.
        for page in [site.get("/"), site.get_as("kalypso-bot", "/"), site.get_as("", LIST)] {
            assert!(page.contains("You are <strong>ana</strong>") && page.contains("switch to bob"), "{page}");
        }
        assert!(site.get_as("bob", "/").contains("You are <strong>bob</strong>"));
        let address = site.double.address();
        let headers = format!(
            "host: {address}\r\norigin: http://{address}\r\nreferer: http://{address}{LIST}\r\ncookie: account=ana\r\n"
        );
        let changed = site.send("POST /account/bob", &headers, "");
        assert!(changed.starts_with("HTTP/1.1 303") && changed.contains(&format!("Location: {LIST}\r\n")), "{changed}");
        assert!(changed.contains("Set-Cookie: account=bob; Path=/; HttpOnly; SameSite=Strict\r\n"), "{changed}");
        let elsewhere = headers.replace(&format!("{address}{LIST}"), &format!("{address}//evil.example/"));
        assert!(site.send("POST /account/bob", &elsewhere, "").contains("Location: /\r\n"));
        assert!(site.send_as("ana", "/account/kalypso-bot", "").starts_with("HTTP/1.1 404"));
        let foreign = format!("host: {address}\r\norigin: http://evil.example\r\n");
        assert!(site.send("POST /account/bob", &foreign, "").starts_with("HTTP/1.1 403"));
    }

    #[test]
    fn users_approve_pull_requests_of_others() {
        let site = Site::new();
        let page = format!("{LIST}/1");
        assert!(site.get_as("bob", &page).contains("<button>Approve</button>"));
        assert!(site.send_as("bob", &format!("{page}/approve"), "").starts_with("HTTP/1.1 303"));
        assert_eq!(site.approvals(1), ["bob"]);
        assert!(site.get_as("bob", &page).contains("Approved by <strong>bob</strong>"));
        assert!(site.get_as("bob", &page).contains("<button>Withdraw the approval</button>"));
        site.send_as("ana", &format!("{page}/approve"), "");
        site.send_as("bob", &format!("{page}/withdraw"), "");
        assert_eq!(site.approvals(1), ["ana"]);
    }

    #[test]
    fn users_open_pull_requests_and_cannot_approve_their_own() {
        let site = Site::new();
        git(&site.folder.path().join("fleet"), "git branch topic kalypso/prod");
        assert!(site.get(LIST).contains("<option>topic</option>"));
        let opened = site.send_as("bob", &format!("{LIST}/open"), "head=topic&base=prod&title=The+second+one");
        assert!(opened.starts_with("HTTP/1.1 303") && opened.contains(&format!("Location: {LIST}/2\r\n")), "{opened}");
        let page = format!("{LIST}/2");
        assert!(
            site.get_as("bob", &page).contains("#2 by bob") && !site.get_as("bob", &page).contains("Approve</button>")
        );
        let own = site.send_as("bob", &format!("{page}/approve"), "");
        assert!(own.starts_with("HTTP/1.1 422") && own.contains("own pull request"), "{own}");
        assert_eq!(site.approvals(2), [""; 0]);
        let same = site.send_as("bob", &format!("{LIST}/open"), "head=prod&base=prod");
        assert!(same.starts_with("HTTP/1.1 422") && same.contains("No commits between prod and prod"), "{same}");
    }

    #[test]
    fn a_merge_is_announced() {
        let site = Site::new();
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/webhooks/gitea", service.local_addr().unwrap());
        let repositories_url = "https://git.example/".to_owned();
        site.double.set_webhook(WebhookTarget { url, secret: Secret::new("s3cret"), repositories_url });
        site.press("merge");
        let (mut stream, _) = service.accept().unwrap();
        let mut sent = Vec::new();
        while !sent.ends_with(b"}}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            sent.push(byte[0]);
        }
        let sent = String::from_utf8(sent).unwrap();
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let events = webhook::receive(HostKind::Gitea, &[Secret::new("s3cret")], header, body.as_bytes()).unwrap();
        let [WebhookEvent::Push(push)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(push.repository.urls, ["https://git.example/acme/fleet.git"]);
        assert_eq!(push.branch, "prod");
    }

    #[test]
    fn pages_are_served_on_loopback_only() {
        let address: SocketAddr = ([0, 0, 0, 0], 0).into();
        let started = HostDouble::start_at(&MemoryHost::new(HostKind::Gitea), address, (Path::new("x"), &PEOPLE));
        assert!(started.unwrap_err().to_string().contains("such as 127.0.0.1"));
    }
}
