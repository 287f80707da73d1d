//! The configured checks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use engine::promotion::evidence::{CheckOutcome, CheckResult};
use model::object::promotion::Check;

use crate::cache::{Cache, CheckQuestion, Kept};
use crate::http::Clients;
use crate::limits::CONCURRENT_MAX;
use crate::measurement::Measured;
use crate::runtime::Runtime;
use crate::settings::{CheckKind, CheckSettings, SettingsError};
use crate::subject::CheckSubject;
use crate::{command, http, judgement, placeholders, prometheus};

/// The checks of a configuration. Copies share their measurements.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    settings: Arc<BTreeMap<Arc<str>, CheckSettings>>,
    /// None: no check sends requests.
    clients: Option<Clients>,
    cache: Arc<Cache>,
    runtime: Runtime,
}

impl Checks {
    /// Creates the checks with these names. Nothing is measured.
    ///
    /// # Errors
    /// If the settings of a check can't be used. The error has its name.
    pub fn new(
        settings: impl IntoIterator<Item = (String, CheckSettings)>,
        runtime: Runtime,
    ) -> Result<Self, (String, SettingsError)> {
        let mut checked = BTreeMap::new();
        for (name, settings) in settings {
            match settings.check() {
                Ok(()) => checked.insert(Arc::from(name), settings),
                Err(error) => return Err((name, error)),
            };
        }
        let sends = |(_, settings): &(&Arc<str>, &CheckSettings)| !matches!(settings.kind, CheckKind::Command(_));
        let clients =
            checked.iter().find(sends).map(|(name, _)| Clients::new().map_err(|error| (name.to_string(), error)));
        let clients = clients.transpose()?;
        Ok(Self { settings: Arc::new(checked), clients, cache: Arc::default(), runtime })
    }

    /// The names of the checks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.keys().map(|name| &**name)
    }

    /// Measures a check of a change, unless a measurement is recent enough, and compares it with what the gate expects.
    ///
    /// Blocks for at most the time limit of the check, and while too many other measurements run. Must not be called on a thread that runs asynchronous
    /// tasks.
    pub fn run(&self, gate: &Check, subject: &CheckSubject) -> CheckResult {
        let Some((name, settings)) = self.settings.get_key_value(&gate.name) else {
            return self.unknown(&format!("the service's configuration has no check `{}`", gate.name));
        };
        if !judgement::fits(&settings.kind, &gate.expect) {
            let (is, expected) = (settings.kind.title(), judgement::title(&gate.expect));
            return self.unknown(&format!("the check `{name}` is {is}, and the gate expects {expected}"));
        }
        let question = question(&settings.kind, subject);
        let measure = || self.measure(settings, (&question, subject));
        let asked = CheckQuestion { check: Arc::clone(name), text: question.clone(), interval: settings.interval };
        let Kept { at, measured, .. } = self.cache.get(asked, &*self.runtime.now, &measure);
        let (outcome, text) = judgement::judge(&measured, &gate.expect);
        CheckResult { at, outcome, text: text.into() }
    }

    /// The results of several checks, which are measured at the same time, in their order.
    pub fn run_all(&self, gates: &[(Check, CheckSubject)]) -> Vec<CheckResult> {
        let share = gates.len().div_ceil(CONCURRENT_MAX).max(1);
        thread::scope(|scope| {
            let run = |gates: &[(Check, CheckSubject)]| -> Vec<CheckResult> {
                gates.iter().map(|(gate, subject)| self.run(gate, subject)).collect()
            };
            let threads: Vec<_> = gates.chunks(share).map(|part| (part, scope.spawn(move || run(part)))).collect();
            let results = threads.into_iter().map(|(part, thread)| {
                let lost = |_| part.iter().map(|_| self.unknown("the measurement was lost")).collect();
                thread.join().unwrap_or_else(lost)
            });
            results.flatten().collect()
        })
    }

    /// What a configuration has under a name.
    pub(crate) fn kind(&self, name: &str) -> Option<&CheckKind> {
        self.settings.get(name).map(|settings| &settings.kind)
    }

    fn measure(&self, settings: &CheckSettings, (question, subject): (&str, &CheckSubject)) -> Measured {
        let clients = || self.clients.as_ref().ok_or_else(|| "requests can't be sent".to_owned());
        match &settings.kind {
            CheckKind::Http(own) => http::measure(clients()?, own, question, settings.timeout),
            CheckKind::Prometheus(own) => prometheus::measure(clients()?, own, question, settings.timeout),
            CheckKind::Command(own) => command::measure(own, subject, settings.timeout, &self.runtime),
        }
    }

    fn unknown(&self, text: &str) -> CheckResult {
        CheckResult { at: (self.runtime.now)(), outcome: CheckOutcome::Unknown, text: text.into() }
    }
}

/// What is asked about a change. The same question has the same measurement.
fn question(kind: &CheckKind, subject: &CheckSubject) -> String {
    match kind {
        CheckKind::Http(http) => placeholders::in_url(&http.url, subject),
        CheckKind::Prometheus(prometheus) => placeholders::in_query(&prometheus.query, subject),
        CheckKind::Command(_) => subject.variables().map(|(_, value)| value).join("\0"),
    }
}
