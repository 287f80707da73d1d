//! Runs the steps of a Dockerfile: those of the first stage on this machine, those of the last stage in a base system of Debian.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::dockerfile::{Dockerfile, Stage, Step};
use super::output;
use crate::workspace;

const MIRROR: &str = "http://deb.debian.org/debian";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The files that the `slim` images of Debian leave out.
const LEFT_OUT: &[&str] = &["/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*"];

/// A root folder, and how its process starts.
#[derive(Debug, Default)]
pub(super) struct Image {
    pub(super) root: PathBuf,
    pub(super) variables: Vec<(String, String)>,
    pub(super) working_folder: String,
    /// The numbers of user and group.
    pub(super) user: (String, String),
    pub(super) volumes: Vec<String>,
    pub(super) port: String,
    pub(super) entrypoint: Vec<String>,
    pub(super) command: Vec<String>,
}

impl Image {
    /// Builds the image in a folder.
    pub(super) fn build(dockerfile: &Dockerfile, folder: &Path) -> Result<Self> {
        // Stages between them only export files.
        let [compiling, .., last] = &dockerfile.stages[..] else { bail!("the Dockerfile does not have two stages") };
        let compiled = compile(compiling, folder)?;
        let mut image = Self { root: folder.join("root"), ..Self::default() };
        let mut hooks = Hooks { folder, compiled: &compiled, files: Vec::new() };
        let mut variables = vec![("PATH".to_owned(), PATH.to_owned())];
        for step in &last.steps {
            match step {
                Step::Run(command) => hooks.run(command, &variables)?,
                Step::Copy(from, source, target) => {
                    ensure!(
                        from.as_ref() == Some(&compiling.name),
                        "COPY {source}: it is not from `{}`",
                        compiling.name
                    );
                    hooks.copy(source, target)?;
                }
                Step::WorkingFolder(path) => hooks.add(&format!("mkdir -p \"$1{path}\"\n"))?,
                Step::Variable { name, value, .. } => variables.push((name.clone(), value.clone())),
                _ => {}
            }
            image.note(step)?;
        }
        image.variables.insert(0, ("PATH".to_owned(), PATH.to_owned()));
        debootstrap(&last.base, &image.root, &hooks.files)?;
        Ok(image)
    }

    /// Notes how the process starts.
    fn note(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Variable { name, value, is_kept: true } => self.variables.push((name.clone(), value.clone())),
            Step::WorkingFolder(path) => self.working_folder.clone_from(path),
            Step::User(user) => {
                let (user, group) = user.split_once(':').context("USER has no group")?;
                self.user = (user.to_owned(), group.to_owned());
            }
            Step::Volumes(volumes) => self.volumes.clone_from(volumes),
            Step::Port(port) => self.port.clone_from(port),
            Step::Entrypoint(words) => self.entrypoint.clone_from(words),
            Step::Command(words) => self.command.clone_from(words),
            Step::Run(_) | Step::Copy(..) | Step::Label | Step::Variable { .. } => {}
        }
        Ok(())
    }
}

/// Runs the stage that compiles, with the folders of this machine. Returns the folder that stands for `/out`.
///
/// The steps before `COPY` prepare the system. Here, this machine is the system.
fn compile(stage: &Stage, folder: &Path) -> Result<PathBuf> {
    let out = folder.join("out");
    let (root, target) = (workspace::root(), workspace::target());
    let here = [("/src/target", &target), ("/src", &root), ("/out", &out)];
    let translated = |text: &str| {
        here.iter().fold(text.to_owned(), |text, (path, here)| text.replace(path, &here.to_string_lossy()))
    };
    let prepares = |step: &&Step| !matches!(step, Step::Copy(..));
    for step in stage.steps.iter().take_while(prepares) {
        if let Step::Run(command) = step {
            println!("not run, because this machine compiles: {command}");
        }
    }
    let mut variables = Vec::new();
    for step in stage.steps.iter().skip_while(prepares) {
        match step {
            Step::Run(command) => {
                println!("running on this machine: {command}");
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(translated(command)).current_dir(&root).envs(variables.iter().cloned());
                let status = shell.status().context("cannot start a shell")?;
                ensure!(status.success(), "it failed: {status}");
            }
            Step::Variable { name, value, .. } => variables.push((name.clone(), translated(value))),
            _ => {}
        }
    }
    check_context(&target)?;
    Ok(out)
}

