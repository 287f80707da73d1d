//! Reads the events of a timeline: `fail store-17 for 2h`.

use std::sync::Arc;

use super::Names;
use super::claim;
use super::tokens::{Expected, Words};
use crate::scenario::definition::{
    ChangeOrRelease, ClusterGroup, DecisionEvent, DecisionKind, FaultKind, PromotionEdit, ScenarioEvent, SystemPart,
};
use crate::scenario::names::NamePattern;

/// The verbs with their forms, in the order of the manual.
pub(super) const FORMS: &[(&str, &str)] = &[
    (
        "change",
        "change NAME [of WORKLOAD] [where KEY=VALUE] [with PROMOTION|without PROMOTION] [by ACCOUNT|by unknown]",
    ),
    ("revert", "revert NAME"),
    ("install", "install VERSION [of WORKLOAD] [where KEY=VALUE]"),
    ("release", "release WORKLOAD VERSION [by ACCOUNT|by unknown]"),
    ("configure", "configure ENVIRONMENT NAME [of WORKLOAD] [where KEY=VALUE]"),
    ("pin", "pin WORKLOAD VERSION in ENVIRONMENT [where KEY=VALUE]"),
    ("retarget", "retarget WORKLOAD in ENVIRONMENT with NAME"),
    ("write", "write NAME into ENVIRONMENT by hand, or write WORKLOAD VERSION into ENVIRONMENT by hand"),
    ("merge", "merge ENVIRONMENT [WORKLOAD] by hand"),
    ("fail", "fail CLUSTERS [on NAME] [for DURATION]"),
    ("silence", "silence CLUSTERS [for DURATION]"),
    ("flap", "flap CLUSTERS every DURATION [for DURATION]"),
    ("lie", "lie CLUSTERS [for DURATION]"),
    ("slow", "slow CLUSTERS by DURATION [for DURATION]"),
    ("repair", "repair CLUSTERS"),
    ("add", "add CLUSTERS to ENVIRONMENT [where KEY=VALUE]"),
    ("remove", "remove CLUSTERS"),
    ("check", "check NAME passes|fails|is unknown [for DURATION]"),
    ("kill", "kill the service for DURATION, or kill the service at every step"),
    ("git-host", "git-host API is down for DURATION"),
    ("hub", "hub is down for DURATION, or hub misses publications for DURATION"),
    ("delete", "delete states of ENVIRONMENT"),
    ("restore", "restore states of ENVIRONMENT"),
    ("clock", "clock is wrong by [-]DURATION [for DURATION]"),
    ("approve", "approve ENVIRONMENT [WORKLOAD] by ACCOUNT"),
    ("hold", "hold ENVIRONMENT [WORKLOAD] by ACCOUNT because REASON"),
    ("resume", "resume ENVIRONMENT [WORKLOAD] by ACCOUNT"),
    ("abort", "abort ENVIRONMENT [WORKLOAD] by ACCOUNT because REASON"),
    ("retry", "retry ENVIRONMENT [WORKLOAD] by ACCOUNT"),
    ("skip", "skip ENVIRONMENT [WORKLOAD] gate NAME [of REVISION] by ACCOUNT because REASON"),
    ("rollback", "rollback ENVIRONMENT [WORKLOAD] by ACCOUNT because REASON"),
    ("override", "override ENVIRONMENT [WORKLOAD] by ACCOUNT because REASON"),
    ("promote", "promote ENVIRONMENT [WORKLOAD] [to REVISION] by ACCOUNT because REASON"),
    ("expect", "expect CLAIM"),
];

/// Reads an event.
pub(super) fn read(text: &str, names: &Names) -> Result<ScenarioEvent, Expected> {
    let mut words = Words::new(text);
    let verb = words.word("an event")?;
    let event = match verb {
        "change" | "revert" | "install" | "release" | "configure" => source(verb, &mut words, names)?,
        "pin" | "retarget" | "write" | "merge" => around(verb, &mut words, names)?,
        "fail" | "silence" | "flap" | "lie" | "slow" | "repair" => hosts(verb, &mut words, names)?,
        "add" | "remove" => fleet(verb, &mut words, names)?,
        "check" | "kill" | "git-host" | "hub" | "clock" => outside(verb, &mut words)?,
        "delete" | "restore" => states(verb, &mut words, names)?,
        "expect" => ScenarioEvent::Expect(claim::read(&mut words, names)?),
        _ if FORMS.iter().any(|(known, _)| *known == verb) => decision(verb, &mut words, names)?,
        other => return Err(format!("`{other}` is no event")),
    };
    words.end()?;
    Ok(event)
}

