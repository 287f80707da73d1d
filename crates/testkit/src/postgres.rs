//! A real PostgreSQL server on a Unix socket in a temporary folder. It ends together with the process that owns it.

mod owner;
mod small_disk;

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use rustix::fs::statvfs;
use rustix::process::geteuid;

pub use self::small_disk::OnSmallDisk;
use self::small_disk::SmallDisk;

/// The superuser of every server here. It has no password: every user with access to the folder has full access.
const USER: &str = "postgres";
/// The port number in the name of the socket. The server does not listen on TCP.
const PORT: &str = "5432";
/// The time limit for the recovery of a killed server with a long log.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Settings for tests: committed data survives a crash of the server, but not a crash of the machine.
const SETTINGS: &[&str] =
    &["fsync=off", "full_page_writes=off", "max_connections=200", "listen_addresses=", "max_wal_size=256MB"];

/// The free space in bytes that a server for a run of tests needs.
const FREE_BYTES_MIN: u64 = 4 << 30;

/// The folder for shared servers: in memory if there is enough space, because each test creates a database with hundreds of files. Else `otherwise`.
pub fn shared_folder(otherwise: PathBuf) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let is_large = statvfs(memory).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= FREE_BYTES_MIN);
    if is_large { memory.to_owned() } else { otherwise }
}

/// A server. A private server ends, and its folder is removed, when this value is dropped or the process ends.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    settings: Vec<String>,
    child: Mutex<Option<Child>>,
    /// Whether other processes also use the server.
    is_shared: bool,
    /// The disk with a part of the files, if they are not all in the folder.
    disk: Option<SmallDisk>,
}

/// A separate database. It is removed when this value is dropped.
#[derive(Debug)]
pub struct PostgresDatabase {
    folder: PathBuf,
    name: String,
}

/// Checks whether servers can be started on this machine.
///
/// # Errors
/// Returns the reason why servers cannot be started.
pub fn availability() -> Result<(), String> {
    programs().ok_or("PostgreSQL is not installed")?;
    if is_superuser() && unprivileged().is_none() {
        return Err("PostgreSQL does not run as root, and there is no user postgres or nobody".to_owned());
    }
    Ok(())
}

/// Checks whether a server can have a small disk on this machine. The disk is a mount in a private namespace, which not every container allows.
///
/// # Errors
/// Returns the reason why small disks are not available.
pub fn availability_of_small_disks() -> Result<(), String> {
    availability()?;
    let mounted =
        tempfile::tempdir().and_then(|folder| SmallDisk::mount(&folder.path().join("disk"), 1, unprivileged_user()));
    mounted.map(drop).map_err(|error| format!("no disk can be mounted: {error}"))
}

impl PostgresServer {
    /// Starts a server that only the caller uses, so that it can be killed. Settings have the form `name=value`. They override the settings for
    /// tests, such as `fsync=off`.
    ///
    /// # Errors
    /// Returns an error with the message of the server if it cannot be started.
    pub fn start_private(settings: &[&str]) -> io::Result<Self> {
        let server = Self::private(settings)?;
        server.prepare(process::id())?;
        server.make_files(&[])?;
        server.start()?;
        Ok(server)
    }

    /// Starts a private server. A part of its files is on a disk of this size in MiB, which [`PostgresServer::fill_disk`] fills.
    ///
    /// # Errors
    /// Returns an error if mounts are not allowed here or the server cannot be started. The error contains the message of the program that failed.
    pub fn start_on_small_disk(part: OnSmallDisk, mebibytes: u32) -> io::Result<Self> {
        let mut server = Self::private(&[])?;
        server.prepare(process::id())?;
        let link = |name: &str| server.folder.join(name);
        let log = ["--waldir".to_owned(), link("log-of-writes").display().to_string(), "--wal-segsize=1".to_owned()];
        let disk = match part {
            OnSmallDisk::Tables => SmallDisk::mount(&link("data"), mebibytes, unprivileged_user())?,
            OnSmallDisk::Log => SmallDisk::mount(&link("log-of-writes"), mebibytes, unprivileged_user())?,
        };
        server.disk = Some(disk);
        server.make_files(&log)?;
        server.start()?;
        Ok(server)
    }

