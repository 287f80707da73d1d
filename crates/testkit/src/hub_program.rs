//! Runs a hub in a separate process. The process ends together with the process that started it.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A running hub.
#[derive(Debug)]
pub struct HubProgram {
    process: Child,
    url: String,
    log: Arc<Mutex<String>>,
}

impl HubProgram {
    /// Starts a command that runs a hub on a port that the system chooses. Waits until the hub prints its address.
    ///
    /// # Errors
    /// Returns an error if the command cannot be started or ends before it listens.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stderr(Stdio::piped()).spawn()?;
        let said = process.stderr.take().ok_or_else(|| io::Error::other("it says nothing"))?;
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        // The text is a plain line, or part of the message of a line in JSON.
        let url = |line: &str| Some(line.split_once("listening on ")?.1.split('"').next()?.to_owned());
        let log = Arc::new(Mutex::new(String::new()));
        let keep = |log: &Mutex<String>, line: &str| {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.push_str(line);
            log.push('\n');
        };
        let found = lines.by_ref().find_map(|line| {
            keep(&log, &line);
            url(&line)
        });
        let Some(url) = found else {
            process.wait()?;
            let log = log.lock().unwrap_or_else(PoisonError::into_inner);
            return Err(io::Error::other(format!("the hub ended before it listened:\n{log}")));
        };
        // The output must be read until the end. Otherwise the pipe fills and the hub blocks.
        let kept = Arc::clone(&log);
        thread::spawn(move || lines.for_each(|line| keep(&kept, &line)));
        Ok(Self { process, url, log })
    }

    /// The standard error so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where it listens: `http://127.0.0.1:12345`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same without the scheme.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// The process, to send it signals and to wait for it.
    pub fn process(&mut self) -> &mut Child {
        &mut self.process
    }
}

impl Drop for HubProgram {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
