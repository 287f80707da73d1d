//! What the controller of promotions needs of the hub of its own process: a task of the server answers the threads of the service.

use hub_api::client::ClientError;
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::places::PlaceState;
use hub_api::promotions::PromotionEvent;
use tokio::sync::{mpsc, oneshot};

use crate::promotions::{PromotionStore, RecordError};
use crate::questions::QuestionError;

/// The state of places and the history of promotions, for threads of the same process. Its methods block, and must not be called in a runtime of tokio.
#[derive(Clone, Debug)]
pub struct LocalPromotions(mpsc::Sender<Asked>);

/// A request of the controller, and where its answer goes.
#[derive(Debug)]
enum Asked {
    Places { environment: String, workload: Option<String>, answer: Answer<Vec<PlaceState>> },
    Record { events: Vec<PromotionEvent>, answer: Answer<()> },
}

type Answer<T> = oneshot::Sender<Result<T, ClientError>>;

/// The answers of a hub, as a task of its server, and the side that asks.
pub(crate) fn answers(hub: PromotionStore) -> (impl Future<Output = ()> + Send, LocalPromotions) {
    let (sender, mut receiver) = mpsc::channel::<Asked>(1);
    let task = async move {
        while let Some(asked) = receiver.recv().await {
            // Who no longer waits for the answer is stopping.
            match asked {
                Asked::Places { environment, workload, answer } => {
                    let states = hub.place_states(&environment, workload.as_deref()).await;
                    let _ = answer.send(states.map_err(|error| {
                        let is_unknown = matches!(error, QuestionError::Unknown { .. });
                        refused(if is_unknown { 404 } else { 503 }, &error)
                    }));
                }
                Asked::Record { events, answer } => {
                    let recorded = hub.record(&events).await;
                    let _ = answer.send(recorded.map(|_| ()).map_err(|error| match error {
                        RecordError::Invalid(_) => refused(422, &error),
                        RecordError::Database(_) => refused(503, &error),
                    }));
                }
            }
        }
    };
    (task, LocalPromotions(sender))
}

/// The error of a client whose request was answered so.
fn refused(status: u16, error: &dyn std::error::Error) -> ClientError {
    ClientError::Refused { status, detail: error.to_string(), hint: None, refused: Vec::new() }
}

impl LocalPromotions {
    fn ask<T>(&self, asked: impl FnOnce(Answer<T>) -> Asked) -> Result<T, ClientError> {
        let (sender, receiver) = oneshot::channel();
        self.0.blocking_send(asked(sender)).map_err(|_| stopped())?;
        receiver.blocking_recv().map_err(|_| stopped())?
    }
}

/// The error of requests while the hub of this process is being stopped.
fn stopped() -> ClientError {
    ClientError::Unreachable { url: "this process".to_owned(), reason: "it is being stopped".to_owned() }
}

impl PlaceEvidence for LocalPromotions {
    fn place_states(&self, environment: &str, workload: Option<&str>) -> Result<Vec<PlaceState>, ClientError> {
        let (environment, workload) = (environment.to_owned(), workload.map(str::to_owned));
        self.ask(|answer| Asked::Places { environment, workload, answer })
    }
}

impl PromotionEvents for LocalPromotions {
    fn record(&self, events: &[PromotionEvent]) -> Result<(), ClientError> {
        self.ask(|answer| Asked::Record { events: events.to_vec(), answer })
    }
}
