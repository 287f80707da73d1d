//! `kalypso approve`

use hub_api::promotions::PromotionAction;

use super::promotion::decide;
use crate::arguments::Approve;
use crate::exit::Exit;

pub(super) fn run(options: &Approve) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Approve, |command| {
        command.gate.clone_from(&options.gate);
        command.revision.clone_from(&options.revision);
        command.reason.clone_from(&options.reason);
    })
}
