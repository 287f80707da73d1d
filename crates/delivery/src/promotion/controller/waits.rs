//! What changes and the output wait for, with what people can do about it, as the API of the hub shows it.

use engine::promotion::answer::{Answer, WaitingSubject};
use engine::promotion::report::{MERGE, MoveReport, ROLLBACK, SETTLE, WRITE, Waiting};
use hub_api::promotions::{SubjectKind, SubjectStatus, Wait};
use hub_api::tokens::Act;
use model::name::EnvironmentName;

use super::commit_move::Proposed;
use super::events::timestamp;
use super::published::OpenOutput;
use super::unwritten::UnwrittenMove;

/// The waits that end when a revision is written into the environment.
const WRITES: [&str; 2] = [WRITE, ROLLBACK];

/// The waits that end when the output of the environment is merged.
const OUTPUTS: [&str; 2] = [SETTLE, MERGE];

/// What keeps a subject back outside of the states.
#[derive(Clone, Copy)]
pub(super) struct HeldBack<'a> {
    /// What became of its write.
    pub(super) unwritten: Option<&'a UnwrittenMove>,
    /// What keeps the output of the environment back.
    pub(super) open: &'a [OpenOutput],
}

/// The state of a subject with what it waits for.
pub(super) fn with_waits(
    mut status: SubjectStatus,
    environment: &EnvironmentName,
    report: &MoveReport,
    held_back: HeldBack<'_>,
) -> SubjectStatus {
    let moving = status.moving.as_ref().map(|moving| moving.revision.clone());
    let about = WaitingSubject {
        environment: environment.as_str(),
        subject: status.subject.as_deref(),
        revision: moving.as_deref().filter(|_| !matches!(status.kind, SubjectKind::Values | SubjectKind::Application)),
    };
    let mut waits: Vec<_> = report.waiting.iter().map(|waiting| wait(waiting, about, held_back)).collect();
    let is_shown = report.waiting.iter().any(|waiting| WRITES.contains(&&*waiting.what));
    if let Some(UnwrittenMove::Refused(reason)) = held_back.unwritten.filter(|_| !is_shown) {
        // A pull request for a review, or the withdrawal of one.
        let (what, text) = (WRITE.to_owned(), reason.to_string());
        waits.insert(0, Wait { what, text, ..Wait::default() });
    }
    match &mut status.moving {
        Some(moving) => moving.waiting_for = waits,
        None => status.waiting_for = waits,
    }
    status
}

fn wait(waiting: &Waiting, about: WaitingSubject<'_>, HeldBack { unwritten, open }: HeldBack<'_>) -> Wait {
    let is_write = WRITES.contains(&&*waiting.what);
    let proposed = match unwritten {
        // People merge what is written, and review what waits for approvals.
        Some(UnwrittenMove::Proposed(found)) if is_write || waiting.answer == Some(Answer::Approve) => Some(found),
        _ => None,
    };
    let is_output = OUTPUTS.contains(&&*waiting.what);
    let output = open.iter().find_map(OpenOutput::pull_request).filter(|_| is_output);
    let link = proposed.map_or(output, |found| found.pull_request.as_ref());
    let state = match unwritten.filter(|_| is_write) {
        Some(UnwrittenMove::Refused(reason)) => Some(reason.to_string()),
        Some(UnwrittenMove::Proposed(Proposed { pull_request: Some(link), .. })) => {
            Some(format!("pull request {} is not merged yet", link.number))
        }
        Some(UnwrittenMove::Proposed(Proposed { branch, pull_request: None })) => {
            Some(format!("the branch `{branch}` is not merged yet"))
        }
        None => None,
    };
    let text = match state {
        // Why it is rolled back stays.
        Some(state) if *waiting.what == *ROLLBACK => format!("{}; {state}", waiting.text),
        Some(state) => state,
        None => waiting.text.to_string(),
    };
    Wait {
        what: waiting.what.to_string(),
        text,
        since: Some(timestamp(waiting.since)),
        command: waiting.command(about),
        role: waiting.answer.map(|answer| act(answer).role().to_owned()),
        url: link.map(|link| link.url.clone()),
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
        OpenOutput::Proposed { link, incomplete } => Wait {
            what: MERGE.to_owned(),
            text: [format!("pull request {} with the output is not merged yet", link.number)]
                .iter()
                .chain(incomplete)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; "),
            url: Some(link.url.clone()),
            ..Wait::default()
        },
    };
    open.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::pull_requests::PullRequestLink;

    /// The text and the page of a wait.
    fn shown(what: &str, unwritten: Option<&UnwrittenMove>, open: &[OpenOutput]) -> (String, Option<String>) {
        let waiting =
            Waiting { what: what.into(), text: "two failed".into(), since: Timestamp::UNIX_EPOCH, answer: None };
        let about = WaitingSubject { environment: "prod", subject: None, revision: None };
        let found = wait(&waiting, about, HeldBack { unwritten, open });
        (found.text, found.url)
    }

    #[test]
    fn each_wait_for_a_merge_names_the_pull_request() {
        let link = |number: u64| PullRequestLink { number, url: format!("https://git.example/pulls/{number}") };
        let (branch, url) = ("kalypso-promote/prod".to_owned(), Some("https://git.example/pulls/7".to_owned()));
        let proposed = UnwrittenMove::Proposed(Proposed { branch, pull_request: Some(link(7)) });
        let output = [OpenOutput::Proposed { link: link(7), incomplete: Vec::new() }];
        let text = "pull request 7 is not merged yet";
        assert_eq!(shown(WRITE, Some(&proposed), &[]), (text.to_owned(), url.clone()));
        assert_eq!(shown(ROLLBACK, Some(&proposed), &[]), (format!("two failed; {text}"), url.clone()));
        for what in [SETTLE, MERGE] {
            assert_eq!(shown(what, None, &output), ("two failed".to_owned(), url.clone()));
        }
        assert_eq!(shown("soak", Some(&proposed), &output), ("two failed".to_owned(), None));
        let refused = UnwrittenMove::Refused("GH006".into());
        assert_eq!(shown(ROLLBACK, Some(&refused), &[]), ("two failed; GH006".to_owned(), None));
    }

    #[test]
    fn output_waits_for_a_confirmation_or_a_merge() {
        let url = "https://git.example/platform/gitops/pulls/7";
        let removals = OpenOutput::Removals { word: "7f3a".to_owned(), removed: "12 of 40 assignments".to_owned() };
        let link = PullRequestLink { number: 7, url: url.to_owned() };
        let proposed = OpenOutput::Proposed { link, incomplete: vec!["the git host refuses".to_owned()] };
        let waits = of_output(&EnvironmentName::new("prod").unwrap(), &[removals, proposed]);
        let shown = waits.iter().map(|wait| (&*wait.text, wait.command.as_deref(), wait.role.as_deref()));
        let removal = "the removal of 12 of 40 assignments waits for a confirmation";
        let expected = [
            (removal, Some("kalypso confirm prod 7f3a"), Some("admin")),
            ("pull request 7 with the output is not merged yet; the git host refuses", None, None),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(waits[1].url.as_deref(), Some(url));
    }
}
