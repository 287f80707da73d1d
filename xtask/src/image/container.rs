//! Runs processes in the root folder as a container engine does: as the image's user, without capabilities, with private namespaces and a read-only root.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::build::Image;
use super::{company, output};

/// How long a step of the run may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where the repositories are in the container.
const REPOSITORIES: &str = "/srv/git";

/// Proves in the container that the user has no rights, and can't write to the root.
const PROBE: &str = "test \"$(id -u)\" != 0 && ! touch /etc/probe /usr/probe /probe 2> /dev/null \
    && grep -q 'CapEff:\t0000000000000000' /proc/self/status && grep -q 'CapBnd:\t0000000000000000' /proc/self/status \
    && grep -q 'NoNewPrivs:\t1' /proc/self/status && touch /tmp/probe \"$HOME/probe\" \"$KALYPSO_CACHE_DIR/probe\" \
    && rm \"$HOME/probe\" \"$KALYPSO_CACHE_DIR/probe\" && git --version";

/// Runs the service with the image's command, until an environment is synced. Checks that it stops in order, and writes only to its volumes.
pub(super) fn check(image: &Image, folder: &Path) -> Result<()> {
    let site = Site::create(image, folder)?;
    let before = site.listing()?;
    print!("no rights and a read-only root: {}", site.succeed(&["/bin/sh", "-c", PROBE])?);
    let program: Vec<_> = image.entrypoint.iter().map(String::as_str).collect();
    let token = site.succeed(&[&program[..], &["hub", "token", "create", "admin", "--role", "admin"]].concat())?;
    ensure!(!token.trim().is_empty(), "there is no token");
    let command: Vec<_> = program.into_iter().chain(image.command.iter().map(String::as_str)).collect();
    println!("starting {}", command.join(" "));
    let mut service = site.start(&command)?;
    let published =
        || company::published(&site.repositories).map(|files| Some(files).filter(|files| !files.is_empty()));
    let files = service.until("a branch is pushed", published)?;
    println!("synced: {}", files.join(", "));
    let id = service.id()?;
    let url = format!("http://127.0.0.1:{}/readyz", image.port);
    let answer = service.until("it is ready", || Ok(get(id, &url).filter(|answer| answer == "ok\n")))?;
    println!("/readyz answers {}", answer.trim());
    let status = service.stop()?;
    ensure!(status.code() == Some(0), "it ended with {status}:\n{}", site.log());
    println!("stopped by SIGTERM, with {status}");
    ensure!(site.listing()? == before, "the root folder changed");
    ensure!(
        !site.log().to_lowercase().contains("read-only file system"),
        "it tried to write elsewhere:\n{}",
        site.log()
    );
    println!("wrote only to {}, /tmp and the GitOps repository", image.volumes.join(", "));
    Ok(())
}

/// What is mounted into the container.
struct Site<'a> {
    image: &'a Image,
    folder: &'a Path,
    repositories: PathBuf,
    /// The shell script that mounts everything and starts the process.
    script: PathBuf,
}

