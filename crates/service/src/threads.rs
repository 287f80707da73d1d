//! The threads of the service: those that poll, one for each environment, and one that renews leases.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use crate::environment::Environment;
use crate::lease::Lease;
use crate::limits::POLLS_AT_ONCE;
use crate::poller::Poller;
use crate::renewer;
use crate::shared::Shared;
use crate::trigger::Reason;
use crate::worker::Worker;

/// Starts the polling threads, and the thread that renews leases. The polling threads start the threads of the environments.
pub(crate) fn start(shared: &Arc<Shared>) {
    if let Some(leases) = shared.settings.leases.clone() {
        let shared = Arc::clone(shared);
        shared.set_renewing(true);
        spawn("leases", move || renewer::run(&shared, &*leases));
    }
    for number in 0..POLLS_AT_ONCE {
        let shared = Arc::clone(shared);
        spawn(&format!("poll-{number}"), move || Poller { shared: &shared, refresh: &|| refresh(&shared) }.run());
    }
}

/// Reads the environments. Starts the threads of new environments, and ends the threads of removed ones.
fn refresh(shared: &Arc<Shared>) {
    let names = match delivery::reading::environment_names(&shared.access()) {
        Ok(names) => names,
        Err(error) => {
            *shared.missing() = Some(error.to_string()).filter(|_| shared.environments().is_empty());
            let was_known = shared.are_names_old.swap(true, Ordering::Relaxed);
            // It is tried again with each poll: a lasting error is logged once.
            if was_known {
                tracing::debug!(%error, "the environments can't be read; the known ones stay");
            } else {
                tracing::warn!(%error, "the environments can't be read; the known ones stay");
            }
            return;
        }
    };
    *shared.missing() = None;
    shared.are_names_old.store(false, Ordering::Relaxed);
    let mut environments = shared.environments();
    environments.retain(|name, environment| {
        let stays = names.contains(name);
        if !stays {
            tracing::info!(environment = name.as_str(), "the environment is not declared any more");
            environment.trigger.stop();
        }
        stays
    });
    for name in names {
        if !environments.contains_key(&name) && !shared.is_stopping() {
            let lease = Lease::new(shared.settings.leases.as_deref());
            let environment = Arc::new(Environment::new(shared.name.as_deref(), name.clone(), lease));
            environments.insert(name, Arc::clone(&environment));
            begin(shared, environment);
        }
    }
    drop(environments);
    shared.outbox.wake();
}

/// Starts the thread of an environment. Its first sync begins at once, or when this process leads the environment.
fn begin(shared: &Arc<Shared>, environment: Arc<Environment>) {
    shared.enter();
    if environment.lease.is_held() {
        environment.trigger.request(Reason::Start);
    }
    let (shared, name) = (Arc::clone(shared), environment.shown.clone());
    spawn(&name, move || {
        Worker::new(&shared, &environment).run();
        environment.has_ended.store(true, Ordering::Relaxed);
        shared.leave();
    });
}

/// Starts a thread. If that is not possible, the service can't do its work, and the log says so.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.to_owned()).spawn(work) {
        tracing::error!(%error, name, "a thread can't be started");
    }
}
