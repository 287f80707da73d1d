//! The names for shell completion: the names of environments from their last compilation, and the names of hosts from the hub's last answer. They are
//! stored in the cache, so that completion reads nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use delivery::access::memo_file::MemoFile;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use workbench::listing::kind::ListedKind;
use workbench::listing::object::objects;

use crate::configuration::Settings;
use crate::{cache_key, configuration};

/// From this number of assignments on, the targets of each place are not stored, because reading them would delay the completion.
const ASSIGNMENTS_MAX: usize = 100_000;
/// The maximum number of stored names of a kind.
const NAMES_MAX: usize = 20_000;

/// The prefix of the memo file's subject. It can't be the name of an environment, because it has several words.
const NAMES: &str = "names of";
const ENVIRONMENTS: &str = "names of environments";
const HOSTS: &str = "names of hosts";
/// The first word of a line with the targets of a place.
const ASSIGNED: &str = "on";

/// The names of an environment, by their kind. The names of values are their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: BTreeMap<ListedKind, BTreeSet<String>>,
    /// The targets on each cluster type and cluster. Empty if there are too many.
    pub(crate) assigned: BTreeMap<String, BTreeSet<String>>,
}

/// The source of stored names: a control plane or a plain directory.
pub(crate) struct Subject {
    name: String,
    cache: std::path::PathBuf,
    key: Option<git::CacheKey>,
}

impl Subject {
    /// The given directory, else the given configuration file, else the nearest configuration file. None if none of them exists.
    pub(crate) fn find(from: Option<&Path>, config: Option<&Path>) -> Option<Self> {
        if let Some(directory) = from {
            let cache = configuration::default_cache().ok()?;
            let key = cache_key::for_cache(&cache, None).ok()?;
            return Some(Self { name: fs::canonicalize(directory).ok()?.to_str()?.to_owned(), cache, key });
        }
        let configuration = Settings::read(config).and_then(|settings| settings.control_plane()).ok()?;
        let name = configuration.subject();
        Some(Self { name, cache: configuration.git.cache, key: configuration.git.key })
    }

    fn of_loaded(loaded: &Loaded) -> Option<Self> {
        if let Some(directory) = &loaded.directory {
            return Self::find(Some(Path::new(directory)), None);
        }
        let configuration = &loaded.access.as_ref()?.settings;
        let git = &configuration.git;
        Some(Self { name: configuration.subject(), cache: git.cache.clone(), key: git.key.clone() })
    }

    fn file(&self, of: &str) -> MemoFile {
        MemoFile::of_names((&self.cache, self.key.clone()), &self.name, of)
    }

    /// The environments that were compiled.
    pub(crate) fn environments(&self) -> BTreeSet<String> {
        lines(&self.file(ENVIRONMENTS))
    }

    /// The names of one environment, or of all environments if none is given.
    pub(crate) fn names(&self, environment: Option<&str>) -> Names {
        let all = || self.environments().into_iter().collect();
        let environments = environment.map_or_else(all, |name| vec![name.to_owned()]);
        let mut names = Names::default();
        for environment in environments {
            names.read(&text(&self.file(&format!("{NAMES} {environment}"))));
        }
        names
    }

    /// The hosts from the hub's last answer.
    pub(crate) fn hosts(&self) -> BTreeSet<String> {
        lines(&self.file(HOSTS))
    }
}

/// Stores the names of a compiled environment.
pub(crate) fn remember(loaded: &Loaded, compiled: &Compiled) {
    let Some(subject) = Subject::of_loaded(loaded) else { return };
    let environment = loaded.fleet.environment.as_str();
    save(&subject.file(&format!("{NAMES} {environment}")), &Names::from_compiled(compiled).written());
    add(&subject.file(ENVIRONMENTS), [environment.to_owned()]);
}

/// Stores the names of hosts from an answer of the hub.
pub(crate) fn remember_hosts(config: Option<&Path>, hosts: impl IntoIterator<Item = String>) {
    // Without a configuration file there is no subject to store the names for.
    if let Some(subject) = Subject::find(None, config) {
        add(&subject.file(HOSTS), hosts);
    }
}

