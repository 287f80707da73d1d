//! The programs that checks and tests need besides Rust: their purpose, whether they are installed, and how to install them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, iter};

use crate::workspace;

/// The test runner of `cargo xtask test`.
pub(crate) const NEXTEST: CargoTool = CargoTool { name: "cargo-nextest", arguments: &["--version", "^0.9"] };
/// Checks dependencies. It is built without optimization, which takes 45 seconds instead of many minutes, because it runs only for a second.
pub(crate) const DENY: CargoTool =
    CargoTool { name: "cargo-deny", arguments: &["--version", "^0.20", "--no-default-features", "--debug"] };

/// Runs the fuzz targets. It needs a nightly toolchain too.
pub(crate) const FUZZ: CargoTool = CargoTool { name: "cargo-fuzz", arguments: &["--version", "^0.13"] };

/// The system packages that tests with real programs need.
const SYSTEM_PACKAGES: &[SystemPackage] = &[
    SystemPackage {
        name: "git",
        why: "every test with a repository; `git http-backend` serves them",
        is_installed: has_git,
        starts_service: false,
    },
    // The tests run only its `sshd`, on a separate port.
    SystemPackage {
        name: "openssh-server",
        why: "repositories over SSH",
        is_installed: has_sshd,
        starts_service: true,
    },
    SystemPackage {
        name: "curl",
        why: "the commands of the how-to pages",
        is_installed: || is_on_path("curl"),
        starts_service: false,
    },
    SystemPackage {
        name: "unzip",
        why: "Helm, from a package of Python's registry",
        is_installed: || is_on_path("unzip"),
        starts_service: false,
    },
    SystemPackage { name: "faketime", why: "a clock that jumps", is_installed: has_faketime, starts_service: false },
    // The tests start both as separate servers, in temporary folders.
    SystemPackage {
        name: "nginx-light",
        why: "repositories behind a web server with authentication",
        is_installed: || is_on_path("nginx") || Path::new("/usr/sbin/nginx").exists(),
        starts_service: true,
    },
    SystemPackage {
        name: "fcgiwrap",
        why: "runs `git http-backend` for nginx",
        is_installed: || is_on_path("fcgiwrap") || Path::new("/usr/sbin/fcgiwrap").exists(),
        starts_service: true,
    },
    SystemPackage {
        name: "chromium",
        why: "the pages in a browser",
        is_installed: || ["chromium", "chromium-browser", "google-chrome"].into_iter().any(is_on_path),
        starts_service: false,
    },
    SystemPackage {
        name: "chromium-driver",
        why: "drives the browser",
        is_installed: || is_on_path("chromedriver"),
        starts_service: false,
    },
    // The tests start separate servers, in temporary folders.
    SystemPackage {
        name: "postgresql",
        why: "the hub on PostgreSQL",
        is_installed: has_postgres,
        starts_service: true,
    },
];

/// A program from cargo's registry.
pub(crate) struct CargoTool {
    /// The name of the package and of its program.
    name: &'static str,
    /// The arguments for `cargo install`, besides `--locked`.
    arguments: &'static [&'static str],
}

/// A package of Debian and of distributions based on it.
struct SystemPackage {
    name: &'static str,
    why: &'static str,
    is_installed: fn() -> bool,
    /// Whether the installation starts a service that opens a port. Then it also needs the user's consent.
    starts_service: bool,
}

/// The permission to install programs on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permission {
    power: Power,
    /// Whether the user asked for the installation of missing programs.
    has_consent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    None,
    Root,
    Sudo,
}

impl Permission {
    /// Determines the permission. Root and users with password-less sudo may install, and everyone else if `has_consent` is set.
    pub(crate) fn of_this_run(has_consent: bool) -> Self {
        let user = Command::new("id").arg("-u").output().map(|output| output.stdout).unwrap_or_default();
        let power = match user.trim_ascii() {
            b"0" => Power::Root,
            _ if has_consent || succeeds("sudo", &["-n", "true"]) => Power::Sudo,
            _ => Power::None,
        };
        Self { power, has_consent }
    }

    fn covers(self, package: &SystemPackage, has_services: bool) -> bool {
        self.power != Power::None && (self.has_consent || !(package.starts_service && has_services))
    }
}

/// Installs the tool if it is missing and the permission allows it.
///
/// # Errors
/// Returns the reason and advice if the tool is still missing.
pub(crate) fn require_cargo_tool(tool: &CargoTool, permission: Permission) -> Result<(), String> {
    if is_on_path(tool.name) {
        return Ok(());
    }
    let arguments = ["install", tool.name, "--locked"].iter().chain(tool.arguments).copied().collect::<Vec<_>>();
    let advice = format!("{} is missing; `cargo {}` installs it", tool.name, arguments.join(" "));
    if permission.power == Power::None {
        return Err(advice);
    }
    println!("installing {}", tool.name);
    // The build of the tool must not use this workspace's target folder and flags.
    let status = workspace::cargo()
        .args(&arguments)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .status();
    let installed = status.is_ok_and(|status| status.success()) && is_on_path(tool.name);
    if installed { Ok(()) } else { Err(format!("cannot install it: {advice}")) }
}

