//! Measures whole processes with the numbers of the operating system.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::{Value as Json, json};

/// The resources that a process used.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// From its start to its end, in seconds.
    pub(crate) wall_s: f64,
    /// Processor time of all its threads, in seconds.
    pub(crate) cpu_s: f64,
    /// The peak of its memory, in MiB.
    pub(crate) memory_mib: f64,
    /// The exit status. None if a signal ended the process.
    pub(crate) status: Option<i32>,
    /// The last line of its standard output.
    pub(crate) last_line: String,
}

impl Usage {
    pub(crate) fn to_json(&self) -> Json {
        let Self { wall_s, cpu_s, memory_mib, status, last_line } = self;
        json!({ "wall_s": wall_s, "cpu_s": cpu_s, "memory_mib": memory_mib, "status": status, "last_line": last_line })
    }

    fn from_json(json: &Json) -> Self {
        let number = |key: &str| json[key].as_f64().unwrap_or(f64::NAN);
        Self {
            wall_s: number("wall_s"),
            cpu_s: number("cpu_s"),
            memory_mib: number("memory_mib"),
            status: json["status"].as_i64().map(|status| status as i32),
            last_line: json["last_line"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Runs a program several times and returns the usage of the fastest run: other work on the machine can only make a run slower.
///
/// The program is started by a helper process without other children, because the system measures the memory of all children together.
pub(crate) fn fastest(program: &OsStr, arguments: &[OsString], runs: usize) -> Result<Usage> {
    let mut best: Option<Usage> = None;
    for _ in 0..runs {
        let mut command = Command::new(std::env::current_exe()?);
        let output = command.arg("--measure").arg(program).args(arguments).stderr(Stdio::inherit()).output()?;
        let json = serde_json::from_slice(&output.stdout).context("the measuring process said nothing")?;
        let usage = Usage::from_json(&json);
        if best.as_ref().is_none_or(|best| usage.wall_s < best.wall_s) {
            best = Some(usage);
        }
    }
    best.context("nothing was run")
}

/// Runs a program once. A process can call this only once.
pub(crate) fn run_measured(program: &OsStr, arguments: &[OsString]) -> Result<Usage> {
    let start = Instant::now();
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let wall_s = start.elapsed().as_secs_f64();
    let output = output.with_context(|| format!("could not start {}", program.display()))?;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    std::io::stderr().write_all(if output.status.code() == Some(101) { &output.stderr } else { b"" })?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Usage {
        wall_s,
        cpu_s: (used.user_time().num_microseconds() + used.system_time().num_microseconds()) as f64 / 1e6,
        memory_mib: used.max_rss() as f64 / 1024.0,
        status: output.status.code(),
        last_line: text.lines().last().unwrap_or_default().to_owned(),
    })
}
