//! Answers questions about the environments of the service in this process.

use std::sync::Arc;
use std::time::Duration;

use delivery::reading::ReadAt;
use hub::server::Server;
use hub_api::compiled::{
    AssignmentDifference, AssignmentFiles, AssignmentName, AssignmentQuery, CompiledAnswer, CompiledAssignments,
    CompiledEnvironments, CompiledFindings, CompiledRefusal, CompiledScope, CompiledValues, ContractFields,
    ContractQuery, DifferenceQuery, ExplainedAssignment, FilesQuery, FindingQuery, ValueQuery, WhyNotFields,
    WhyNotQuery,
};
use hub_api::syncs::SyncService as _;
use model::similar;
use service::Service;
use workbench::Error;
use workbench::compiled::store::CompiledStates;
use workbench::compiled::{CompiledState, StateSource};

/// The environments of a service. The replica need not lead them.
#[derive(Debug)]
struct ServedEnvironments {
    service: Arc<Service>,
    states: Arc<CompiledStates>,
}

/// The pause between two checks which compiled environments are still used. Their memory is given back also without another question.
const FORGET_PAUSE: Duration = Duration::from_mins(1);

/// Adds the answers about the environments of a service to a server.
pub(crate) fn serve(server: Server, service: &Arc<Service>) -> Server {
    let states = Arc::<CompiledStates>::default();
    let kept = Arc::clone(&states);
    let forget = async move {
        loop {
            tokio::time::sleep(FORGET_PAUSE).await;
            kept.forget();
        }
    };
    server.with_task(forget).compiling(Arc::new(ServedEnvironments { service: Arc::clone(service), states }))
}

impl ServedEnvironments {
    /// The compiled environment of a question.
    fn state(&self, scope: CompiledScope<'_>, at: ReadAt) -> Result<Arc<CompiledState>, CompiledRefusal> {
        let CompiledScope { environment, reach } = scope;
        let mut known = self.service.states();
        known.retain(|state| reach.has_environment(&state.environment));
        let found = known.iter().position(|state| state.environment == environment);
        let access = found.and_then(|found| Some((known.get(found)?.last.as_ref(), self.service.access(environment)?)));
        let Some((last, (access, name))) = access else {
            let names = known.iter().map(|state| state.environment.as_str());
            let similar = similar::nearest(environment, names).map(str::to_owned);
            return Err(CompiledRefusal::UnknownEnvironment { name: environment.to_owned(), similar });
        };
        let source = StateSource { access: &access, environment: &name, at };
        self.states.get(environment, source, last).map_err(|error| unreadable(environment, &error))
    }
}

impl CompiledEnvironments for ServedEnvironments {
    fn explain(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        key: Option<&str>,
    ) -> Result<CompiledAnswer<ExplainedAssignment>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).explain(name, key)
    }

    fn assignments(
        &self,
        scope: CompiledScope<'_>,
        query: &AssignmentQuery,
    ) -> Result<CompiledAnswer<CompiledAssignments>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).assignments(query)
    }

    fn files(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        query: &FilesQuery,
    ) -> Result<CompiledAnswer<AssignmentFiles>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).files(name, query)
    }

    fn difference(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        query: &DifferenceQuery,
    ) -> Result<CompiledAnswer<AssignmentDifference>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).difference(name, query)
    }

    fn values(
        &self,
        scope: CompiledScope<'_>,
        query: &ValueQuery,
    ) -> Result<CompiledAnswer<CompiledValues>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).values(query)
    }

    fn why_not(
        &self,
        scope: CompiledScope<'_>,
        query: &WhyNotQuery,
    ) -> Result<CompiledAnswer<WhyNotFields>, CompiledRefusal> {
        self.state(scope, ReadAt::Heads)?.visible_in(scope).why_not(query)
    }

    fn contract(
        &self,
        scope: CompiledScope<'_>,
        query: &ContractQuery,
    ) -> Result<CompiledAnswer<ContractFields>, CompiledRefusal> {
        self.state(scope, ReadAt::Heads)?.visible_in(scope).contract(query)
    }

    fn findings(
        &self,
        scope: CompiledScope<'_>,
        query: &FindingQuery,
    ) -> Result<CompiledAnswer<CompiledFindings>, CompiledRefusal> {
        self.state(scope, ReadAt::Admitted)?.visible_in(scope).findings(query)
    }
}

fn unreadable(environment: &str, error: &Error) -> CompiledRefusal {
    let reason = model::credential::without(&error.to_string()).into_owned();
    CompiledRefusal::Unreadable { environment: environment.to_owned(), reason }
}