/// Checks that `COPY . .` copies all files that the compiler read. The lines of `.dockerignore` with `!` list the copied files.
fn check_context(target: &Path) -> Result<()> {
    let root = workspace::root();
    let ignored = fs::read_to_string(root.join(".dockerignore")).context("cannot read .dockerignore")?;
    let copied: Vec<_> =
        ignored.lines().filter_map(|line| line.strip_prefix('!')).map(|path| root.join(path)).collect();
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let list = target.join(triple).join("dist/kalypso.d");
    let list = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let (_, files) = list.split_once(':').context("the compiler listed no files")?;
    let files: Vec<_> = files.split_whitespace().map(Path::new).filter(|file| file.starts_with(&root)).collect();
    ensure!(!files.is_empty(), "the compiler listed no files of this folder");
    let missing = files.iter().find(|file| !copied.iter().any(|path| file.starts_with(path)));
    ensure!(
        missing.is_none(),
        ".dockerignore excludes {}, which the program contains",
        missing.unwrap_or(&root.as_path()).display()
    );
    println!("the context contains all {} files of the program", files.len());
    Ok(())
}

/// The steps as programs that `mmdebstrap` starts with the root folder as their argument.
struct Hooks<'a> {
    folder: &'a Path,
    compiled: &'a Path,
    files: Vec<PathBuf>,
}

impl Hooks<'_> {
    /// A step that runs a command in the root folder.
    fn run(&mut self, command: &str, variables: &[(String, String)]) -> Result<()> {
        let text = self.folder.join(format!("step-{}.command", self.files.len()));
        fs::write(&text, command)?;
        let variables: String = variables.iter().map(|(name, value)| format!(" '{name}={value}'")).collect();
        self.add(&format!("exec chroot \"$1\" /usr/bin/env -i{variables} /bin/sh -c \"$(cat '{}')\"\n", text.display()))
    }

    /// A step that copies a file of the stage that compiles.
    fn copy(&mut self, source: &str, target: &str) -> Result<()> {
        let file = source.strip_prefix("/out/").with_context(|| format!("COPY {source}: it is not in /out"))?;
        let source = self.compiled.join(file);
        check_static(&source)?;
        self.add(&format!("cp '{}' \"$1{target}\"\n", source.display()))
    }

    fn add(&mut self, script: &str) -> Result<()> {
        let file = self.folder.join(format!("step-{}.sh", self.files.len()));
        fs::write(&file, format!("#!/bin/sh\nset -e\n{script}"))?;
        fs::set_permissions(&file, Permissions::from_mode(0o755))?;
        self.files.push(file);
        Ok(())
    }
}

/// Asserts that a program needs no library and no dynamic linker.
fn check_static(program: &Path) -> Result<()> {
    let headers = output(Command::new("readelf").args(["--program-headers", "--dynamic", "--wide"]).arg(program))?;
    ensure!(!headers.contains("INTERP") && !headers.contains("(NEEDED)"), "{} is not static", program.display());
    println!("{} is static: {} MB", program.display(), fs::metadata(program)?.len() >> 20);
    Ok(())
}

/// Makes the base system, and runs the steps in it.
fn debootstrap(base: &str, root: &Path, steps: &[PathBuf]) -> Result<()> {
    let suite = base.strip_prefix("debian:").and_then(|base| base.strip_suffix("-slim"));
    let suite = suite.with_context(|| format!("the base `{base}` is not a slim image of Debian"))?;
    println!("making Debian {suite}, and running {} steps in it", steps.len());
    let mut command = Command::new("mmdebstrap");
    command.args(["--variant=minbase", "--quiet"]);
    command.args(LEFT_OUT.iter().map(|path| format!("--dpkgopt=path-exclude={path}")));
    command.args(steps.iter().map(|step| format!("--customize-hook={}", step.display())));
    let status = command.arg(suite).arg(root).arg(MIRROR).status();
    let status = status.context("cannot start mmdebstrap; `apt-get install mmdebstrap` installs it")?;
    ensure!(status.success(), "mmdebstrap: {status}");
    Ok(())
}
