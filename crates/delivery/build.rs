//! Computes the digest of the code on which the results of compiling depend.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest as _, Sha256};

/// The code that computes results, relative to this crate. The lock file covers all external crates.
const CODE: &[&str] = &["../engine/src", "../gotemplate/src", "../model/src", "src", "../../Cargo.lock"];

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut digest = Sha256::new();
    for path in CODE {
        println!("cargo::rerun-if-changed={path}");
        for file in files(&here.join(path))? {
            let content = fs::read(&file)?;
            digest.update(file.strip_prefix(&here)?.to_string_lossy().as_bytes());
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        }
    }
    let digest: String = digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=KALYPSO_CODE_DIGEST={digest}");
    Ok(())
}

/// All files at and below a path, in the order of their names.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut found, mut rest) = (Vec::new(), vec![path.to_owned()]);
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                rest.push(entry?.path());
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
