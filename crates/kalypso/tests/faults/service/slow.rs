//! A git host that answers slowly for one environment: the other one is updated in the meantime, and slow answers are no failures.

use std::time::{Duration, Instant};

use git_host::HostKind;
use git_host::double::{DoubleFault, FaultAnswer};
use serde_json::Value as Json;
use testkit::objects;

use super::hosted::{Hosted, eventually};

/// The slow answers. A sync of an environment needs several.
const ANSWERS: [FaultAnswer; 2] =
    [FaultAnswer::Late(Duration::from_secs(3)), FaultAnswer::Drip(Duration::from_micros(150))];

/// Answers slowly for environment `dev`, and checks that `prod` does not wait for it.
pub(crate) fn slow_answers() {
    let mut hosted = Hosted::new(HostKind::GitHub, "poll = \"1h\"\nsettle = \"0s\"\nresync = \"1h\"\n");
    hosted.start();
    hosted.is_ready();
    for (number, answer) in ANSWERS.into_iter().enumerate() {
        let what = format!("{answer:?}");
        let target = "kalypso%2Fdev".to_owned();
        hosted.double.fail_next(DoubleFault { method: "GET", target, is_done: true, answer, times: u32::MAX });
        let start = Instant::now();
        change(&hosted, "dev", number);
        eventually("the sync of dev", || (sync(&hosted, "dev")["phase"] == "syncing").then_some(()));
        change(&hosted, "prod", number);
        eventually("the update of prod", || is_updated(&hosted, "prod", number).then_some(()));
        let took_prod = start.elapsed();
        assert_eq!(sync(&hosted, "dev")["phase"], "syncing", "the answers are too fast for this test");
        eventually("the update of dev", || is_updated(&hosted, "dev", number).then_some(()));
        println!(
            "slow answers, {what}: prod was updated after {:.1} s, dev after {:.1} s",
            took_prod.as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
        hosted.double.clear_faults();
    }
    assert!(!hosted.log().contains("not synced"), "a slow answer is a failure:\n{}", hosted.log());
}

fn change(hosted: &Hosted, environment: &str, number: usize) {
    let values = format!("DATABASE: mysql://main/a\nROUND: slow-{number}");
    let file = objects::config("common", "", &values);
    hosted.company.change(&format!("control-plane@{environment}"), "configs/common.yaml", &file);
    assert_eq!(hosted.announce(&format!("control-plane@{environment}"), true), Some(202));
}

/// Whether a sync has ended that proposed the change.
fn is_updated(hosted: &Hosted, environment: &str, number: usize) -> bool {
    let found = sync(hosted, environment);
    found["phase"] == "waiting" && found["failures"] == 0 && hosted.proposes(environment, &format!("slow-{number}"))
}

/// The state of an environment in the service.
fn sync(hosted: &Hosted, environment: &str) -> Json {
    hosted.environments().into_iter().find(|found| found["environment"] == environment).unwrap_or_default()
}
