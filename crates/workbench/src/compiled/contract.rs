//! The values that workloads ask for, and the values that the platform gives.

use engine::answers::contract::ContractScope;
use hub_api::compiled::{CompiledAnswer, CompiledRefusal, ContractFields, ContractQuery};

use super::scope::VisibleState;
use crate::answers::contract::{EnvironmentContract, contract_fields};

impl VisibleState<'_> {
    /// The values that workloads ask for. With a limit to workspaces, it does not say which values of the platform are used nowhere.
    ///
    /// # Errors
    /// If there is no such workload or place.
    pub fn contract(&self, query: &ContractQuery) -> Result<CompiledAnswer<ContractFields>, CompiledRefusal> {
        self.check_complete()?;
        let scope = ContractScope {
            workload: query.workload.as_deref(),
            place: query.place.as_deref(),
            has_details: query.workload.is_some() || query.place.is_some(),
        };
        if let Some(place) = scope.place.filter(|place| !self.state.compiled.has_place(place)) {
            return Err(self.unknown_place(place));
        }
        if let Some(workload) = scope.workload {
            self.check_workload(workload)?;
        }
        let mut contract = self.own_prepared().contract(scope);
        if !self.is_everything() {
            (contract.unused, contract.unused_count) = (Vec::new(), 0);
        }
        let shown = EnvironmentContract::new(&self.state.loaded, &contract);
        let is_shown = !scope.has_details || !contract.workloads.is_empty();
        let mut shown: Vec<_> = is_shown.then_some(shown).into_iter().collect();
        Ok(self.answer(contract_fields(&mut shown), Vec::new()))
    }
}
