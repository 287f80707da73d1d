//! The way of messages from simulated hosts to the hub: some are late, and some arrive twice.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Conduct;
use crate::random::Random;

/// What a host sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the host.
    pub host: String,
    /// Where it goes.
    pub route: Route,
    /// Headers of the request, the type of the body among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// What is said in it, by its numbers.
    pub(super) said: Vec<usize>,
}

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To this path of the hub, with POST.
    Http(String),
    /// To this method of gRPC: the body is framed already, and HTTP/2 is needed.
    Grpc(&'static str),
    /// Into a file, which is to be signed with the host's token; the body has generic reports, one on each line.
    Carried,
}

/// Messages on their way.
#[derive(Debug)]
pub(super) struct Post {
    random: Random,
    late: u64,
    delay: RangeInclusive<i64>,
    twice: u64,
    carried_after: i64,
    /// By when they arrive, and in which order they were sent.
    waiting: BTreeMap<(i64, u64), Message>,
    sent: u64,
}

impl Post {
    pub(super) fn new(conduct: &Conduct, seed: u64) -> Self {
        let Conduct { late, delay, twice, carried_after, .. } = conduct.clone();
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

    /// What arrives until that moment.
    pub(super) fn arrived(&mut self, now: i64) -> Vec<Message> {
        let later = self.waiting.split_off(&(now.saturating_add(1), 0));
        // At the end of time nothing is later.
        let later = if now == i64::MAX { BTreeMap::new() } else { later };
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }
}
