//! Tests of written folders: only Kalypso's own folders are written, each file is complete, also after interruptions.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::objects::{cluster_type, config, policy, templates, workload};

use crate::company::{Company, Ran, folder_text, kalypso};

const RECEIPT: &str = ".kalypso/render.json";

#[test]
fn folder_with_other_files_is_not_written_without_force() {
    let company = Company::new();
    fs::create_dir(company.path("out")).unwrap();
    fs::write(company.path("out/mine.txt"), "mine").unwrap();
    company.kalypso("render -e dev --out out").ends(64).says(&["not empty", "--force"]);
    assert_eq!(folder_text(&company.path("out")), "--- mine.txt\nmine\n");
    company.kalypso("render -e dev --out out --force").ends(0);
    assert_eq!(fs::read_to_string(company.path("out/mine.txt")).unwrap(), "mine");
}

#[test]
fn removed_assignments_are_deleted_and_foreign_files_stay() {
    let company = Company::new();
    company.kalypso("render -e dev --out out").ends(0);
    fs::write(company.path("out/mine.txt"), "mine").unwrap();
    company.remove("control-plane", "dev", "cluster-types/east.yaml");
    company.kalypso("render -e dev --out out").ends(0);
    assert!(!company.path("out/east").exists());
    assert!(company.path("out/west/shop-test/platform-config.yaml").exists() && company.path("out/mine.txt").exists());
}

#[test]
fn blocking_files_and_unwritable_folders_are_reported() {
    let company = Company::new();
    fs::write(company.path("file"), "mine").unwrap();
    company.kalypso("render -e dev --out file").ends(69).says(&["`file"]);
    company.kalypso("render -e dev --out file/out").ends(69).says(&["file/out"]);
    assert_eq!(fs::read_to_string(company.path("file")).unwrap(), "mine");
    let closed = company.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(closed.join("probe"), "").is_ok() {
        eprintln!("skipped: the superuser may write everywhere");
        return;
    }
    company.kalypso("render -e dev --out closed/out").ends(69).says(&["closed/out", "denied"]);
}

#[test]
fn a_full_disk_leaves_whole_files() {
    let company = Company::new();
    let disk = company.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).output();
        status.is_ok_and(|output| output.status.success())
    };
    if !mount("size=64k") {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    }
    let unmount = Unmount(&disk);
    let big = "x".repeat(50_000);
    company.change("control-plane@dev", "configs/big.yaml", &config("big", "", &format!("BIG: {big}")));
    company.kalypso("render -e dev --out disk/out").ends(69).says(&["disk/out", "can't be written", "next run"]);
    assert!(!disk.join("out").join(RECEIPT).exists());
    assert!(!folder_text(&disk).contains(".kalypso-new-"));
    drop(unmount);
}

#[test]
fn run_on_a_full_disk_does_not_block_the_next_run() {
    let company = Company::new();
    let disk = company.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    }
    let _unmount = Unmount(&disk);
    // The file system is full. An empty folder and an empty file can still be created.
    let filled = fs::File::create(disk.join("full")).and_then(|mut file| io::copy(&mut io::repeat(0), &mut file));
    assert_eq!(filled.unwrap_err().kind(), io::ErrorKind::StorageFull);
    company.kalypso("render -e dev --out disk/out").ends(69).says(&["can't be written", "the next run goes on"]);
    fs::remove_file(disk.join("full")).unwrap();
    Command::new("mount").args(["-o", "remount,size=4m"]).arg(&disk).status().unwrap();
    company.kalypso("render -e dev --out disk/out").ends(0);
    assert!(disk.join("out").join(RECEIPT).exists());
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let company = Company::new();
    company.kalypso("render -e dev --out out").ends(0);
    let elsewhere = company.path("elsewhere");
    fs::rename(company.path("out/west"), &elsewhere).unwrap();
    let before = folder_text(&elsewhere);
    std::os::unix::fs::symlink(&elsewhere, company.path("out/west")).unwrap();
    company.change("control-plane@dev", "configs/new.yaml", &config("new", "", "NEW: value"));
    company.kalypso("render -e dev --out out").ends(69).says(&["out/west", "symbolic link", "remove it"]);
    company.remove("control-plane", "dev", "cluster-types/west.yaml");
    company.kalypso("render -e dev --out out").ends(69).says(&["out/west", "symbolic link", "remove it"]);
    assert_eq!(folder_text(&elsewhere), before);
    fs::remove_file(company.path("out/west")).unwrap();
    company.kalypso("render -e dev --out out").ends(0);
    assert_eq!(folder_text(&elsewhere), before);
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.0).status());
    }
}

