//! A base repository with limits: the files of one folder.

use model::fleet::Limits;
use model::fleet::limits::Chain;
use model::object::AnyObject;
use model::read::read_file;
use model::source::FileId;

/// The path of the file with the `BaseRepo`. It is the first of all paths, so its file id is always the same.
pub(super) const BASE_PATH: &str = "!/base.yaml";
/// The text of that file.
pub(super) const BASE: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata: {name: limited}
spec:
  repo: https://git.example/limited
  branch: main
  path: .
  allow:
    kinds: [Cluster, ClusterType, ConfigMap, ConfigSchema, SchedulingPolicy, Workload]
    labels: {region: region-0}
    keys: [SETTING_*, FRESH]
";

/// The folder whose files are limited.
pub(super) const FOLDER: &str = "limited/";

/// The limits of a file.
pub(super) fn limits_of(path: &str) -> Limits {
    if !path.starts_with(FOLDER) {
        return Limits::default();
    }
    let read = read_file(FileId::default(), BASE_PATH, BASE.as_bytes());
    let chain = read.objects.iter().fold(Chain::default(), |chain, object| match object {
        AnyObject::BaseRepo(base) => chain.below(base),
        _ => chain,
    });
    Limits::from_chain(chain)
}
