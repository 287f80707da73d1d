//! Runs the service in a container, as the documentation recommends: without capabilities, with a read-only root, and with volumes.

use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Result, bail, ensure};

use super::podman::Podman;
use super::{NAME, output};
use crate::workspace;

/// How long a step of the run may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// The options of `docs/how-to/deploy-the-service.md`, but without a network. Podman would make more folders writable than Docker.
const OPTIONS: &[&str] = &[
    "--read-only",
    "--read-only-tmpfs=false",
    "--tmpfs=/tmp",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--network=none",
    "--volume=kalypso-state:/var/lib/kalypso",
    "--volume=kalypso-cache:/var/cache/kalypso",
];

/// Proves in the container that the user has no rights, and can write only to the volumes and `/tmp`.
const PROBE: &str = r#"set -ex
test "$(id -u)" != 0
grep -q 'CapBnd:.0000000000000000' /proc/self/status
grep -q 'NoNewPrivs:.1' /proc/self/status
for folder in / /etc /usr /run /var/tmp; do
    if touch "$folder/probe" 2> /dev/null; then exit 1; fi
done
touch /tmp/probe "$HOME/probe" "$KALYPSO_CACHE_DIR/probe""#;

/// Makes the example company, with a change that is not published.
const COMPANY: &str = r#"set -ex
kalypso demo --no-hub "$HOME/company"
cd "$HOME/company/control-plane"
git switch --quiet prod
sed -i 's/max: 40/max: 60/' configs/central.yaml
git -c user.name=Ann -c user.email=ann@example.com commit --quiet --all --message 'More connections'"#;

/// Lists the files of the commit that the service pushed.
const PUBLISHED: &str = r#"git -C "$HOME/company/platform-gitops.git" show --format= --name-only kalypso/prod"#;

/// Runs the service with the image's command, until an environment is synced. Checks that it stops in order, and writes only to its volumes.
pub(super) fn check(podman: &Podman) -> Result<()> {
    podman.clean()?;
    let result = Service { podman }.check();
    podman.clean()?;
    result
}

/// The container of the service.
struct Service<'a> {
    podman: &'a Podman,
}

impl Service<'_> {
    fn check(&self) -> Result<()> {
        self.run(&["--rm", "--entrypoint=/bin/sh"], &["-c", PROBE])?;
        println!("the user has no rights, and can write only to the volumes and /tmp");
        self.run(&["--rm", "--entrypoint=/bin/sh"], &["-c", COMPANY])?;
        let token = self.run(&["--rm"], &["hub", "token", "create", "admin", "--role", "admin"])?;
        ensure!(!token.trim().is_empty(), "there is no token");
        self.run(&["--detach", "--name", NAME], &[])?;
        let files = self.until("a branch is pushed", || self.podman.output(&["exec", NAME, "sh", "-c", PUBLISHED]))?;
        println!("synced: {}", files.trim().replace('\n', ", "));
        let answer = self.until("it is ready", || self.get("http://127.0.0.1:8080/readyz"))?;
        println!("/readyz answers {}", answer.trim());
        self.podman.output(&["stop", &format!("--time={}", PATIENCE.as_secs()), NAME])?;
        let (status, log) = (self.inspect("{{.State.ExitCode}}")?, self.log()?);
        ensure!(status == "0", "it ended with {status} after SIGTERM:\n{log}");
        println!("stopped by SIGTERM, with {status}");
        ensure!(!log.to_lowercase().contains("read-only file system"), "it tried to write elsewhere:\n{log}");
        self.check_static()
    }

    /// The output of a container with the rights and volumes of the service.
    fn run(&self, options: &[&str], arguments: &[&str]) -> Result<String> {
        let configuration = workspace::root().join("xtask/src/image/kalypso.toml");
        let configuration = format!("--volume={}:/etc/kalypso/kalypso.toml:ro", configuration.display());
        self.podman.run(&[OPTIONS, &[&configuration], options, &[NAME], arguments].concat())
    }

    /// Checks that the program needs no library and no dynamic linker.
    fn check_static(&self) -> Result<()> {
        let program = self.podman.folder().join("kalypso");
        output(self.podman.command(&["cp", &format!("{NAME}:/usr/local/bin/kalypso")]).arg(&program))?;
        let headers = output(Command::new("readelf").args(["--program-headers", "--dynamic"]).arg(&program))?;
        ensure!(!headers.contains("INTERP") && !headers.contains("(NEEDED)"), "the program is not static");
        println!("the program is static: {} MB", fs::metadata(program)?.len() >> 20);
        Ok(())
    }

    /// The text at a URL, as a process in the container sees it.
    fn get(&self, url: &str) -> Result<String> {
        let id = self.inspect("{{.State.Pid}}")?;
        let curl = ["curl", "--silent", "--show-error", "--fail", "--max-time", "5", url];
        output(Command::new("nsenter").args(["--net", "--target", &id]).args(curl))
    }

    /// Tries until there is a result.
    fn until(&self, what: &str, find: impl Fn() -> Result<String>) -> Result<String> {
        let start = Instant::now();
        loop {
            let error = match find() {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            let status = self.inspect("{{.State.Status}}")?;
            if status != "running" || start.elapsed() > PATIENCE {
                bail!("{what}: this did not happen. {error}\nThe container is {status}:\n{}", self.log()?);
            }
            thread::sleep(Duration::from_millis(500));
        }
    }

    /// A field of the container.
    fn inspect(&self, format: &str) -> Result<String> {
        Ok(self.podman.output(&["inspect", "--format", format, NAME])?.trim().to_owned())
    }

    /// What the service printed.
    fn log(&self) -> Result<String> {
        let output = self.podman.command(&["logs", NAME]).output()?;
        Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }
}
