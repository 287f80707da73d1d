//! `kalypso add cluster`: one cluster, a range of clusters, or those of a CSV file.

use std::fs;
use std::path::Path;

use authoring::branch_files::EditRefusal;
use authoring::clusters_csv::{self, ClusterRow};
use authoring::objects::{self, LabelList};
use authoring::{label_advice, name_ranges};
use model::name::ClusterTypeName;

use super::{NewObjects, OpenBranch, finish, labels, name, names, plain_name};
use crate::arguments::AddCluster;
use crate::commands::branch_edit;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;

/// The maximum size of a CSV file, in bytes.
const CSV_BYTES_MAX: u64 = 256 << 20;

pub(super) fn run(options: &AddCluster) -> anyhow::Result<Exit> {
    let cluster_type = options.cluster_type.as_deref().map(|text| name(text, "cluster type")).transpose()?;
    let common = labels(&options.labels)?;
    let rows = match &options.csv {
        Some(path) => match read(path, cluster_type.as_ref())? {
            Ok(rows) => rows,
            Err(refusal) => return branch_edit::refuse(Watch::start(), &refusal, options.edit.output),
        },
        None => rows(options, cluster_type)?,
    };
    let open = OpenBranch::new(&options.edit, Some(&options.environment))?;
    let with_common = |row: &ClusterRow| objects::cluster(&row.name, &row.cluster_type, combined(&common, &row.labels));
    let objects: Vec<_> = rows.iter().map(with_common).collect();
    let warnings = label_advice::of_places(&open.files(), &common);
    let shared = match &options.csv {
        Some(path) => path.to_str(),
        None => options.names.first().map(|name| name_ranges::common_name(name)),
    };
    let shared_name = shared.and_then(plain_name);
    let slug = match (rows.as_slice(), shared_name) {
        ([row], _) => format!("cluster-{}", row.name),
        (_, Some(name)) => format!("clusters-{name}"),
        (_, None) => "clusters".to_owned(),
    };
    finish(open, NewObjects { objects, shared_name, warnings, slug }, (&options.place, &options.edit))
}

fn rows(options: &AddCluster, cluster_type: Option<ClusterTypeName>) -> Result<Vec<ClusterRow>, Failure> {
    let Some(cluster_type) = cluster_type else { return Err(Failure::usage("--cluster-type is needed")) };
    let row = |text: &std::sync::Arc<str>| {
        Ok(ClusterRow { name: name(text, "cluster")?, cluster_type: cluster_type.clone(), labels: LabelList::new() })
    };
    names(&options.names)?.iter().map(row).collect()
}

fn read(path: &Path, cluster_type: Option<&ClusterTypeName>) -> Result<Result<Vec<ClusterRow>, EditRefusal>, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("`{}` can't be read: {error}", path.display()));
    if fs::metadata(path).map_err(failed)?.len() > CSV_BYTES_MAX {
        return Err(Failure::usage(format!("`{}` is larger than {} MB", path.display(), CSV_BYTES_MAX >> 20)));
    }
    let content = fs::read(path).map_err(failed)?;
    Ok(clusters_csv::read(&path.display().to_string(), &content, cluster_type))
}

/// Labels of all clusters, and those of a row, which win.
fn combined(common: &LabelList, own: &LabelList) -> LabelList {
    let is_common = |(key, _): &&(std::sync::Arc<str>, _)| own.iter().all(|(other, _)| other != key);
    common.iter().filter(is_common).chain(own).cloned().collect()
}
