//! Sends the messages of simulated hosts to a hub.

use hub_api::client::{Client, ClientError};
use simulator::simulation::{Message, Route};
use tokio::task::JoinSet;

/// The number of messages that are sent at the same time.
const LANES: usize = 8;

/// Sends messages, and returns when all of them are stored.
pub(super) async fn deliver(client: &Client, messages: Vec<Message>) -> Result<(), ClientError> {
    let mut lanes: [Vec<Message>; LANES] = std::array::from_fn(|_| Vec::new());
    for (number, message) in messages.into_iter().enumerate() {
        lanes[number % LANES].push(message);
    }
    let mut lanes: JoinSet<_> = lanes.into_iter().map(|lane| send(client.clone(), lane)).collect();
    while let Some(sent) = lanes.join_next().await {
        sent.unwrap_or(Ok(()))?;
    }
    Ok(())
}

async fn send(client: Client, lane: Vec<Message>) -> Result<(), ClientError> {
    for message in lane {
        // The hosts of the demo use no other routes.
        if let Route::Http(path) = &message.route {
            client.relay(path, &message.headers, message.body).await?;
        }
    }
    Ok(())
}
