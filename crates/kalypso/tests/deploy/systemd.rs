//! The unit of systemd, and its user.

use std::fs;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::machine::Machine;
use crate::page;
use crate::unit::Unit;

const UNIT: &str = "deploy/systemd/kalypso.service";
const USER: &str = "deploy/systemd/kalypso.sysusers.conf";
const PROGRAM: &str = "/usr/local/bin/kalypso";

/// The highest exposure that `systemd-analyze security` may find, in tenths: 0 is none, 100 the highest. What is left: the service uses the network and
/// sockets on this machine, from and to any address, in the root folder of the machine.
const EXPOSURE_MAX: &str = "11";

/// The output of a program of systemd. None if it is not installed.
fn run(command: &mut Command) -> Option<Output> {
    let output = command.env("SYSTEMD_COLORS", "0").output();
    output.inspect_err(|error| println!("skipped: {}: {error}", command.get_program().display())).ok()
}

/// A folder with the unit. Its program is the one under test.
fn installed() -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = page::text(UNIT);
    assert!(text.contains(PROGRAM));
    fs::write(folder.path().join("kalypso.service"), text.replace(PROGRAM, env!("CARGO_BIN_EXE_kalypso"))).unwrap();
    folder
}

#[test]
fn systemd_accepts_the_unit_without_a_warning() {
    let folder = installed();
    let mut command = Command::new("systemd-analyze");
    command.current_dir(folder.path()).args(["verify", "--man=no", "./kalypso.service"]);
    let Some(output) = run(&mut command) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    // Units of this machine may have warnings, too.
    assert!(output.status.success() && !said.contains("kalypso.service"), "{said}");
    fs::write(folder.path().join("kalypso.service"), "[Service]\nExecStart=/no/such/program\nNoSuch=1\n").unwrap();
    let said = String::from_utf8(run(&mut command).unwrap().stderr).unwrap();
    assert!(said.contains("NoSuch") && said.contains("/no/such/program"), "{said}");
}

#[test]
fn the_exposure_of_the_unit_stays_low() {
    let folder = installed();
    let mut command = Command::new("systemd-analyze");
    command.current_dir(folder.path()).args(["security", "--no-pager", "--offline=true"]);
    let Some(output) = run(command.arg(format!("--threshold={EXPOSURE_MAX}")).arg("./kalypso.service")) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unrecognized option") {
        println!("skipped: this systemd is older than 250: {said}");
        return;
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_user_of_the_unit_is_created_with_its_home_folder() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("etc")).unwrap();
    let user = page::repository(USER).canonicalize().unwrap();
    let mut command = Command::new("systemd-sysusers");
    command.arg(format!("--root={}", root.path().display())).arg("-").stdin(fs::File::open(user).unwrap());
    let Some(output) = run(&mut command) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let unit = Unit::parse(&page::text(UNIT));
    let users = fs::read_to_string(root.path().join("etc/passwd")).unwrap();
    let fields: Vec<_> = users.trim().split(':').collect();
    assert_eq!((fields[0], fields[5]), (unit.one("User"), unit.one("WorkingDirectory")), "{users}");
    let groups = fs::read_to_string(root.path().join("etc/group")).unwrap();
    assert!(groups.starts_with(&format!("{}:", unit.one("Group"))), "{groups}");
}

#[test]
fn the_command_line_of_the_unit_serves_reloads_and_stops() {
    let unit = Unit::parse(&page::text(UNIT));
    let configuration = &page::blocks("toml")[0];
    let mut machine = Machine::new(configuration);
    for variable in unit.all("Environment") {
        let (name, value) = variable.split_once('=').unwrap();
        machine.set(name, value);
    }
    machine.set("HOME", unit.one("WorkingDirectory"));
    machine.set("KALYPSO_HOST_TOKEN", "token");
    let mut words = unit.one("ExecStart").split_whitespace().map(str::to_owned);
    assert_eq!(words.next().as_deref(), Some(PROGRAM));
    // Another test may use the default port.
    let arguments: Vec<_> = words.chain(["--listen=127.0.0.1:8080".to_owned()]).collect();
    let mut running = machine.start(&arguments);
    assert!(machine.path("/var/lib/kalypso/kalypso.db").exists());
    assert_eq!(unit.one("ExecReload"), "kill -HUP $MAINPID");
    machine.configure(&configuration.replace("[hub]", "[hub]\nno-such-key = 1"));
    running.signal(Signal::SIGHUP);
    running.wait_for("no-such-key");
    running.stop();
    // systemd may send both while the program starts.
    machine.configure(configuration);
    let mut starting = machine.spawn(&arguments);
    starting.signal(Signal::SIGHUP);
    starting.stop();
}

#[test]
fn wrong_configuration_ends_without_a_systemd_restart() {
    let unit = Unit::parse(&page::text(UNIT));
    let machine = Machine::new("[no-such-table]\n");
    let status = machine.run(&["serve", "--config", "/etc/kalypso/kalypso.toml"]).status;
    assert_eq!(status.code().unwrap().to_string(), unit.one("RestartPreventExitStatus"));
}
