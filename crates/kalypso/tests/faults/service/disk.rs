//! A full disk for the cache: the error is clear, and the service recovers by itself.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_host::HostKind;
use testkit::objects;

use super::hosted::{Hosted, eventually};

/// The size of the disk, in MiB.
const SIZE_MIB: u32 = 24;
/// The number of bytes of one write when the disk is filled.
const CHUNK: usize = 4 * 1024;
/// Mounts a file system in memory at the first argument, which only this process sees. The other arguments are the command that runs next.
const SCRIPT: &str = "mount -t tmpfs -o \"$2\" kalypso-small-disk \"$1\" && shift 2 && exec \"$@\"";

/// Fills the disk with the cache, and frees it again.
pub(crate) fn full_disk() {
    let mut hosted = Hosted::new(HostKind::GitHub, "poll = \"1s\"\nsettle = \"0s\"\nresync = \"1h\"\n");
    let cache = hosted.company.path("cache");
    fs::create_dir(&cache).unwrap();
    if let Err(reason) = can_mount(&cache) {
        println!("skipped: no small disk can be mounted: {reason}");
        return;
    }
    let program = hosted.company.command();
    let mut command = small_disk(&cache);
    command.arg(program.get_program()).current_dir(hosted.company.path("")).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    hosted.start_with(command);
    hosted.is_ready();
    let process = hosted.serving.as_ref().unwrap().process.id();
    let disk = PathBuf::from(format!("/proc/{process}/root{}", cache.display()));
    let ballast = disk.join("ballast");
    fill(&ballast).unwrap();

    publish(&hosted, "while-it-is-full");
    let environment = eventually("the error", || {
        hosted.environments().into_iter().find(|one| one["environment"] == "dev" && one["failures"].as_u64() > Some(0))
    });
    let error = environment["last"]["error"].as_str().unwrap_or_default().to_owned();
    println!("full disk: {error}");
    assert!(error.contains("No space left on device") || error.contains("disk is full"), "{error}\n{}", hosted.log());
    assert_eq!(hosted.ask("GET /livez", &[], "").map(|(status, _)| status), Some(200));

    fs::remove_file(&ballast).unwrap();
    // Nobody requests it: the service tries again.
    eventually("the recovery", || hosted.proposes("dev", "while-it-is-full").then_some(()));
    eventually("the end of the failures", || hosted.is_quiet().then_some(()));
    let log = hosted.log();
    assert!(!log.contains("panicked") && !log.contains("a bug of Kalypso"), "{log}");
}

fn publish(hosted: &Hosted, value: &str) {
    // The commit has more bytes than are free in a file that git makes.
    let values = format!("DATABASE: mysql://main/a\nROUND: {value}\nLONG: {}", "x".repeat(3 * CHUNK));
    hosted.company.change("control-plane@dev", "configs/common.yaml", &objects::config("common", "", &values));
    let _ = hosted.announce("control-plane@dev", true);
}

/// The beginning of a command that runs with a small disk at a place.
fn small_disk(place: &Path) -> Command {
    let mut command = Command::new("unshare");
    if !is_root() {
        // Without root, a mount is possible only in a private user namespace.
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(place).arg(format!("size={SIZE_MIB}m,mode=0700"));
    command
}

fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// The reason why a small disk can't be mounted.
fn can_mount(place: &Path) -> Result<(), String> {
    let output = small_disk(place).arg("true").output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// Writes a file until the disk is full.
fn fill(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    let chunk = vec![0; CHUNK];
    loop {
        match file.write_all(&chunk) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
