//! Runs a hub in a separate process. The process ends together with the process that started it.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A running hub.
#[derive(Debug)]
pub struct HubProgram {
    process: Child,
    url: String,
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
        let url = |line: String| Some(line.split_once("listening on ")?.1.split('"').next()?.to_owned());
        let Some(url) = lines.by_ref().find_map(url) else {
            process.wait()?;
            return Err(io::Error::other("the hub ended before it listened"));
        };
        // The output must be read until the end. Otherwise the pipe fills and the hub blocks.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { process, url })
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
