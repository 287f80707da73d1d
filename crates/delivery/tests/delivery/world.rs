//! A company in memory, with its publications.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use delivery::access::{ControlPlaneSettings, RepositoryAccess, StateKeys};
use delivery::publication::hub_publication::HubReceiver;
use delivery::publication::publish::{Outcome, PublicationFailure, PublishOptions, Request, publish};
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::rollout::EnvironmentOrder;
use tempfile::TempDir;
use testkit::company::memory::url;
pub(crate) use testkit::company::{BASE, PAGES, PROPOSAL};
use testkit::company::{CONTROL_PLANE, MemoryCompany};
use testkit::generator::ENVIRONMENT;

/// The settings of a control plane in memory.
pub(crate) fn settings(cache: &TempDir) -> ControlPlaneSettings {
    ControlPlaneSettings {
        repo: url(CONTROL_PLANE),
        branch: "main".to_owned(),
        git: git::Settings::new(cache.path().join("cache")),
        acknowledgements: Arc::default(),
        state_keys: StateKeys::default(),
        environment_order: EnvironmentOrder::default(),
    }
}

pub(crate) struct World {
    company: MemoryCompany,
    settings: ControlPlaneSettings,
    _cache: TempDir,
}

impl Deref for World {
    type Target = MemoryCompany;

    fn deref(&self) -> &MemoryCompany {
        &self.company
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut MemoryCompany {
        &mut self.company
    }
}

impl World {
    /// A company of which nothing was published.
    pub(crate) fn new() -> Self {
        let cache = TempDir::new().unwrap();
        Self { company: MemoryCompany::new(), settings: settings(&cache), _cache: cache }
    }

    /// Access to its repositories.
    pub(crate) fn access(&self) -> Arc<RepositoryAccess> {
        let repositories = Arc::clone(&self.company.repositories);
        Arc::new(RepositoryAccess::with(self.settings.clone(), repositories, Progress::default()))
    }

    /// Publishes the environment. `meanwhile` runs between reading and pushing.
    pub(crate) fn try_publish(
        &self,
        options: PublishOptions<'_>,
        hub: Option<HubReceiver<'_>>,
        meanwhile: &dyn Fn(&Loaded, &Compiled),
    ) -> Result<Outcome, PublicationFailure> {
        let access = self.access();
        let environment = &EnvironmentName::new(ENVIRONMENT).unwrap();
        let request = Request { environment, gitops_repo: None, options, hub, is_hub_only: false };
        publish(&access, &request, meanwhile)
    }

    /// Publishes the environment while nothing else happens.
    pub(crate) fn publish(&self, options: PublishOptions<'_>) -> Outcome {
        self.try_publish(options, None, &|_, _| {}).unwrap()
    }
}
