//! What happens later in a simulation.

/// Something that happens at a time. Environments, workloads and hosts are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// An event of the timeline.
    Happen(u32),
    /// The end of an event of the timeline that lasts for a while.
    End(Ending),
    /// A reconciler pulls.
    Pull(Reconciler),
    /// A reconciler has applied content, or failed to.
    Report(Reconciler, u32),
    /// The next report of a host is overdue.
    Overdue {
        /// The environment.
        environment: u16,
        /// The host.
        host: u32,
    },
    /// The branch of an environment gets the content that the state of its rollouts demands.
    Publish {
        /// The environment.
        environment: u16,
    },
    /// A pull request is merged.
    Merge {
        /// The environment.
        environment: u16,
        /// The subject.
        subject: u16,
        /// The number of the pull request.
        number: u32,
    },
    /// The controller takes a step.
    Step,
}

/// A reconciler: of a workload on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reconciler {
    /// The environment.
    pub(super) environment: u16,
    /// The workload.
    pub(super) workload: u16,
    /// The host in the environment.
    pub(super) host: u32,
}

/// What ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// The fault of a host, if it still is the one with this number.
    Fault {
        /// The environment.
        environment: u16,
        /// The host.
        host: u32,
        /// The number of the fault.
        number: u32,
    },
    /// The outcome of a check, if it still is the one with this number.
    Check {
        /// The number of the outcome.
        number: u32,
    },
    /// The service is down.
    Service,
    /// The API of the git host is down.
    HostApi,
    /// The hub is down.
    Hub,
    /// The hub misses publications.
    Publications,
    /// The clock of the service is wrong.
    Clock,
}
