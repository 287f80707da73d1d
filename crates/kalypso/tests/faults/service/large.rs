//! Repositories with a large history: the service needs neither memory nor disk for it.

use std::env;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use git::limits::PUBLICATIONS_REACH;
use git_host::HostKind;
use testkit::objects;

use super::hosted::{Hosted, eventually};
use crate::chance::Chance;
use crate::company::Company;

/// The size of the history without other settings, in MiB.
const SIZE_MIB: u64 = 64;
/// The branches with this history, each with an equal part.
const BRANCHES: [&str; 3] = ["control-plane@dev", "shop@main", "gitops@dev"];
/// The memory that the service may use at most, in bytes, whatever the size of the history is.
const MEMORY_MAX: u64 = 256 << 20;
/// The disk space that the service may use at most, in bytes, whatever the size of the history is.
const CACHE_MAX: u64 = 1 << 20;
/// The size of a file in the history, in bytes.
const FILE: usize = 1 << 20;
/// The number of small commits after the large ones. In the GitOps branch, the service searches the last commits for its own.
const LATER_COMMITS: usize = 2 * PUBLICATIONS_REACH;

/// Publishes from repositories with a large history, and again after a change. `KALYPSO_FAULTS_MIB` is its size.
pub(crate) fn large_history() {
    let size_mib = env::var("KALYPSO_FAULTS_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(SIZE_MIB);
    let mut hosted = Hosted::new(HostKind::GitHub, "poll = \"1s\"\nsettle = \"0s\"\nresync = \"1h\"\n");
    for (seed, at) in BRANCHES.into_iter().enumerate() {
        let files = size_mib / BRANCHES.len() as u64 + 1;
        add_history(&hosted.company, at, &mut Chance::new(seed as u64), files).unwrap();
    }
    let served = size_of(&hosted.company.path("served"));
    assert!(served > size_mib << 20, "the repositories have {served} bytes only");
    let start = Instant::now();
    hosted.start();
    hosted.is_ready();
    eventually("the first proposals", || {
        (hosted.proposal("dev").is_some() && hosted.proposal("prod").is_some()).then_some(())
    });
    let first = start.elapsed();
    let values = "DATABASE: mysql://main/a\nROUND: of-a-large-repository";
    hosted.company.change("control-plane@dev", "configs/common.yaml", &objects::config("common", "", values));
    eventually("the change", || (hosted.proposes("dev", "of-a-large-repository") && hosted.is_quiet()).then_some(()));
    let (memory, cache) = (hosted.serving.as_ref().unwrap().peak_memory(), size_of(&hosted.company.path("cache")));
    println!(
        "large history: {} MiB in the repositories; first sync after {:.1} s; {} MiB of memory at most, {:.2} MiB in the cache",
        served >> 20,
        first.as_secs_f64(),
        memory >> 20,
        cache as f64 / f64::from(1 << 20)
    );
    assert!(memory < MEMORY_MAX, "the service used {memory} bytes of memory");
    assert!(cache < CACHE_MAX, "the cache has {cache} bytes");
}

/// Adds commits to a branch, each with another large file that can't be compressed, which is removed afterwards. Small commits follow.
fn add_history(company: &Company, at: &str, chance: &mut Chance, files: u64) -> io::Result<()> {
    let (name, branch) = at.split_once('@').unwrap();
    // Compression and searches for similar files would take most of the time, and gain nothing.
    let mut import = Command::new("git")
        .current_dir(company.repository(name))
        .args(["-c", "core.compression=0", "-c", "pack.compression=0", "-c", "fastimport.unpackLimit=0"])
        .args(["fast-import", "--quiet", "--force", "--depth=0"])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut stream = BufWriter::new(import.stdin.take().unwrap());
    let mut from = format!("from {}\n", company.head(name, branch).unwrap());
    let mut commit = |stream: &mut BufWriter<_>, change: &str| {
        let from = std::mem::take(&mut from);
        write!(
            stream,
            "commit refs/heads/{branch}\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata 0\n{from}{change}"
        )
    };
    for _ in 0..files {
        commit(&mut stream, &format!("M 100644 inline large.bin\ndata {FILE}\n"))?;
        for _ in 0..FILE / 8 {
            stream.write_all(&chance.number().to_le_bytes())?;
        }
        writeln!(stream)?;
    }
    commit(&mut stream, "D large.bin\n")?;
    for number in 0..LATER_COMMITS {
        commit(&mut stream, &format!("M 100644 inline notes/{number}.txt\ndata 5\nmine\n\n"))?;
    }
    drop(stream.into_inner().map_err(io::IntoInnerError::into_error)?);
    assert!(import.wait()?.success());
    Ok(())
}

/// The size of all files below a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        // The service may remove files at the same time.
        Err(_) => 0,
    };
    entries.map(size).sum()
}