    /// Fills the small disk except for this many KiB, like other software on the same disk does.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn fill_disk(&self, but_kibibytes: usize) -> io::Result<()> {
        self.disk.as_ref().map_or(Ok(()), |disk| disk.fill(but_kibibytes))
    }

    /// Frees the space again.
    ///
    /// # Errors
    /// Returns an error if the disk was not filled.
    pub fn free_disk(&self) -> io::Result<()> {
        self.disk.as_ref().map_or(Ok(()), SmallDisk::free)
    }

    /// The server in this folder, which several processes share. The first process starts it. It is removed when the process `guardian` has ended.
    ///
    /// # Errors
    /// Returns an error with the message of the server if it cannot be started.
    pub fn shared(folder: &Path, guardian: u32) -> io::Result<Self> {
        let settings = SETTINGS.iter().map(|setting| (*setting).to_owned()).collect();
        let server = Self { folder: folder.to_owned(), settings, child: Mutex::default(), is_shared: true, disk: None };
        // The process that holds the lock checks whether the server runs, and starts it if not. The other processes wait for the lock.
        let lock = File::create(server.folder.with_extension("lock"))?;
        lock.lock()?;
        if !server.folder.exists() {
            server.prepare(guardian)?;
            server.make_files(&[])?;
            server.start()?;
        }
        Ok(server)
    }

    /// Starts the server again after [`PostgresServer::kill`] or [`PostgresServer::stop`] and waits until it answers.
    ///
    /// # Errors
    /// Returns an error with the message of the server if it does not start.
    pub fn start(&self) -> io::Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        let mut child = self.spawn()?;
        while !self.answers()? {
            if child.try_wait()?.is_some() {
                // Child processes of a killed server may still hold its shared memory.
                child = self.spawn()?;
            }
            if Instant::now() > deadline {
                drop(child.kill());
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("PostgreSQL does not start:\n{log}")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(())
    }

    /// Kills the server like `kill -9`.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Shuts the server down without waiting for its clients, like an administrator does.
    ///
    /// # Errors
    /// Returns an error if the program for the shutdown cannot be started.
    pub fn stop(&self) -> io::Result<()> {
        let mut command = self.command("pg_ctl")?;
        let data = self.folder.join("data");
        succeed(command.arg("stop").args(["--mode=fast", "--wait", "--pgdata"]).arg(data))?;
        self.kill();
        Ok(())
    }

    /// The URL of a database of this server for one of its users.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@localhost:{PORT}/{database}?host={}", self.folder.display())
    }

    /// Runs SQL with `psql` as the superuser. Returns the output: one line for each row, columns separated by `|`.
    ///
    /// # Errors
    /// Returns an error with the message of the server if the server rejects the SQL.
    pub fn psql(&self, sql: &str) -> io::Result<String> {
        psql(&self.folder, "postgres", sql)
    }

    /// Creates a new, empty database.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
    pub fn create_database(&self) -> io::Result<PostgresDatabase> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}_{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.psql(&format!("create database {name}"))?;
        Ok(PostgresDatabase { folder: self.folder.clone(), name })
    }

    fn private(settings: &[&str]) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(owner::PREFIX).tempdir()?.keep();
        let settings = SETTINGS.iter().chain(settings).map(|setting| (*setting).to_owned()).collect();
        Ok(Self { folder, settings, child: Mutex::default(), is_shared: false, disk: None })
    }

    /// Creates the folder and a process that removes it and the server when the guardian has ended for any reason. If both processes end at the same
    /// time, the start of the next server removes the folder.
    fn prepare(&self, guardian: u32) -> io::Result<()> {
        let users = unprivileged().map(|(user, _)| user).into_iter().chain([geteuid().as_raw()]);
        if let Some(parent) = self.folder.parent() {
            owner::clear_leftovers(parent, &users.collect::<Vec<_>>());
        }
        fs::create_dir_all(&self.folder)?;
        fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
        owner::sign(&self.folder, guardian)?;
        self.watch(guardian)?;
        if let Some((user, group)) = unprivileged_user() {
            chown(&self.folder, Some(user), Some(group))?;
        }
        Ok(())
    }

    /// Creates the files of a new server.
    fn make_files(&self, arguments: &[String]) -> io::Result<()> {
        let mut command = self.command("initdb")?;
        command.args(["--no-sync", "--locale=C", "--encoding=UTF8", "--auth=trust", "--no-instructions"]);
        command.args(arguments);
        succeed(command.args(["--username", USER, "--pgdata"]).arg(self.folder.join("data")))?;
        Ok(())
    }

    fn watch(&self, guardian: u32) -> io::Result<()> {
        const SCRIPT: &str = "while kill -0 $1 2>/dev/null; do sleep 1; done; \
            test -f $2/$3 && kill -9 $(cat $2/$3); for i in 1 2 3 4 5; do rm -rf $2 $2.lock && break; sleep 1; done";
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh", &guardian.to_string()]).arg(&self.folder).arg(owner::PROCESS);
        quiet(&mut command).process_group(0).spawn()?;
        Ok(())
    }

    fn spawn(&self) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = self.command("postgres")?;
        command.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder).args(["-p", PORT]);
        command.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
        command.arg("-c").arg(format!("external_pid_file={}", self.folder.join(owner::PROCESS).display()));
        quiet(&mut command).stderr(log).process_group(0).spawn()
    }

    /// A program of PostgreSQL, as a command that runs under a suitable user.
    fn command(&self, program: &str) -> io::Result<Command> {
        let mut command = Command::new(programs().ok_or(io::ErrorKind::NotFound)?.join(program));
        command.current_dir(&self.folder);
        if let Some((user, group)) = unprivileged_user() {
            command.uid(user).gid(group);
        }
        Ok(command)
    }

    fn answers(&self) -> io::Result<bool> {
        let mut command = self.command("pg_isready")?;
        let status = quiet(command.arg("--host").arg(&self.folder).args(["--port", PORT])).status()?;
        Ok(status.success())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if !self.is_shared {
            self.kill();
            owner::remove(&self.folder);
        }
    }
}