/// Installs the missing system packages that the permission allows.
///
/// # Errors
/// Returns the reasons and advice if packages are still missing.
pub(crate) fn require_system_packages(permission: Permission) -> Result<(), String> {
    let missing = || SYSTEM_PACKAGES.iter().filter(|package| !(package.is_installed)());
    let has_services = Path::new("/run/systemd/system").exists();
    let allowed = missing().filter(|package| permission.covers(package, has_services));
    let names: Vec<&str> = allowed.map(|package| package.name).collect();
    if !names.is_empty() && is_on_path("apt-get") {
        println!("installing {}", names.join(", "));
        apt_get(permission, &["update", "--quiet"]);
        apt_get(permission, &[&["install", "--yes", "--quiet", "--no-install-recommends"], names.as_slice()].concat());
    }
    let still_missing: Vec<&SystemPackage> = missing().collect();
    if still_missing.is_empty() { Ok(()) } else { Err(advice(&still_missing)) }
}

fn advice(missing: &[&SystemPackage]) -> String {
    let reasons: Vec<String> = missing.iter().map(|package| format!("{} ({})", package.name, package.why)).collect();
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    let (reasons, names) = (reasons.join(", "), names.join(" "));
    format!("missing: {reasons}; `apt-get install {names}`, its like on your system, or `--install` installs them")
}

fn apt_get(permission: Permission, arguments: &[&str]) {
    let mut command = Command::new(if permission.power == Power::Sudo { "sudo" } else { "apt-get" });
    if permission.power == Power::Sudo {
        command.arg("apt-get");
    }
    // The status does not matter: the caller checks afterwards which packages are installed.
    let _ = command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
}

fn has_git() -> bool {
    let output = Command::new("git").arg("--exec-path").output().map(|output| output.stdout).unwrap_or_default();
    let folder = String::from_utf8_lossy(&output).trim().to_owned();
    !folder.is_empty() && Path::new(&folder).join("git-http-backend").exists()
}

fn has_sshd() -> bool {
    // sshd must be started by its absolute path. Its folder is often only on root's search path.
    Path::new("/usr/sbin/sshd").exists() || is_on_path("sshd")
}

fn has_faketime() -> bool {
    // The tests use the library of the program, which is in a folder for each platform.
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let has_library = |folder: &Path| folder.join("faketime/libfaketimeMT.so.1").exists();
    folders.chain(["/usr/lib64".into(), "/usr/local/lib".into()]).any(|folder| has_library(&folder))
}

fn has_postgres() -> bool {
    // Debian installs the server's programs outside of the search path, in one folder for each version.
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    is_on_path("initdb") || versions.into_iter().any(|version| version.path().join("bin/initdb").exists())
}

fn is_on_path(program: &str) -> bool {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    // `cargo install` puts programs into this folder, even if it is not on the shell's search path.
    let cargo_home = env::var_os("CARGO_HOME").map(Into::into).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders = env::split_paths(&path).chain(iter::once(cargo_home).flatten().map(|home| home.join("bin")));
    folders.into_iter().any(|folder| folder.join(&file).is_file())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SUCH_TOOL: CargoTool = CargoTool { name: "cargo-no-such-tool", arguments: &["--debug"] };
    const THING: SystemPackage =
        SystemPackage { name: "thing", why: "a test", is_installed: || false, starts_service: true };

    #[test]
    fn without_permission_the_advice_is_complete() {
        let advice =
            require_cargo_tool(&NO_SUCH_TOOL, Permission { power: Power::None, has_consent: false }).unwrap_err();
        let command = "`cargo install cargo-no-such-tool --locked --debug`";
        assert_eq!(advice, format!("cargo-no-such-tool is missing; {command} installs it"));
    }

    #[test]
    fn missing_packages_are_named_with_their_reasons() {
        assert!(advice(&[&THING]).starts_with("missing: thing (a test); `apt-get install thing`"));
    }

    #[test]
    fn packages_with_services_need_consent() {
        let covers =
            |has_consent, has_services| Permission { power: Power::Root, has_consent }.covers(&THING, has_services);
        assert!(covers(true, true) && covers(false, false) && !covers(false, true));
        assert!(!Permission { power: Power::None, has_consent: false }.covers(&THING, false));
    }

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(is_on_path("git"));
        assert!(!is_on_path("cargo-no-such-tool"));
    }
}
