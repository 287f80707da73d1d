//! A machine with the demo, and its service.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use tempfile::TempDir;

use super::AS_PROGRAM;

/// The service of a demo, which ends when it is dropped.
pub(crate) struct Demo {
    /// The address of its page.
    pub(crate) url: String,
    process: Child,
    _folder: TempDir,
}

/// Declares the promotions that the demo has in a file.
const PROMOTIONS: &str = "git -C control-plane switch --quiet main &&
    cp promotions.yaml control-plane/.environments/ &&
    git -C control-plane add --all &&
    git -C control-plane -c user.name=me -c user.email=me@acme.example commit --quiet --message 'Promote to prod'";

impl Demo {
    /// Makes the demo with promotions between its environments, and starts its service on free ports.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = || {
            let mut command = Command::new(env::current_exe().unwrap());
            command.env(AS_PROGRAM, "1").env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME");
            command.env("KALYPSO_PROGRESS", "never").current_dir(folder.path());
            command
        };
        let made = program().arg("demo").output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let printed = String::from_utf8(made.stdout).unwrap();
        assert!(printed.trim_end().ends_with("http://127.0.0.1:8080"), "{printed}");
        let declared = Command::new("sh")
            .args(["-c", PROMOTIONS])
            .current_dir(folder.path().join("kalypso-demo"))
            .output()
            .unwrap();
        assert!(declared.status.success(), "{declared:?}");
        let mut command = program();
        command.current_dir(folder.path().join("kalypso-demo")).args(["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.env("KALYPSO_DEMO_GIT_HOST", "127.0.0.1:0").stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.split_once("listening on ")?.1.to_owned())).unwrap();
        // The output must be read until the end. Otherwise the pipe fills.
        thread::spawn(move || lines.for_each(drop));
        Self { url: url.trim_end_matches('/').to_owned(), process, _folder: folder }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
