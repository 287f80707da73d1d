//! Published descriptions of APIs, which tests compare requests with. They are data: nothing of them is run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest as _, Sha512};

use crate::workspace;

/// The variable with the folder of GitHub's descriptions.
pub(crate) const GITHUB_VARIABLE: &str = "KALYPSO_GITHUB_OPENAPI";

/// GitHub's descriptions: the npm package `@octokit/openapi`.
const GITHUB: Package = Package {
    name: "octokit-openapi-23.0.2",
    url: "https://registry.npmjs.org/@octokit/openapi/-/openapi-23.0.2.tgz",
    sha512: "a55f0cecbf46636dc0c9b36f4e6a369f28e6a669edebedac444fedaabd192d070f4b8967c3bbb979918d9b044d9010b70fb8195db171e401f32d455105718386",
    folder: "package/generated",
    files: &["api.github.com.json", "ghes-3.19.json"],
};

/// The seconds that a download may take.
const DOWNLOAD_SECONDS: &str = "180";

/// A package of a registry.
struct Package {
    /// The name of its folder.
    name: &'static str,
    url: &'static str,
    /// The digest that the registry lists, in hexadecimal digits.
    sha512: &'static str,
    /// The folder in the package.
    folder: &'static str,
    /// The files in it that tests need.
    files: &'static [&'static str],
}

/// The folder with GitHub's descriptions. Downloads them if they are not there.
///
/// # Errors
/// Returns the reason if they can't be downloaded.
pub(crate) fn github() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os(GITHUB_VARIABLE) {
        return Ok(folder.into());
    }
    GITHUB.get(&workspace::target().join("contracts"))
}

impl Package {
    fn get(&self, contracts: &Path) -> Result<PathBuf, String> {
        let root = contracts.join(self.name);
        let folder = root.join(self.folder);
        if self.files.iter().all(|file| folder.join(file).is_file()) {
            return Ok(folder);
        }
        println!("downloading {}", self.url);
        let unusable = |error: std::io::Error| format!("`{}` can't be written: {error}", contracts.display());
        // The folder gets its name only when it is complete.
        let part = contracts.join(format!("{}.part", self.name));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part).map_err(unusable)?;
        let archive = part.join("package.tgz");
        run(Command::new("curl")
            .args(["--fail", "--silent", "--show-error", "--location", "--max-time", DOWNLOAD_SECONDS, "--output"])
            .arg(&archive)
            .arg(self.url))?;
        self.check(&fs::read(&archive).map_err(unusable)?)?;
        let files = self.files.iter().map(|file| format!("{}/{file}", self.folder));
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&part).args(files))?;
        fs::remove_file(&archive).map_err(unusable)?;
        let _ = fs::remove_dir_all(&root);
        fs::rename(&part, &root).map_err(unusable)?;
        Ok(folder)
    }

    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        let digest: String = Sha512::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if digest == self.sha512 { Ok(()) } else { Err(format!("{} has the wrong digest {digest}", self.url)) }
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed: {status}")),
        Err(error) => Err(format!("{name} can't be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_downloaded_and_what_is_wrong_is_refused() {
        let contracts = tempfile::tempdir().unwrap();
        let package = Package { url: "file:///no/such/package", ..GITHUB };
        assert!(package.get(contracts.path()).unwrap_err().contains("curl"));
        let folder = contracts.path().join("octokit-openapi-23.0.2/package/generated");
        fs::create_dir_all(&folder).unwrap();
        GITHUB.files.iter().for_each(|file| fs::write(folder.join(file), "{}").unwrap());
        assert_eq!(package.get(contracts.path()).unwrap(), folder);
        assert!(package.check(b"another").unwrap_err().contains("the wrong digest"));
    }
}
