//! A disk of some MiB that only its server sees: a file system in memory, mounted in a private namespace.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The part of a server that is on the small disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSmallDisk {
    /// The tables. If the disk is full, a transaction fails and the server continues.
    Tables,
    /// The log. The server cannot continue without it.
    Log,
}

/// The disk. It disappears after this value is dropped and no process uses the disk any more.
#[derive(Debug)]
pub(super) struct SmallDisk {
    /// The process that holds the namespace.
    keeper: Child,
    place: PathBuf,
}

/// The number of bytes of one write when the disk is filled.
const CHUNK: usize = 64 * 1024;

impl SmallDisk {
    /// Mounts the disk for this user and makes `link` point to it.
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
            // Without root, a mount is possible only in a private user namespace.
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

    /// Fills the disk except for this many KiB.
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

    /// Frees the space again.
    pub(super) fn free(&self) -> io::Result<()> {
        fs::remove_file(self.ballast())
    }

    fn ballast(&self) -> PathBuf {
        self.place.join("ballast")
    }
}

/// Mounts the file system at the first argument with the options of the second argument. The other arguments are the command that runs next.
const SCRIPT: &str = "mount -t tmpfs -o \"$2\" kalypso-small-disk \"$1\" && shift 2 && exec \"$@\"";

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}
