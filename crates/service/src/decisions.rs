//! Promotions as the API of the hub sees them: where changes stand, and decisions of people.

use delivery::promotion::controller::command::{CommandError, DecisionCommand, decide};
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::state::Revision;
use git::Person;
use git::publish::AUTHOR_EMAIL;
use hub_api::promotions::{
    PromotionAction, PromotionCommand, PromotionReceipt, PromotionRefusal, PromotionService, PromotionStatus,
};
use jiff::Timestamp;

use crate::Service;
use crate::environment::Environment;
use crate::promotion::teams;
use crate::shared::Shared;
use crate::trigger::Reason;

impl PromotionService for Service {
    fn status(&self, environment: Option<&str>) -> Vec<PromotionStatus> {
        let all = self.parts().into_iter().flat_map(|part| part.all());
        let shown = all.filter(|one| environment.is_none_or(|name| name == one.shown));
        let mut found: Vec<_> = shown.filter_map(|one| one.promotion()).collect();
        in_order(&mut found);
        found
    }

    fn command(
        &self,
        environment: &str,
        command: &PromotionCommand,
        by: &str,
    ) -> Result<PromotionReceipt, PromotionRefusal> {
        let unknown = || PromotionRefusal::UnknownEnvironment(environment.to_owned());
        let (part, found) = self.find(environment).ok_or_else(unknown)?;
        let account = part.settings.evidence.accounts.of_identity(by);
        if command.command == PromotionAction::Approve && account.is_none() {
            let text =
                format!("`{by}` has no account of the git host: `[promotion.accounts]` of kalypso.toml names it");
            return Err(PromotionRefusal::NotAllowed(text));
        }
        let receipt = carry_out(&part, &found, command, account.unwrap_or(by))?;
        tracing::info!(environment, by, "{}", receipt.text);
        // Also a decision that another replica carries out: the branch with the states is the same for all.
        part.request(&found, Reason::Promotion);
        Ok(PromotionReceipt {
            environment: environment.to_owned(),
            subject: receipt.subject.map(|subject| subject.to_string()),
            revision: receipt.revision.map(|revision| revision.0.to_string()),
            text: receipt.text,
        })
    }
}

/// Sorts environments so that each comes after those before it.
fn in_order(found: &mut Vec<PromotionStatus>) {
    found.sort_by(|one, other| one.environment.cmp(&other.environment));
    let mut sorted: Vec<PromotionStatus> = Vec::with_capacity(found.len());
    while !found.is_empty() {
        let is_free = |one: &PromotionStatus| {
            let mut waits = found.iter().filter(|other| one.before.contains(&other.environment));
            waits.next().is_none()
        };
        // Environments of a cycle come last.
        let next = found.iter().position(is_free).unwrap_or(0);
        sorted.push(found.remove(next));
    }
    *found = sorted;
}

fn carry_out(
    part: &Shared,
    environment: &Environment,
    command: &PromotionCommand,
    by: &str,
) -> Result<delivery::promotion::controller::command::StoredDecision, PromotionRefusal> {
    let reason = command.reason.as_deref().unwrap_or_default().into();
    let kind = kind(command).ok_or_else(|| PromotionRefusal::NotPossible("the command is not complete".to_owned()))?;
    let decided = Command { kind, by: by.into(), at: Timestamp::now(), reason };
    let author = Person { name: by.to_owned(), email: AUTHOR_EMAIL.to_owned() };
    let revision = command.revision.as_deref().filter(|_| command.command != PromotionAction::Promote);
    let decision = DecisionCommand {
        environment: &environment.name,
        subject: command.subject.as_deref(),
        command: &decided,
        revision,
        teams: &teams(&part.settings.evidence),
        author: &author,
        // Git decides between two replicas: a push requires the head that was read.
        lease: None,
    };
    decide(&part.access(), &decision).map_err(|error| refusal(error, &environment.shown))
}

fn kind(command: &PromotionCommand) -> Option<CommandKind> {
    Some(match command.command {
        PromotionAction::Hold => CommandKind::Hold,
        PromotionAction::Resume => CommandKind::Resume,
        PromotionAction::Abort => CommandKind::Abort,
        PromotionAction::Retry => CommandKind::Retry,
        PromotionAction::Skip => CommandKind::Skip { gate: command.gate.as_deref()?.into() },
        PromotionAction::Approve => CommandKind::Approve { gate: command.gate.as_deref().map(Into::into) },
        PromotionAction::Rollback => CommandKind::Rollback {
            to: command.to.as_deref().map(|to| Revision(to.into())),
            with_values: command.with_values,
        },
        PromotionAction::Promote => CommandKind::Request { revision: Revision(command.revision.as_deref()?.into()) },
    })
}

fn refusal(error: CommandError, environment: &str) -> PromotionRefusal {
    match error {
        CommandError::UnknownEnvironment(_) => PromotionRefusal::UnknownEnvironment(environment.to_owned()),
        CommandError::UnknownSubject { subject, .. } => {
            PromotionRefusal::UnknownSubject { environment: environment.to_owned(), subject }
        }
        CommandError::Store(store) if store.needs_person() => PromotionRefusal::NotPossible(store.to_string()),
        CommandError::Refused(_)
        | CommandError::NoCommit { .. }
        | CommandError::UnknownRelease { .. }
        | CommandError::NoValues { .. } => PromotionRefusal::NotPossible(error.to_string()),
        CommandError::Unreadable(_)
        | CommandError::State(_)
        | CommandError::Repository(_)
        | CommandError::Store(_)
        | CommandError::LostRaces(_) => PromotionRefusal::Unavailable(error.to_string()),
    }
}
