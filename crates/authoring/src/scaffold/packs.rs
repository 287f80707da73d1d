//! Template packs: templates that are ready to use, one file each.
//!
//! The manifests are those of the example company. A pack adds its own explanation.

use model::name::TemplateName;

use super::file::NewFile;

/// What a template generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackRole {
    /// `reconciler.yaml`: what pulls the manifests of a target.
    Reconciler,
    /// `namespace.yaml`: the room in which a target runs.
    Namespace,
    /// `platform-config`: the values of a target.
    Config,
}

impl PackRole {
    /// The field of a cluster type that names the template.
    pub fn field(self) -> &'static str {
        match self {
            Self::Reconciler => "reconciler",
            Self::Namespace => "namespaceService",
            Self::Config => "configType",
        }
    }
}

/// A template that is ready to use.
#[derive(Debug, PartialEq, Eq)]
pub struct Pack {
    /// The name on the command line, and of the file.
    pub name: &'static str,
    /// The name of the `Template` object, unless another one is given.
    pub template: &'static str,
    /// What it generates.
    pub role: PackRole,
    /// One line for lists.
    pub summary: &'static str,
    /// The packs for the other roles of a cluster type with this reconciler: for namespaces, and for values. None for other roles.
    beside: Option<[&'static str; 2]>,
    /// The comment at the start of the file.
    comment: &'static str,
    /// A template of the example company.
    example: &'static str,
}

/// All packs.
pub const ALL: &[Pack] = &[
    Pack {
        name: "flux",
        template: "flux",
        role: PackRole::Reconciler,
        summary: "Flux: a GitRepository and a Kustomization for each target",
        beside: Some(["namespace", "configmap"]),
        comment: "\
# Clusters with Flux: for each deployment target, a GitRepository and a Kustomization that applies its manifests.
# A target needs the manifests `repo`, `branch` and `path`. A `tag` or a `commit` takes precedence over the branch.
# Change here: the interval; `repo-secret`, a secret in namespace flux-system with the credentials (remove `secretRef` for public repositories).
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/flux.yaml"),
    },
    Pack {
        name: "argocd",
        template: "argocd",
        role: PackRole::Reconciler,
        summary: "Argo CD: an Application for each target",
        beside: Some(["namespace", "configmap"]),
        comment: "\
# Clusters with Argo CD: for each deployment target, an Application that applies its manifests.
# A target needs the manifests `repo`, `branch` and `path`. A `tag` or a `commit` takes precedence over the branch.
# Argo CD needs credentials for repositories that are not public.
# Change here: the project; the sync policy.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/argocd.yaml"),
    },
    Pack {
        name: "pull-script",
        template: "pull-script",
        role: PackRole::Reconciler,
        summary: "hosts without containers: a file for a script that pulls a package",
        beside: Some(["os-user", "env-file"]),
        comment: "\
# Hosts without containers: a timer on the host pulls this folder, and installs the package that this file names.
# A target needs the manifests `package`, `repo`, `branch` and `path`. A `tag` or a `commit` takes precedence over the branch.
# Change here: any field. Your script reads them.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/pull-script.yaml"),
    },
    Pack {
        name: "namespace",
        template: "default",
        role: PackRole::Namespace,
        summary: "a namespace for each target on a cluster",
        beside: None,
        comment: "\
# The namespace of a deployment target on a cluster. Cluster types name this template in `namespaceService`.
# Change here: labels; more objects for each namespace, such as a ResourceQuota.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/namespace.yaml"),
    },
    Pack {
        name: "os-user",
        template: "os-user",
        role: PackRole::Namespace,
        summary: "hosts without containers: a user for each target",
        beside: None,
        comment: "\
# Hosts without containers: the user that a deployment target runs as. Cluster types name this template in `namespaceService`.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/os-user.yaml"),
    },
    Pack {
        name: "configmap",
        template: "configmap",
        role: PackRole::Config,
        summary: "the values of a target as a ConfigMap",
        beside: None,
        comment: "\
# The values of a deployment target, as the ConfigMap `platform-config` in its namespace. Cluster types name this template in `configType`.
# The values of a ConfigMap are texts: `stringify` writes nested values as YAML in a text.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/configmap.yaml"),
    },
    Pack {
        name: "env-file",
        template: "env-file",
        role: PackRole::Config,
        summary: "the values of a target as a file that a shell sources",
        beside: None,
        comment: "\
# Hosts without containers: the values of a deployment target, as a file that a shell sources. Nested values are JSON in a text.
# Cluster types name this template in `configType`.
",
        example: include_str!("../../../../examples/acme/control-plane/main/templates/env-file.yaml"),
    },
];

impl Pack {
    /// The pack with a name. None if there is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|pack| pack.name == name)
    }

    /// The packs for reconcilers.
    pub fn reconcilers() -> impl Iterator<Item = &'static Self> {
        ALL.iter().filter(|pack| pack.role == PackRole::Reconciler)
    }

    /// The packs that a cluster type with this one needs: itself, then those for namespaces and values.
    pub fn with_others(&'static self) -> Vec<&'static Self> {
        let beside = self.beside.into_iter().flatten().filter_map(Self::find);
        std::iter::once(self).chain(beside).collect()
    }

    /// The file, with the name of the template if it shall have another one.
    pub fn file(&self, name: Option<&TemplateName>) -> NewFile {
        let body = self.example.find("apiVersion:").and_then(|start| self.example.get(start..)).unwrap_or_default();
        let file = name.map_or(self.name, TemplateName::as_str);
        let body = match name {
            None => body.to_owned(),
            Some(name) => {
                let written = format!("\n  name: {}\n", self.template);
                body.replacen(&written, &format!("\n  name: {}\n", super::quoting::yaml(name.as_str())), 1)
            }
        };
        NewFile::new(format!("templates/{file}.yaml"), format!("{}{body}", self.comment))
    }
}

#[cfg(test)]
mod tests {
    use model::kind::Kind;
    use model::source::FileId;

    use super::*;

    /// The names of the templates in a file. Fails if a file has a problem.
    fn check(file: &NewFile) -> Vec<String> {
        let read = model::read::read_kind(FileId::default(), file.text.as_bytes(), Kind::Template);
        assert!(read.diagnostics.is_empty(), "{}: {:?}", file.path, read.diagnostics);
        read.objects.iter().map(|object| object.key().name.to_string()).collect()
    }

    #[test]
    fn every_pack_is_one_template_with_its_name() {
        for pack in ALL {
            let file = pack.file(None);
            assert_eq!(check(&file), [pack.template], "{}", pack.name);
            assert!(file.text.starts_with("# ") && file.path == format!("templates/{}.yaml", pack.name));
        }
    }

    #[test]
    fn a_template_can_have_another_name() {
        for pack in ALL {
            let file = pack.file(Some(&TemplateName::new("no").unwrap()));
            assert_eq!((check(&file), &*file.path), (vec!["no".to_owned()], "templates/no.yaml"));
        }
    }

    #[test]
    fn a_reconciler_brings_the_templates_of_a_whole_cluster_type() {
        for pack in Pack::reconcilers() {
            let fields: Vec<_> = pack.with_others().iter().map(|pack| pack.role.field()).collect();
            assert_eq!(fields, ["reconciler", "namespaceService", "configType"]);
        }
    }
}
