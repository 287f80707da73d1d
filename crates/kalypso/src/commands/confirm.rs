//! `kalypso confirm`: confirms the removals of an environment.

use hub_api::syncs::Confirmation;

use crate::arguments::{Confirm, Format};
use crate::exit::Exit;
use crate::hub_client::Hub;
use crate::terminal;

pub(super) fn run(options: &Confirm) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let confirmation = Confirmation { environment: options.environment.clone(), word: options.word.clone() };
    let receipt = hub.ask(hub.client.confirm(&confirmation))?;
    match options.connection.output {
        Format::Human => {
            terminal::answer(&format!(
                "Confirmed: the service publishes these removals of {} now\n",
                options.environment
            ))?;
        }
        format => terminal::answer(&terminal::structured(&receipt, format))?,
    }
    Ok(Exit::Good)
}
