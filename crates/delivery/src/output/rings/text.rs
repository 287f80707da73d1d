//! The rollouts in words: how far they are, and which of them can't be applied.

use std::sync::Arc;

use engine::output::rings::MoveProgress;
use model::count::{count, thousands};
use model::diagnostic::{Code, Diagnostic};

use super::Rings;

impl Rings {
    /// How far each rollout is, in lines for people: `shop: ring 2 of 3 (stores): 40 of 120 places get the moving revision, 80 keep what they have`.
    pub fn lines(&self) -> Vec<String> {
        let moving = self.progress.iter().map(|progress| self.line(progress));
        let resting = self.revisions.workloads().filter_map(|(workload, found)| {
            let is_moving = self.progress.iter().any(|progress| progress.workload == *workload);
            let state = self.states.rollouts.get(workload).map(Result::as_ref);
            let text = match state {
                _ if is_moving => return None,
                Some(Err(error)) => format!("its state can't be read: {error}"),
                None => "its places keep what they have until its first rollout begins".to_owned(),
                Some(Ok(stored)) => {
                    let stable = stored.state.stable.as_ref();
                    if stable.is_some_and(|stable| stable.revision == found.revision) {
                        return None;
                    }
                    "its places keep what they have until its next rollout begins".to_owned()
                }
            };
            Some(format!("{workload}: {text}"))
        });
        let problems = self.problems.iter().filter(|(workload, _)| self.is_moving(workload));
        let problems = problems.map(|(workload, reason)| format!("{workload}: its folders stay as they are: {reason}"));
        moving.chain(resting).chain(problems).collect()
    }

    fn line(&self, progress: &MoveProgress) -> String {
        let MoveProgress { workload, ring, rings, places, released, .. } = progress;
        if progress.is_rolling_back {
            return format!("{workload}: all {} return to the stable revision", count(*places, "place"));
        }
        let name = self.membership.rings.get(*ring).map_or_else(String::new, |ring| format!(" ({})", ring.name));
        let ring = ring + 1;
        let (places, kept) = (count(*places, "place"), thousands(places - released));
        let released = thousands(*released);
        format!(
            "{workload}: ring {ring} of {rings}{name}: {released} of {places} get the moving revision, {kept} keep what they have"
        )
    }

    fn is_moving(&self, workload: &str) -> bool {
        self.progress.iter().any(|progress| *progress.workload == *workload)
    }

    /// Reports the workloads whose rollouts can't be applied.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let report = |(workload, reason): &(Arc<str>, String)| {
            let message = format!("the rollout of workload `{workload}` can't be applied: {reason}");
            Diagnostic::warning(Code::RolloutNotApplied, message).note("its folders stay as they are")
        };
        self.problems.iter().map(report).collect()
    }
}
