//! Runs a hub in a separate process, so that its memory can be measured.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use ::hub::server::{Server, ServerOptions};
use anyhow::{Context as _, Result};

/// A running hub.
pub(crate) struct Hub {
    process: Child,
    /// The address: `http://127.0.0.1:12345`.
    pub(crate) url: String,
}

impl Hub {
    /// Starts this program as a hub that uses a database.
    pub(crate) fn start(database: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.args(["--hub-server", database]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("the hub has no output")?).read_line(&mut line)?;
        Ok(Self { process, url: format!("http://{}", line.trim()) })
    }

    /// The id of its process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The peak of its memory so far, in MiB.
    pub(crate) fn memory_mib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no memory is counted")?;
        Ok(peak.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// Stops the hub cleanly. Returns the peak of its memory, in MiB.
    pub(crate) fn stop(mut self) -> Result<f64> {
        let memory = self.memory_mib()?;
        drop(self.process.stdin.take());
        self.process.wait()?;
        Ok(memory)
    }
}

/// Runs a hub until standard input ends.
pub(crate) fn serve_and_exit(database: &str) -> Result<()> {
    ::hub_api::tls::install_provider();
    let options = ServerOptions {
        listen: "127.0.0.1:0".to_owned(),
        database: database.parse()?,
        issuer: None,
        certificate: None,
        retention: ::hub::management::retention::Retention::default(),
    };
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(async {
        let server = Server::start(options).await?.presenting(web::with_pages);
        println!("{}", server.address());
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        server.run(async { drop(ended.await) }).await;
        Ok(())
    })
}