impl<'a> Site<'a> {
    fn create(image: &'a Image, folder: &'a Path) -> Result<Self> {
        let (repositories, configuration) = (folder.join("repositories"), folder.join("configuration"));
        company::create(&repositories)?;
        fs::create_dir_all(&configuration)?;
        fs::write(configuration.join("kalypso.toml"), company::configuration(REPOSITORIES))?;
        let owner = format!("{}:{}", image.user.0, image.user.1);
        output(Command::new("chown").args(["--recursive", &owner]).args([&repositories, &configuration]))?;
        let mut mounts =
            vec![(configuration, image.working_folder.clone()), (repositories.clone(), REPOSITORIES.to_owned())];
        for (number, path) in image.volumes.iter().enumerate() {
            // A new volume has the content, the owner and the mode of the image's folder.
            let volume = folder.join(format!("volume-{number}"));
            output(Command::new("cp").arg("--archive").arg(in_root(&image.root, path)).arg(&volume))?;
            mounts.push((volume, path.clone()));
        }
        for (_, target) in &mounts {
            fs::create_dir_all(in_root(&image.root, target))?;
        }
        let script = folder.join("container.sh");
        fs::write(&script, mounting(image, &mounts))?;
        Ok(Self { image, folder, repositories, script })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--pid",
            "--net",
            "--ipc",
            "--uts",
            "--fork",
            "--kill-child",
            "--propagation=private",
        ]);
        command.arg("/bin/sh").arg(&self.script).args(words).stdin(Stdio::null());
        command
    }

    /// The output of a process that must succeed.
    fn succeed(&self, words: &[&str]) -> Result<String> {
        output(&mut self.command(words))
    }

    fn start(&self, words: &[&str]) -> Result<Running> {
        let log = File::create(self.folder.join("log"))?;
        let mut command = self.command(words);
        let process = command.stdout(log.try_clone()?).stderr(log).spawn().context("cannot start unshare")?;
        Ok(Running { process, log: self.folder.join("log") })
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// All files of the root folder with their sizes and times.
    fn listing(&self) -> Result<String> {
        output(Command::new("find").arg(&self.image.root).args(["-xdev", "-printf", "%p %s %T@ %m %U:%G\n"]))
    }
}

fn in_root(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// A shell script that mounts the folders into the root, makes the root read-only, and starts its arguments as the image's user.
fn mounting(image: &Image, mounts: &[(PathBuf, String)]) -> String {
    let root = image.root.display();
    let mounts: String = mounts
        .iter()
        .map(|(source, target)| format!("mount --bind '{}' '{root}{target}'\n", source.display()))
        .collect();
    let variables: String = image.variables.iter().map(|(name, value)| format!(" '{name}={value}'")).collect();
    let (user, group) = &image.user;
    format!(
        "set -e
ip link set lo up
mount --bind '{root}' '{root}'
mount -t proc proc '{root}/proc'
mount -t tmpfs -o mode=0755 tmpfs '{root}/dev'
mknod -m 666 '{root}/dev/null' c 1 3
mknod -m 666 '{root}/dev/zero' c 1 5
mknod -m 666 '{root}/dev/random' c 1 8
mknod -m 666 '{root}/dev/urandom' c 1 9
mount -t tmpfs -o mode=1777 tmpfs '{root}/tmp'
{mounts}mount -o remount,bind,ro '{root}'
mount -o remount,bind,ro '{root}{folder}'
exec chroot '{root}' /usr/bin/setpriv --reuid={user} --regid={group} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
  /usr/bin/env -i --chdir='{folder}'{variables} \"$@\"
",
        folder = image.working_folder
    )
}

/// The text at a URL, as a process in a container sees it. None if there is no answer with the status 200.
fn get(id: u32, url: &str) -> Option<String> {
    let mut command = Command::new("nsenter");
    command.args(["--net", "--target", &id.to_string(), "curl", "--silent", "--fail", "--max-time", "5", url]);
    output(&mut command).ok()
}

/// A running container.
struct Running {
    process: Child,
    log: PathBuf,
}

impl Running {
    /// The id of the container's first process, outside of it.
    fn id(&self) -> Result<u32> {
        let id = self.process.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
        children.split_whitespace().next().and_then(|id| id.parse().ok()).context("the container has no process")
    }

    /// Waits until there is a result.
    fn until<T>(&mut self, what: &str, find: impl Fn() -> Result<Option<T>>) -> Result<T> {
        let start = Instant::now();
        loop {
            if let Some(found) = find()? {
                return Ok(found);
            }
            let log = || fs::read_to_string(&self.log).unwrap_or_default();
            if let Some(status) = self.process.try_wait()? {
                bail!("it ended with {status} before {what}:\n{}", log());
            }
            ensure!(start.elapsed() < PATIENCE, "{what}: this did not happen\n{}", log());
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Stops it as a container engine does.
    fn stop(&mut self) -> Result<ExitStatus> {
        output(Command::new("kill").args(["-TERM", &self.id()?.to_string()]))?;
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            ensure!(start.elapsed() < PATIENCE, "it does not stop");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already. Its processes end together with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
