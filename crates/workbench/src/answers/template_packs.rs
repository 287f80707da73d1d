//! The template packs: templates that are ready to use.

use authoring::scaffold::packs::{ALL, Pack};
use serde::Serialize;
use utoipa::ToSchema;

/// The template packs.
#[derive(Serialize, ToSchema)]
pub struct TemplatePacks {
    /// The packs.
    pub packs: Vec<TemplatePack>,
}

/// A template pack.
#[derive(Serialize, ToSchema)]
pub struct TemplatePack {
    /// The name of the pack.
    pub name: &'static str,
    /// The name of its template, without `--as`.
    pub template: &'static str,
    /// The field of a cluster type that names it: `reconciler`, `namespaceService` or `configType`.
    pub field: &'static str,
    /// What it generates.
    pub summary: &'static str,
}

impl TemplatePacks {
    /// All packs.
    pub fn all() -> Self {
        let of = |pack: &Pack| TemplatePack {
            name: pack.name,
            template: pack.template,
            field: pack.role.field(),
            summary: pack.summary,
        };
        Self { packs: ALL.iter().map(of).collect() }
    }
}
