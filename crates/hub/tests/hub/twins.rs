//! Runs each test on both databases.

use std::future::Future;
use std::os::unix::process::parent_id;
use std::sync::OnceLock;
use std::{env, process};

use hub::store::{Database, DatabaseUrl};
use libtest_mimic::Trial;
use tempfile::TempDir;
use testkit::postgres::{PostgresDatabase, PostgresServer, availability, shared_folder};

/// An empty database with its tables. Only one test uses it.
pub(crate) struct Ground {
    pub(crate) database: Database,
    pub(crate) url: DatabaseUrl,
    /// The same database on PostgreSQL, for programs other than the hub.
    pub(crate) postgres: Option<PostgresDatabase>,
    _folder: TempDir,
}

impl Ground {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("hub.db"));
        Self { database: Database::open(&url).await.unwrap(), url, postgres: None, _folder: folder }
    }

    pub(crate) async fn postgres() -> Self {
        static SERVER: OnceLock<PostgresServer> = OnceLock::new();
        let database = SERVER.get_or_init(server).create_database().unwrap();
        let url = DatabaseUrl::Postgres(database.url());
        let folder = tempfile::tempdir().unwrap();
        Self { database: Database::open(&url).await.unwrap(), url, postgres: Some(database), _folder: folder }
    }
}

/// The server of this process, or of all processes that nextest starts in one run.
fn server() -> PostgresServer {
    let (run, guardian) = match env::var("NEXTEST_RUN_ID") {
        Ok(run) => (run, parent_id()),
        Err(_) => (process::id().to_string(), process::id()),
    };
    PostgresServer::shared(&shared_folder(env::temp_dir()).join(format!("kalypso-pg-{run}")), guardian).unwrap()
}

/// A test on both databases.
pub(crate) fn on_both<F: Future<Output = ()> + 'static>(name: &str, test: fn(Ground) -> F) -> [Trial; 2] {
    [on_sqlite(name, test), on_postgres(name, async move || test(Ground::postgres().await).await)]
}

/// A test on SQLite only.
pub(crate) fn on_sqlite<F: Future<Output = ()> + 'static>(name: &str, test: fn(Ground) -> F) -> Trial {
    let run = move || {
        wait(async move { test(Ground::sqlite().await).await });
        Ok(())
    };
    Trial::test(format!("{name}::sqlite"), run)
}

/// A test on PostgreSQL only.
pub(crate) fn on_postgres<F>(name: &str, test: F) -> Trial
where
    F: AsyncFnOnce() + Send + 'static,
{
    let is_skipped = availability().inspect_err(|reason| eprintln!("skipped: {name}::postgres: {reason}")).is_err();
    let run = move || {
        wait(test());
        Ok(())
    };
    Trial::test(format!("{name}::postgres"), run).with_ignored_flag(is_skipped)
}

/// Runs a future to its end.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Defines `trials()` of a module: each of these tests on both databases, and those after a semicolon on PostgreSQL only.
macro_rules! twins {
    ($($test:ident),* $(,)? $(; $($of_postgres:ident),* $(,)?)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            let name = |test: &str| format!("{}::{test}", module_path!().trim_start_matches("hub::"));
            let of_both: Vec<[libtest_mimic::Trial; 2]> = vec![$($crate::twins::on_both(&name(stringify!($test)), $test)),*];
            let of_postgres = vec![$($($crate::twins::on_postgres(&name(stringify!($of_postgres)), $of_postgres)),*)?];
            of_both.into_iter().flatten().chain(of_postgres).collect()
        }
    };
}