impl PostgresDatabase {
    /// The URL of the database, as programs under test receive it.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@localhost:{PORT}/{}?host={}", self.name, self.folder.display())
    }

    /// Runs SQL with `psql`, independently of the program under test. Returns the output: one line for each row, columns separated by `|`.
    ///
    /// # Errors
    /// Returns an error with the message of the server if the server rejects the SQL.
    pub fn psql(&self, sql: &str) -> io::Result<String> {
        psql(&self.folder, &self.name, sql)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // If this fails, the database is removed together with the server.
        drop(psql(&self.folder, "postgres", &format!("drop database if exists {} with (force)", self.name)));
    }
}

fn psql(folder: &Path, database: &str, sql: &str) -> io::Result<String> {
    let program = programs().ok_or(io::ErrorKind::NotFound)?.join("psql");
    let mut command = Command::new(program);
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--file=-"]);
    command.arg("--host").arg(folder).args(["--port", PORT, "--username", USER, "--dbname", database]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(sql.as_bytes())?;
    }
    Ok(String::from_utf8_lossy(&checked(child.wait_with_output()?)?.stdout).trim_end().to_owned())
}

/// The folder with the programs of PostgreSQL: from the search path, or else the newest version in the folder that Debian uses. It is found once: starting
/// a program takes time on virtual machines, and servers are polled while they start.
fn programs() -> Option<&'static Path> {
    static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let found = Command::new("sh").args(["-c", "command -v initdb"]).output().ok()?.stdout;
        // The program may be a link into the folder with all programs.
        if let Ok(program) = fs::canonicalize(String::from_utf8_lossy(&found).trim()) {
            return program.parent().map(Path::to_owned);
        }
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let versions = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
        versions.filter(|folder| folder.join("initdb").is_file()).max()
    });
    FOLDER.as_deref()
}

fn is_superuser() -> bool {
    geteuid().is_root()
}

/// The user and group that run the server, if they are not the current user.
fn unprivileged_user() -> Option<(u32, u32)> {
    unprivileged().filter(|_| is_superuser())
}

/// The user and group that run the server if the current user is root.
fn unprivileged() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |name: &str| {
        let mut fields = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody"))
}

/// Connects the input and outputs of the command to `/dev/null`. Otherwise the caller of this process waits for the server to end, because it reads the
/// inherited outputs.
fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn succeed(command: &mut Command) -> io::Result<Output> {
    checked(command.stdin(Stdio::null()).output()?)
}

fn checked(output: Output) -> io::Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// The tests of the hub also run on PostgreSQL. Where PostgreSQL is absent, they count as skipped. This test checks the guarantees that they rely
    /// on.
    #[test]
    fn committed_data_survives_a_kill() {
        if let Err(reason) = availability() {
            println!("skipped: {reason}");
            return;
        }
        let server = PostgresServer::start_private(&[]).unwrap();
        let database = server.create_database().unwrap();
        database.psql("create table t (x int); insert into t values (7)").unwrap();
        server.kill();
        assert!(database.psql("select x from t").is_err());
        server.start().unwrap();
        assert_eq!(database.psql("select x from t").unwrap(), "7");
        server.stop().unwrap();
        server.start().unwrap();
        let folder = server.folder.clone();
        drop((database, server));
        assert!(!folder.exists());
    }

    #[test]
    fn only_servers_without_an_owner_are_removed() {
        if let Err(reason) = availability() {
            println!("skipped: {reason}");
            return;
        }
        let (left, kept) = (PostgresServer::start_private(&[]).unwrap(), PostgresServer::start_private(&[]).unwrap());
        let mut gone = Command::new("true").spawn().unwrap();
        owner::sign(&left.folder, gone.id()).unwrap();
        gone.wait().unwrap();
        let next = PostgresServer::start_private(&[]).unwrap();
        assert!(!left.folder.exists() && kept.answers().unwrap() && next.answers().unwrap());
        let ended = left.child.lock().unwrap().as_mut().unwrap().wait().unwrap();
        assert_eq!(ended.signal(), Some(9));
    }
}
