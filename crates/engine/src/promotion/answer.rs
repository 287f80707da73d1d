//! What people can do about a wait.

use model::object::promotion::{Gate, GateKind};
use model::object::release;

use super::state::GateRecord;

/// The decision of a person that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approve, at the gate that the wait names.
    Approve,
    /// Let the change pass the gate that the wait names.
    Skip,
    /// Say that the change may move.
    Promote,
    /// End the hold of the subject.
    Resume,
    /// End the hold of the environment.
    ResumeEnvironment,
    /// Let the change move again that stopped, was rolled back or was aborted.
    Retry,
}

impl Answer {
    /// How people answer the gate of a record. None: its evidence or the clock decide, or the gates do not have it.
    pub fn to_record<'g>(record: &GateRecord, gates: impl IntoIterator<Item = &'g Gate>) -> Option<Self> {
        let gate = gates.into_iter().find(|gate| gate.name == record.name)?;
        Self::to_gate(&gate.kind)
    }

    /// How people answer a gate of this kind. None: its evidence or the clock decide.
    pub fn to_gate(kind: &GateKind) -> Option<Self> {
        match kind {
            GateKind::Approval(_) => Some(Self::Approve),
            GateKind::Manual => Some(Self::Skip),
            GateKind::Compliant { .. }
            | GateKind::Failures(_)
            | GateKind::Soak(_)
            | GateKind::Check(_)
            | GateKind::Window(_) => None,
        }
    }

    /// The command, about a subject and the gate that its wait names. Words in capital letters stand for what a person says.
    pub fn command(self, about: WaitingSubject<'_>, gate: &str) -> String {
        let WaitingSubject { environment, subject, revision } = about;
        let what = subject.map_or_else(String::new, |subject| format!(" {subject}"));
        match self {
            Self::Approve => format!("kalypso approve -e {environment}{what} --gate {gate}"),
            Self::Skip => {
                // A workload may have a gate of this name in its rings, and another one before the environment.
                let revision = revision.filter(|_| subject.is_some()).map(release::shown);
                let revision = revision.map_or_else(String::new, |revision| format!(" --revision {revision}"));
                format!("kalypso skip -e {environment}{what} --gate {gate}{revision} --reason TEXT")
            }
            Self::Promote => {
                let revision = revision.map(release::shown);
                let what = match (subject, revision) {
                    (Some(subject), Some(revision)) => format!("{subject}@{revision}"),
                    (known, None) | (None, known) => known.unwrap_or("COMMIT").to_owned(),
                };
                format!("kalypso promote {what} --to {environment}")
            }
            Self::Resume => format!("kalypso resume -e {environment}{what}"),
            Self::ResumeEnvironment => format!("kalypso resume -e {environment}"),
            Self::Retry => format!("kalypso retry -e {environment}{what}"),
        }
    }
}

/// What waits, as people name it.
#[derive(Clone, Copy, Debug)]
pub struct WaitingSubject<'a> {
    /// The environment.
    pub environment: &'a str,
    /// The workload or source. None: the commits of the main branch.
    pub subject: Option<&'a str>,
    /// The revision that waits. None: none does, or the subject has only one.
    pub revision: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_commands_for_the_waiting_change() {
        let (environment, revision) = ("prod", Some("41c77fe041c77fe041c77fe041c77fe041c77fe0"));
        let main = WaitingSubject { environment, subject: None, revision };
        let shop = WaitingSubject { environment, subject: Some("shop"), revision: Some("2.4.0") };
        let both = |answer: Answer| [main, shop].map(|about| answer.command(about, "people"));
        let check = |answer, of_main: &str, of_shop: &str| assert_eq!(both(answer), [of_main, of_shop], "{answer:?}");
        check(Answer::Approve, "kalypso approve -e prod --gate people", "kalypso approve -e prod shop --gate people");
        let skip = "kalypso skip -e prod --gate people --reason TEXT";
        check(Answer::Skip, skip, "kalypso skip -e prod shop --gate people --revision 2.4.0 --reason TEXT");
        check(Answer::Promote, "kalypso promote 41c77fe --to prod", "kalypso promote shop@2.4.0 --to prod");
        check(Answer::Resume, "kalypso resume -e prod", "kalypso resume -e prod shop");
        check(Answer::ResumeEnvironment, "kalypso resume -e prod", "kalypso resume -e prod");
        check(Answer::Retry, "kalypso retry -e prod", "kalypso retry -e prod shop");
    }
}
