//! A disk of a few MiB, which only the server that is on it sees: a file system in memory that is mounted in a namespace of its own.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What of a server is on a disk that fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSmallDisk {
    /// The tables: a transaction fails, and the server goes on.
    Tables,
    /// The log: the server can't go on without it.
    Log,
}

/// The disk. It is gone when this is dropped and nobody uses it any more.
#[derive(Debug)]
pub(super) struct SmallDisk {
    /// The process that has the namespace.
    keeper: Child,
    place: PathBuf,
}

/// Bytes that are written at a time to fill it.
const CHUNK: usize = 64 * 1024;

impl SmallDisk {
    /// Mounts it for that user, and makes `link` lead there.
    pub(super) fn mount(link: &Path, mebibytes: u32, user: Option<(u32, u32)>) -> io::Result<Self> {
        let point = link.with_extension("mount");
        fs::create_dir_all(&point)?;
        let mut options = format!("size={mebibytes}m,mode=0700");
        let mut command = Command::new("unshare");
        if let Some((user, group)) = user {
            options = format!("{options},uid={user},gid={group}");
            let ids = [format!("--reuid={user}"), format!("--regid={group}")];
            command.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(&point).arg(&options);
            command.args(["setpriv", &ids[0], &ids[1], "--clear-groups", "--"]);
        } else {
            // Who is not root may mount where everybody else does not see it.
            command.args(["--user", "--map-current-user", "--keep-caps", "--mount"]);
            command.args(["sh", "-c", SCRIPT, "sh"]).arg(&point).arg(&options);
        }
        command.args(["sh", "-c", "echo mounted; exec cat"]);
        let mut keeper =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
        let mut said = String::new();
        if let Some(output) = keeper.stdout.take() {
            BufReader::new(output).read_line(&mut said)?;
        }
        if said.trim() != "mounted" {
            let output = keeper.wait_with_output()?;
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let within = point.strip_prefix("/").unwrap_or(&point);
        let place = Path::new("/proc").join(keeper.id().to_string()).join("root").join(within);
        symlink(&place, link)?;
        Ok(Self { keeper, place })
    }

    /// Takes all room but so many KiB.
    pub(super) fn fill(&self, but_kibibytes: usize) -> io::Result<()> {
        let mut ballast = File::create(self.ballast())?;
        let chunk = vec![0; CHUNK];
        loop {
            match ballast.write_all(&chunk) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                Err(error) => return Err(error),
            }
        }
        let length = ballast.metadata()?.len();
        ballast.set_len(length.saturating_sub(but_kibibytes as u64 * 1024))
    }

    /// Gives it back.
    pub(super) fn free(&self) -> io::Result<()> {
        fs::remove_file(self.ballast())
    }

    fn ballast(&self) -> PathBuf {
        self.place.join("ballast")
    }
}

/// Mounts at the first argument with the options of the second, and goes on as the others say.
const SCRIPT: &str = "mount -t tmpfs -o \"$2\" kalypso-small-disk \"$1\" && shift 2 && exec \"$@\"";

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}