/// A plain directory with so many cluster types that rendering takes some time.
fn fleet(folder: &Path, cluster_types: usize) {
    let of_type = |index| cluster_type(&format!("edge-{index}"), "west-us");
    let mut objects: Vec<_> = (0..cluster_types).map(of_type).collect();
    objects.extend(templates().map(|(_, text)| text));
    objects.extend([
        policy("shop", "shop"),
        workload("shop"),
        config("common", "", &format!("A: {}", "x".repeat(500))),
    ]);
    fs::write(folder.join("fleet.yaml"), objects.join("---\n")).unwrap();
}

/// Ends a rendering with a signal. Returns its exit status. None if the rendering ended before the signal.
fn interrupt(folder: &Path, signal: &str) -> Option<std::process::ExitStatus> {
    let mut child: Child = kalypso(folder)
        .args(["render", "--from", "fleet", "-e", "dev", "--out", "out"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The rendering has started when the mark of a running run exists.
    while !folder.join("out/.kalypso/running").exists() {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::yield_now();
    }
    Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    Some(child.wait().unwrap())
}

/// Interrupts a rendering, and checks that the result of the next one is equal to that of a rendering without interruption.
fn check(signal: &str, code: Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("fleet")).unwrap();
    fleet(&path.join("fleet"), 800);
    let Some(status) = interrupt(path, signal) else {
        eprintln!("skipped: the rendering was done before it could be interrupted");
        return;
    };
    assert_eq!(status.code(), code);
    assert!(!path.join("out").join(RECEIPT).exists());
    let part = folder_text(&path.join("out"));
    // Files that were written before and are not desired any more are removed as well.
    fleet(&path.join("fleet"), 20);
    let render = |out: &str| {
        let mut command = kalypso(path);
        Ran::new(command.args(["render", "--from", "fleet", "-e", "dev", "--out", out])).ends(0);
        folder_text(&path.join(out))
    };
    let (next, whole) = (render("out"), render("other"));
    assert!(next == whole, "the next run did not complete the output");
    let shared = |file: &&str| file.split_once('\n').is_some_and(|(path, _)| whole.contains(path));
    for file in part.split("--- ").filter(|file| !file.contains(".kalypso")).filter(shared) {
        assert!(whole.contains(file), "{file}");
    }
}

#[test]
fn an_interrupted_run_is_finished_by_the_next_one() {
    check("-INT", Some(130));
}

#[test]
fn a_killed_run_is_finished_by_the_next_one() {
    check("-KILL", None);
}

#[test]
fn removed_folders_of_unknown_origin_are_listed() {
    let company = Company::new();
    company.write_plain("here");
    company.kalypso("render --from here -e dev --out out").ends(0);
    fs::remove_file(company.path("here/shop.yaml")).unwrap();
    let plan = company.kalypso("plan --from here -e dev --against out").ends(2);
    let plan = plan.says(&["2 assignments are removed", "1 deployment target · 2 cluster types", "  shop-test  - 2  "]);
    assert!(!plan.out.contains("workload"), "{}", plan.out);
    let plan = company.kalypso("plan --from here -e dev --against out -o json").ends(2).json();
    assert_eq!(plan["plans"][0]["changes"][0]["workload"], serde_json::Value::Null);
    assert_eq!(plan["plans"][0]["groups"][0]["workloads"], serde_json::json!(["shop-test"]));
}

/// A folder in `examples`.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Checks a folder as its page in `examples/README.md` does. The check knows this number of assignments.
#[track_caller]
fn check_example(folder: &Path, environment: &str, assignments: u64) {
    let home = tempfile::tempdir().unwrap();
    let arguments = ["check", "--strict", "-e", environment, "-o", "json", "--from"];
    let checked = Ran::new(kalypso(home.path()).args(arguments).arg(folder)).ends(0).json();
    assert_eq!(checked["diagnostics"], serde_json::json!([]));
    assert_eq!(checked["summary"]["assignments"], assignments);
}

#[test]
fn the_examples_that_are_plain_folders_are_good() {
    check_example(&example("one-cluster"), "dev", 1);
    check_example(&example("factories"), "prod", 3);
}

#[test]
fn the_example_of_300_stores_is_good() {
    let folder = tempfile::tempdir().unwrap();
    let stores = folder.path().join("300-stores");
    let script = example("stores/make.sh");
    assert!(Command::new("sh").arg(script).arg(&stores).status().unwrap().success());
    check_example(&stores, "prod", 300);
}
