//! Transports messages from simulated hosts to the hub. Some are late, and some arrive twice.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Behavior;
use crate::random::Random;

/// A message of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the host.
    pub host: String,
    /// The destination.
    pub route: Route,
    /// The headers of the request, including the media type.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The numbers of its reports in the log of the simulation.
    pub(super) report_numbers: Vec<usize>,
}

/// The destination of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A POST request to this path of the hub.
    Http(String),
    /// A call of this gRPC method. The body already has its frame. HTTP/2 is needed.
    Grpc(&'static str),
    /// A file that is signed with the host's token. The body has one generic report on each line.
    Carried,
}

/// Delays and repeats messages.
#[derive(Debug)]
pub(super) struct Transport {
    random: Random,
    late: u64,
    delay: RangeInclusive<i64>,
    twice: u64,
    carried_after: i64,
    /// The messages that have not arrived yet, by the time of their arrival and the order of sending.
    waiting: BTreeMap<(i64, u64), Message>,
    sent: u64,
}

impl Transport {
    pub(super) fn new(behavior: &Behavior, seed: u64) -> Self {
        let Behavior { late, delay, twice, carried_after, .. } = behavior.clone();
        Self { random: Random::new(!seed), late, delay, twice, carried_after, waiting: BTreeMap::new(), sent: 0 }
    }

    pub(super) fn send(&mut self, message: Message, at: i64) {
        let carried = if message.route == Route::Carried { self.carried_after } else { 0 };
        let delay = if self.random.percent(self.late) { self.random.within(&self.delay) } else { 0 };
        if self.random.percent(self.twice) {
            let later = self.random.within(&self.delay);
            self.enqueue(message.clone(), at + carried + delay + later);
        }
        self.enqueue(message, at + carried + delay);
    }

    fn enqueue(&mut self, message: Message, arrives: i64) {
        self.sent += 1;
        self.waiting.insert((arrives, self.sent), message);
    }

    /// The messages that arrive until this time, in seconds since 1970.
    pub(super) fn arrived(&mut self, now: i64) -> Vec<Message> {
        let later = self.waiting.split_off(&(now.saturating_add(1), 0));
        // After the maximum time there are no later messages.
        let later = if now == i64::MAX { BTreeMap::new() } else { later };
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }
}