fn add(file: &MemoFile, names: impl IntoIterator<Item = String>) {
    let mut all = lines(file);
    all.extend(names.into_iter().filter(|name| !name.contains('\n')));
    let text: String = all.into_iter().take(NAMES_MAX).map(|name| name + "\n").collect();
    save(file, &text);
}

/// Writes a file if its content changes.
fn save(file: &MemoFile, text: &str) {
    if file.load_bytes() != text.as_bytes() {
        file.save_bytes(text.as_bytes());
    }
}

fn text(file: &MemoFile) -> String {
    String::from_utf8(file.load_bytes()).unwrap_or_default()
}

fn lines(file: &MemoFile) -> BTreeSet<String> {
    text(file).lines().map(str::to_owned).collect()
}

impl Names {
    fn from_compiled(compiled: &Compiled) -> Self {
        let (fleet, prepared) = (compiled.fleet(), compiled.prepared());
        let mut names = Self::default();
        for kind in ListedKind::ALL {
            names.add(kind, objects(kind, prepared).map(|listed| listed.name().to_string()));
        }
        // A target that is an object can name a workload that is none.
        let workloads = prepared.targets().iter().map(|target| target.workload());
        names.add(ListedKind::Workload, workloads.filter(|name| !name.is_empty()));
        names.add(ListedKind::Value, fleet.config_maps.values().flat_map(|object| object.spec.data.keys()));
        if compiled.len() <= ASSIGNMENTS_MAX {
            for place in compiled.places() {
                let targets = prepared.targets_on(place.as_str());
                names.assigned.insert(place.to_string(), targets.into_iter().map(ToString::to_string).collect());
            }
        }
        names
    }

    /// Adds names of a kind, until there are [`NAMES_MAX`] of them. Names that fit no line are left out.
    fn add<N: ToString>(&mut self, kind: ListedKind, names: impl Iterator<Item = N>) {
        let known = self.names.entry(kind).or_default();
        for name in names.map(|name| name.to_string()).filter(|name| !name.contains(['\n', '\t'])) {
            if known.len() >= NAMES_MAX {
                break;
            }
            known.insert(name);
        }
    }

    /// The names of a kind.
    pub(crate) fn of_kind(&self, kind: ListedKind) -> impl Iterator<Item = String> + use<'_> {
        self.names.get(&kind).into_iter().flatten().cloned()
    }

    /// The names as text. Each line has a kind and a name.
    fn written(&self) -> String {
        let mut text = String::new();
        for (kind, names) in &self.names {
            for name in names {
                let _ = writeln!(text, "{}\t{name}", kind.words().0);
            }
        }
        for (place, targets) in &self.assigned {
            let targets = targets.iter().map(String::as_str).collect::<Vec<_>>().join("\t");
            let _ = writeln!(text, "{ASSIGNED}\t{place}\t{targets}");
        }
        text
    }

    /// Adds the names from this text.
    fn read(&mut self, text: &str) {
        for line in text.lines() {
            let Some((kind, rest)) = line.split_once('\t') else { continue };
            if kind == ASSIGNED {
                let (place, targets) = rest.split_once('\t').unwrap_or((rest, ""));
                let targets = targets.split('\t').filter(|name| !name.is_empty()).map(str::to_owned);
                self.assigned.entry(place.to_owned()).or_default().extend(targets);
            } else if let Some(kind) = ListedKind::find(kind) {
                self.names.entry(kind).or_default().insert(rest.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let assigned = [("edge".to_owned(), set(&["shop-live", "shop-test"])), ("large".to_owned(), set(&[]))];
        let mut names = Names { assigned: BTreeMap::from(assigned), ..Names::default() };
        names.add(ListedKind::ClusterType, ["edge", "large"].iter());
        names.add(ListedKind::Workload, ["shop"].iter());
        names.add(ListedKind::Value, ["LOG_LEVEL", "two\nlines"].iter());
        let mut read = Names::default();
        read.read(&names.written());
        read.read("nonsense\n");
        assert_eq!(read, names);
    }
}