fn source(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    Ok(match verb {
        "change" => {
            let name = words.name("the name of the change")?;
            let scope = words.scope(names)?;
            ScenarioEvent::Change { name, scope, promotion: promotion(words)?, author: author(words)? }
        }
        "revert" => ScenarioEvent::Revert(words.name("the name of the change")?),
        "install" => ScenarioEvent::Install { version: words.name("the version")?, scope: words.scope(names)? },
        "release" => {
            let workload = names.workload(words)?;
            let version = names.release(&workload, words.word("the version")?)?;
            ScenarioEvent::Release { workload, version, author: author(words)? }
        }
        _ => {
            let environment = words.environment(&names.environments)?;
            ScenarioEvent::Configure {
                environment,
                name: words.name("the name of the change")?,
                scope: words.scope(names)?,
            }
        }
    })
}

/// What people and application teams write into an environment itself.
fn around(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    Ok(match verb {
        "pin" => {
            let workload = names.workload(words)?;
            let version = words.name("the version")?;
            words.must("in")?;
            ScenarioEvent::Pin {
                workload,
                version,
                environment: words.environment(&names.environments)?,
                label: words.only()?,
            }
        }
        "retarget" => {
            let workload = names.workload(words)?;
            words.must("in")?;
            let environment = words.environment(&names.environments)?;
            words.must("with")?;
            ScenarioEvent::Retarget { workload, environment, name: words.name("the name of the change")? }
        }
        "merge" => {
            let environment = words.environment(&names.environments)?;
            let has_workload = words.peek().is_some_and(|word| word != "by");
            let workload = if has_workload { Some(names.workload(words)?) } else { None };
            words.must("by hand")?;
            ScenarioEvent::MergeByHand { environment, workload }
        }
        _ => {
            let what = match words.content(names)? {
                ChangeOrRelease::Release(workload, version) => {
                    let version = names.release(&workload, &version)?;
                    ChangeOrRelease::Release(workload, version)
                }
                commit @ ChangeOrRelease::Change(_) => commit,
            };
            words.must("into")?;
            let environment = words.environment(&names.environments)?;
            words.must("by hand")?;
            ScenarioEvent::MoveByHand { environment, what }
        }
    })
}

/// `with PROMOTION` or `without PROMOTION`, which may be left out.
fn promotion(words: &mut Words<'_>) -> Result<Option<PromotionEdit>, Expected> {
    let name = |words: &mut Words<'_>| words.name("the name of a promotion");
    Ok(match words.peek() {
        Some("with") => words.must("with").and_then(|()| name(words)).map(PromotionEdit::Write).map(Some)?,
        Some("without") => words.must("without").and_then(|()| name(words)).map(PromotionEdit::Delete).map(Some)?,
        _ => None,
    })
}

/// `by ACCOUNT`, or the usual author.
fn author(words: &mut Words<'_>) -> Result<Option<Arc<str>>, Expected> {
    if words.take("by unknown") {
        return Ok(None);
    }
    if words.take("by") { words.name("an account").map(Some) } else { Ok(Some("dora".into())) }
}

fn hosts(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    let who = words.who(&names.environments)?;
    let fault = match verb {
        "fail" if words.take("on") => FaultKind::Failing(Some(words.name("the name of a change")?)),
        "fail" => FaultKind::Failing(None),
        "silence" => FaultKind::Silent,
        "lie" => FaultKind::Lying,
        "flap" => {
            words.must("every")?;
            FaultKind::Flapping(words.duration()?)
        }
        "slow" => {
            words.must("by")?;
            FaultKind::Slow(words.duration()?)
        }
        _ => return Ok(ScenarioEvent::Repair(who)),
    };
    Ok(ScenarioEvent::Hosts { who, fault, lasts: words.lasts()? })
}

