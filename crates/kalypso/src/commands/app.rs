//! `kalypso app`: the side of the application teams.

mod check;
mod deploy;
mod diff;
mod explain;
mod images;
mod init;
mod known;
mod reading;
mod registries;
mod release;
mod render;
mod status;
mod update;

pub(crate) use self::deploy::{ApplicationDeployment, first_deployment};
pub(crate) use self::diff::ApplicationDifference;
pub(crate) use self::images::ApplicationImages;
pub(crate) use self::release::ApplicationReleases;
pub(crate) use self::render::RenderedApplication;
pub(crate) use self::status::ApplicationStatus;
pub(crate) use self::update::ServiceUpdates;
use crate::arguments::{App, AppCommand};
use crate::exit::Exit;

/// How many commits back commits are searched.
const HISTORY_MAX: usize = 10_000;

pub(super) fn run(options: &App) -> anyhow::Result<Exit> {
    match &options.command {
        AppCommand::Init(options) => init::run(options),
        AppCommand::Render(options) => render::run(options),
        AppCommand::Check(options) => check::run(options),
        AppCommand::Explain(options) => explain::run(options),
        AppCommand::Images(options) => images::run(options),
        AppCommand::Diff(options) => diff::run(options),
        AppCommand::Deploy(options) => deploy::run(options),
        AppCommand::Release(options) => release::run(options),
        AppCommand::Status(options) => status::run(options),
        AppCommand::Update(options) => update::run(options),
    }
}
