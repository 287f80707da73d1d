//! What changes and the output wait for, with what people can do about it, as the API of the hub shows it.

use engine::promotion::answer::{Answer, WaitingSubject};
use engine::promotion::report::{Report, WRITE, Waiting};
use hub_api::promotions::{SubjectKind, SubjectStatus, Wait};
use hub_api::tokens::Act;
use model::name::EnvironmentName;

use super::commit_move::Proposed;
use super::events::timestamp;
use super::published::OpenOutput;

/// The state of a subject with what it waits for. `proposed`: what waits for its merge.
pub(super) fn with_waits(
    mut status: SubjectStatus,
    environment: &EnvironmentName,
    (report, proposed): (&Report, Option<&Proposed>),
) -> SubjectStatus {
    let moving = status.moving.as_ref().map(|moving| moving.revision.clone());
    let about = WaitingSubject {
        environment: environment.as_str(),
        subject: status.subject.as_deref(),
        revision: moving.as_deref().filter(|_| !matches!(status.kind, SubjectKind::Values | SubjectKind::Application)),
    };
    let waits = report.waiting.iter().map(|waiting| wait(waiting, about, proposed)).collect();
    match &mut status.moving {
        Some(moving) => moving.waiting_for = waits,
        None => status.waiting_for = waits,
    }
    status
}

fn wait(waiting: &Waiting, about: WaitingSubject<'_>, proposed: Option<&Proposed>) -> Wait {
    let is_written = *waiting.what == *WRITE;
    // People merge what is written, and review what waits for approvals.
    let proposed = proposed.filter(|_| is_written || waiting.answer == Some(Answer::Approve));
    let text = match proposed.filter(|_| is_written) {
        Some(Proposed { pull_request: Some(link), .. }) => format!("pull request {} is not merged yet", link.number),
        Some(Proposed { branch, pull_request: None }) => format!("the branch `{branch}` is not merged yet"),
        None => waiting.text.to_string(),
    };
    Wait {
        what: waiting.what.to_string(),
        text,
        since: Some(timestamp(waiting.since)),
        command: waiting.command(about),
        role: waiting.answer.map(|answer| act(answer).role().to_owned()),
        url: proposed.and_then(|proposed| Some(proposed.pull_request.as_ref()?.url.clone())),
    }
}

/// What a person does who answers.
pub(super) fn act(answer: Answer) -> Act {
    match answer {
        Answer::Approve => Act::Approve,
        Answer::Promote | Answer::Resume | Answer::ResumeEnvironment | Answer::Retry => Act::Operate,
        Answer::Skip => Act::Administer,
    }
}

/// What the output of an environment waits for: the confirmation of removals, and the merge of pull requests.
pub(super) fn of_output(environment: &EnvironmentName, open: &[OpenOutput]) -> Vec<Wait> {
    let one = |open: &OpenOutput| match open {
        OpenOutput::Removals { word, removed } => Wait {
            what: "removals".to_owned(),
            text: format!("the removal of {removed} waits for a confirmation"),
            command: Some(format!("kalypso confirm {environment} {word}")),
            role: Some(Act::Administer.role().to_owned()),
            ..Wait::default()
        },
        OpenOutput::Proposed(link) => Wait {
            what: "merge".to_owned(),
            text: format!("pull request {} with the output is not merged yet", link.number),
            url: Some(link.url.clone()),
            ..Wait::default()
        },
    };
    open.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull_requests::PullRequestLink;

    #[test]
    fn output_waits_for_a_word_or_for_a_merge() {
        let url = "https://git.example/platform/gitops/pulls/7";
        let removals = OpenOutput::Removals { word: "7f3a".to_owned(), removed: "12 of 40 assignments".to_owned() };
        let proposed = OpenOutput::Proposed(PullRequestLink { number: 7, url: url.to_owned() });
        let waits = of_output(&EnvironmentName::new("prod").unwrap(), &[removals, proposed]);
        let shown = waits.iter().map(|wait| (&*wait.text, wait.command.as_deref(), wait.role.as_deref()));
        let removal = "the removal of 12 of 40 assignments waits for a confirmation";
        let expected = [
            (removal, Some("kalypso confirm prod 7f3a"), Some("admin")),
            ("pull request 7 with the output is not merged yet", None, None),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(waits[1].url.as_deref(), Some(url));
    }
}
