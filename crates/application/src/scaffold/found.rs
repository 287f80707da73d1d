//! What the folder of a new application contains already.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::object::{Object, Workload};
use model::source::Files;

use super::source::{NewSource, NewSourceKind};
use crate::files::{joined, normalized, read_one};
use crate::project::{ProjectError, workload};
use crate::settings::{ApplicationSettings, FILE_NAME, is_yaml_name};

/// The files in which a workload is searched. New applications have the first one.
pub(super) const WORKLOAD_FILES: [&str; 2] = ["workload/workload.yaml", "workload.yaml"];

/// The folders in which a chart or manifests are searched first.
const USUAL_FOLDERS: [&str; 8] = ["chart", "helm", "kustomize", "manifests", "deploy", "k8s", "charts", ""];

/// What a folder contains.
#[derive(Debug, Default)]
pub struct FoundApplication {
    folder: PathBuf,
    /// The settings of the configuration file, if it exists.
    pub settings: Option<ApplicationSettings>,
    /// The workload with its file, if it exists.
    pub workload: Option<(String, Arc<Object<Workload>>)>,
    /// The sources, the most likely one first.
    pub sources: Vec<NewSource>,
}

impl FoundApplication {
    /// Reads a folder. A folder that does not exist contains nothing.
    ///
    /// # Errors
    /// If its configuration file or its workload is wrong, or can't be read.
    pub fn read(folder: &Path) -> Result<Self, ProjectError> {
        let mut files = Files::default();
        let unreadable = |error| ProjectError::Files { what: "the folder", error };
        let read = |path: &str| {
            let full = folder.join(path);
            full.is_file().then(|| read_one(&full, path)).transpose().map_err(unreadable)
        };
        let mut found = Self { folder: folder.to_owned(), sources: sources(folder), ..Self::default() };
        if let Some(file) = read(FILE_NAME)? {
            let text = String::from_utf8_lossy(&file.content).into_owned();
            match ApplicationSettings::parse(&text, files.add(file)) {
                Ok(settings) => found.settings = Some(settings),
                Err(problems) => return Err(ProjectError::Wrong(files, problems)),
            }
        }
        let named = found.settings.as_ref().and_then(|settings| normalized(&settings.workload));
        let candidates: Vec<_> = match &named {
            Some(named) => vec![named.as_str()],
            None => WORKLOAD_FILES.to_vec(),
        };
        for path in candidates {
            let Some(file) = read(path)? else { continue };
            let id = files.add(file);
            match workload((id, &files.get(id).content)) {
                Ok(workload) => found.workload = Some((path.to_owned(), workload)),
                Err(problems) => return Err(ProjectError::Wrong(files, problems)),
            }
            break;
        }
        Ok(found)
    }

    /// Whether there is a folder.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folder.join(path).is_dir()
    }

    /// The folder with plain manifests, if a usual one has some.
    pub(super) fn manifests(&self) -> Option<String> {
        let has_manifests = |path: &&str| {
            let entries = fs::read_dir(self.folder.join(path)).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| is_yaml_name(&name))
        };
        let folders = ["manifests", "deploy", "k8s"];
        folders.into_iter().find(has_manifests).map(str::to_owned)
    }

    /// The most likely source. `kind` limits the choice.
    pub(super) fn source(&self, kind: Option<NewSourceKind>) -> Option<&NewSource> {
        self.sources.iter().find(|source| kind.is_none_or(|kind| kind == source.kind))
    }
}

/// The charts and the folders for Kustomize: usual folders before others, and charts before folders for Kustomize.
fn sources(folder: &Path) -> Vec<NewSource> {
    let mut folders: Vec<_> = USUAL_FOLDERS.map(str::to_owned).to_vec();
    let below = USUAL_FOLDERS.iter().flat_map(|above| subfolders(folder, above));
    folders.extend(below.filter(|path| !USUAL_FOLDERS.contains(&path.as_str())).collect::<Vec<_>>());
    let has = |path: &str, name: &str| folder.join(path).join(name).is_file();
    let source = |kind, path: &String| NewSource { kind, folder: path.clone(), overlay: None, is_new: false };
    let charts = folders.iter().filter(|path| has(path, "Chart.yaml"));
    let charts = charts.map(|path| source(NewSourceKind::Chart, path));
    let with_overlays = folders.iter().filter(|path| {
        let overlays = subfolders(folder, &joined(path, "overlays"));
        overlays.iter().any(|overlay| has(overlay, "kustomization.yaml"))
    });
    let with_overlays = with_overlays.map(|path| NewSource {
        overlay: Some("overlays/{environment}".to_owned()),
        ..source(NewSourceKind::Kustomize, path)
    });
    let kustomize = folders.iter().filter(|path| has(path, "kustomization.yaml"));
    let kustomize = kustomize.map(|path| source(NewSourceKind::Kustomize, path));
    charts.chain(with_overlays).chain(kustomize).collect()
}

/// The folders in a folder, by name. Hidden ones are left out.
fn subfolders(root: &Path, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut paths: Vec<_> = names.filter(|name| !name.starts_with('.')).map(|name| joined(folder, &name)).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], expected: &[(NewSourceKind, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        for path in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found: Vec<_> = sources(folder.path()).into_iter().map(|source| (source.kind, source.folder)).collect();
        let expected: Vec<_> = expected.iter().map(|(kind, path)| (*kind, (*path).to_owned())).collect();
        assert_eq!(found, expected, "{files:?}");
    }

    #[test]
    fn usual_folders_are_before_others() {
        let (chart, kustomize) = (NewSourceKind::Chart, NewSourceKind::Kustomize);
        check(&["readme.md", ".hidden/Chart.yaml"], &[]);
        check(&["api/Chart.yaml", "helm/Chart.yaml"], &[(chart, "helm"), (chart, "api")]);
        check(&["charts/shop/Chart.yaml", "kustomization.yaml"], &[(chart, "charts/shop"), (kustomize, "")]);
        let overlays = ["deploy/base/kustomization.yaml", "deploy/overlays/dev/kustomization.yaml"];
        check(&overlays, &[(kustomize, "deploy"), (kustomize, "deploy/base")]);
    }
}