fn fleet(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    if verb == "remove" {
        return Ok(ScenarioEvent::Shrink(words.who(&names.environments)?));
    }
    let word = words.word("the names of the clusters")?;
    let pattern = NamePattern::parse(word).ok_or_else(|| format!("`{word}` is no name: write `store-[4-9]`"))?;
    words.must("to")?;
    let environment = words.environment(&names.environments)?;
    let labels = words.only()?.into_iter().map(|(key, value)| (key, vec![value])).collect();
    Ok(ScenarioEvent::Grow { environment, group: ClusterGroup { names: pattern, labels, hosts: 1 } })
}

fn states(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    words.must("states of")?;
    let environment = words.environment(&names.environments)?;
    Ok(if verb == "delete" {
        ScenarioEvent::DeleteStates { environment }
    } else {
        ScenarioEvent::RestoreStates { environment }
    })
}

fn outside(verb: &str, words: &mut Words<'_>) -> Result<ScenarioEvent, Expected> {
    let down = |part, words: &mut Words<'_>| {
        words.must("for")?;
        Ok(ScenarioEvent::Down { part, lasts: words.duration()? })
    };
    match verb {
        "check" => {
            let name = words.name("the name of a check")?;
            let outcome = match words.word("the outcome")? {
                "passes" => Some(true),
                "fails" => Some(false),
                "is" => words.must("unknown").map(|()| None)?,
                other => return Err(format!("`passes`, `fails` or `is unknown` is expected at `{other}`")),
            };
            Ok(ScenarioEvent::Check { name, outcome, lasts: words.lasts()? })
        }
        "kill" => {
            words.must("the service")?;
            if words.take("at every step") {
                Ok(ScenarioEvent::KillAtEveryStep)
            } else {
                down(SystemPart::Service, words)
            }
        }
        "git-host" => words.must("API is down").and_then(|()| down(SystemPart::HostApi, words)),
        "hub" if words.take("misses publications") => down(SystemPart::Publications, words),
        "hub" => words.must("is down").and_then(|()| down(SystemPart::Hub, words)),
        _ => {
            words.must("is wrong by")?;
            let word = words.word("a duration")?;
            let (sign, size) = word.strip_prefix('-').map_or((1, word), |size| (-1, size));
            let size = model::duration::parse(size).map_err(|error| format!("`{word}`: {error}"))?;
            let seconds = sign * i64::try_from(size.as_secs()).unwrap_or(i64::MAX);
            Ok(ScenarioEvent::Skew { seconds, lasts: words.lasts()? })
        }
    }
}

fn decision(verb: &str, words: &mut Words<'_>, names: &Names) -> Result<ScenarioEvent, Expected> {
    let environment = words.environment(&names.environments)?;
    let subject = words.subject(names)?;
    let decision = match verb {
        "approve" => DecisionKind::Approve,
        "hold" => DecisionKind::Hold,
        "resume" => DecisionKind::Resume,
        "abort" => DecisionKind::Abort,
        "retry" => DecisionKind::Retry,
        "rollback" => DecisionKind::RollBack,
        "override" => DecisionKind::Override,
        "skip" => {
            words.must("gate")?;
            let gate = words.name("the name of a gate")?;
            let is_named = words.take("of");
            let revision = is_named.then(|| words.name("the revision")).transpose()?;
            DecisionKind::Skip(gate, revision)
        }
        _ if words.take("to") => DecisionKind::Promote(Some(words.name("the revision")?)),
        _ => DecisionKind::Promote(None),
    };
    words.must("by")?;
    let by = words.name("an account")?;
    let reason = words.rest_after("because");
    if reason.is_empty() && matches!(verb, "hold" | "abort" | "skip" | "rollback" | "override" | "promote") {
        return Err("`because REASON` is missing at the end".to_owned());
    }
    Ok(ScenarioEvent::Decide(DecisionEvent { environment, subject, by, decision, reason }))
}
