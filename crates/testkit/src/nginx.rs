//! Git repositories behind nginx: `git http-backend` in fcgiwrap, with a name and a password.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

/// How long the start may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running nginx. It stops when it is dropped.
#[derive(Debug)]
pub struct Nginx {
    port: u16,
    processes: Vec<Child>,
    folder: TempDir,
}

impl Nginx {
    /// Serves the repositories below a folder to one user.
    ///
    /// # Errors
    /// If nginx or fcgiwrap is not installed, or does not start.
    pub fn start(root: &Path, (user, password): (&str, &str)) -> io::Result<Self> {
        let folder = TempDir::new()?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("users"), format!("{user}:{{PLAIN}}{password}\n"))?;
        fs::write(path("nginx.conf"), configuration(folder.path(), root, port)?)?;
        let wrap = Command::new("fcgiwrap")
            .arg("-s")
            .arg(format!("unix:{}", path("git.sock").display()))
            .args(["-c", "4"])
            .process_group(0)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut processes = vec![wrap];
        let nginx = Command::new(program())
            .args(["-p".as_ref(), folder.path().as_os_str(), "-e".as_ref(), path("error.log").as_os_str()])
            .args(["-c".as_ref(), path("nginx.conf").as_os_str()])
            .process_group(0)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let server = match nginx {
            Ok(process) => {
                processes.push(process);
                Self { port, processes, folder }
            }
            Err(error) => {
                end(&mut processes);
                return Err(error);
            }
        };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > PATIENCE {
                let log = fs::read_to_string(server.folder.path().join("error.log")).unwrap_or_default();
                return Err(io::Error::other(format!("nginx does not answer: {log}")));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// The address, with a slash at its end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        end(&mut self.processes);
    }
}

fn end(processes: &mut [Child]) {
    for process in processes {
        // With its children. It may have ended itself.
        let _ = Command::new("kill").args(["--", &format!("-{}", process.id())]).stderr(Stdio::null()).status();
        let _ = process.wait();
    }
}

/// Debian installs nginx where only root's `PATH` leads.
fn program() -> &'static str {
    if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" }
}

fn configuration(folder: &Path, root: &Path, port: u16) -> io::Result<String> {
    let (folder, root) = (folder.display(), root.display());
    let programs = Command::new("git").arg("--exec-path").output()?.stdout;
    let programs = String::from_utf8_lossy(&programs).trim().to_owned();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/{name};"))
        .join(" ");
    Ok(format!(
        "daemon off;\nuser root;\npid {folder}/nginx.pid;\nworker_processes 1;\nevents {{ worker_connections 64; }}\n\
         http {{\n  access_log {folder}/access.log;\n  {temporary}\n  client_max_body_size 0;\n\
         server {{\n  listen 127.0.0.1:{port};\n  auth_basic git;\n  auth_basic_user_file {folder}/users;\n\
         location / {{\n  fastcgi_pass unix:{folder}/git.sock;\n\
         fastcgi_param SCRIPT_FILENAME {programs}/git-http-backend;\n  fastcgi_param GIT_PROJECT_ROOT {root};\n\
         fastcgi_param GIT_HTTP_EXPORT_ALL 1;\n  fastcgi_param PATH_INFO $uri;\n  fastcgi_param QUERY_STRING $query_string;\n\
         fastcgi_param REQUEST_METHOD $request_method;\n  fastcgi_param CONTENT_TYPE $content_type;\n\
         fastcgi_param CONTENT_LENGTH $content_length;\n  fastcgi_param REMOTE_USER $remote_user;\n\
         fastcgi_param REMOTE_ADDR $remote_addr;\n}}\n}}\n}}\n"
    ))
}
