//! Every limit of the hub, with its reason.

use std::time::Duration;

/// Bytes of a request with reports, after decompression.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Parts of a request with log records: records, attributes, texts. Each takes some hundred bytes of memory, and may be two bytes long on the wire.
/// A collector's usual batch of 8,192 records has about 150,000.
pub const OTLP_PARTS_MAX: usize = 500_000;

/// Reports that wait to be stored. Beyond it, new ones are turned away with 429, so that memory is bounded and waiting stays short.
pub const QUEUE_REPORTS_MAX: usize = 30_000;

/// Reports that are stored in one transaction. More amortize the commit better, but keep the first one waiting for longer.
pub const TRANSACTION_REPORTS_MAX: usize = 4_000;

/// Reconcilers that one page looks at at most, whatever is selected: a page that finds few among many ends early, and the next one goes on.
pub const PAGE_EXAMINED_MAX: usize = 20_000;

/// Hosts that labels or a cluster type may select to be examined one by one. Beyond it they are so many that looking at places finds them soon.
pub const SELECTED_HOSTS_MAX: usize = 5_000;

/// Reconcilers of places that are asked for their hosts, where totals of some hosts are asked for at these places. Beyond it, the hosts are asked for their
/// reconcilers.
pub const COUNTED_BY_PLACE_MAX: i64 = 50_000;

/// Questions for which more hosts are counted than that, at the same time. A million hosts are some seconds of one processor, and on SQLite 150 MiB.
pub const COUNTS_AT_ONCE: usize = 2;

/// How long a question waits for its turn to count. With counting, it stays below what clients wait for.
pub const COUNT_WAIT: Duration = Duration::from_secs(10);

/// Reconcilers that are examined to know how many stood where at a timestamp.
pub const COUNTED_THEN_MAX: usize = 5_000;

/// Environments with metrics of their own. Each has nine series; companies have a handful.
pub const METRICS_ENVIRONMENTS_MAX: usize = 100;

/// How old metrics of environments may be. Several scrapers cost the database no more than one.
pub const METRICS_AGE: Duration = Duration::from_secs(15);

/// Entries of the audit log that are kept if nothing else is configured: some tens of megabytes.
pub const AUDIT_KEPT: usize = 100_000;

/// Workspaces, and environments, that a token is limited to. They are compared with every name of an answer.
pub const REACH_NAMES_MAX: usize = 100;

/// How long a token is taken for what it was when it was looked up. Half of the 5 seconds within which a revocation takes effect in every replica.
pub const TOKEN_CACHE: Duration = Duration::from_millis(2_500);

/// Tokens that are remembered for that time, and tokens whose last use waits to be noted. Some hundred bytes each.
pub const TOKENS_REMEMBERED_MAX: usize = 20_000;

/// How often the last use of tokens is noted. Oftener would be a write for each request.
pub const TOKEN_USE_NOTED: Duration = Duration::from_mins(1);

/// Bytes of request bodies in memory at a time. Beyond it, requests are turned away with 429.
pub const BODIES_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Bytes of a message of gRPC, after decompression. What gRPC takes if nothing else is said.
pub const GRPC_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long the body of a request may take to arrive.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long reports may wait to be stored until the client is told to send them again. The same report twice is one.
pub const SUBMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the header of a request may take to arrive; an idle connection is kept for as long.
pub const HEADER_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a TLS handshake may take.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of the header of a request. OIDC tokens may have some kilobytes.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Connections at a time. Each is a file descriptor and some kilobytes; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 4_096;

/// Requests at a time on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 256;

/// How long requests may take to finish when the hub is stopped.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(25);

/// Bytes of the answers of an OIDC issuer. Its keys have about one kilobyte each.
pub const OIDC_BYTES_MAX: usize = 1024 * 1024;

/// Bits of an RSA key of an OIDC issuer: shorter ones can be broken (NIST SP 800-131A).
pub const RSA_BITS_MIN: usize = 2_048;

/// How long an OIDC issuer may take to answer.
pub const OIDC_TIMEOUT: Duration = Duration::from_secs(5);

/// How old the keys of an OIDC issuer may be before they are asked for again.
pub const OIDC_KEYS_AGE: Duration = Duration::from_mins(10);

/// How often an OIDC issuer is asked for its keys in a minute: forged tokens must not make the hub flood it.
pub const OIDC_FETCHES_MAX: usize = 5;

/// How often history beyond its retention is forgotten. Ages are days: an hour more does not matter.
pub const RETENTION_PERIOD: Duration = Duration::from_hours(1);

/// Reports of a signed file that are stored at a time. Each waits for the commit, so that fewer would take longer.
pub const IMPORT_REPORTS: usize = 1_000;

/// Refused reports of a signed file that are told; of the rest, how many there are.
pub const IMPORT_REFUSALS_MAX: usize = 1_000;

/// How long it is kept who has gone silent and who was heard again, for those who follow changes and were away.
pub const SILENCES_KEPT: Duration = Duration::from_hours(24 * 7);

/// Streams of events at a time. Each is a connection, and asks the database where something it may be about has changed.
pub const EVENT_STREAMS_MAX: usize = 200;

/// Streams that read from the database at the same time: questions must not wait for them.
pub const EVENT_READERS_MAX: usize = 2;

/// Changes that are examined, at once, for one stream. They wait in memory until the other side takes them.
pub const EVENTS_EXAMINED_MAX: usize = 500;

/// Bytes of the messages of changes that wait in memory for one stream. Beyond it, fewer are read at once: messages may be long, and all streams slow.
pub const EVENTS_BYTES_MAX: usize = 256 * 1024;

/// Readings for one stream that others may share: of those that just began, and those that are about something else.
pub const EVENTS_SHARED: usize = 8;

/// How often it is looked whether something has changed, while somebody follows. Nothing is examined otherwise.
pub const EVENTS_PERIOD: Duration = Duration::from_millis(500);

/// How long a stream may take to find out where it begins.
pub const EVENTS_BEGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long those who follow changes should wait before they come back.
pub const EVENTS_RETRY: Duration = Duration::from_secs(2);

/// Rules of a configuration. Each is a question about all tallies of an environment, every few seconds; or about some hosts, as often as counting them allows.
pub const RULES_MAX: usize = 200;

/// How long what is desired may not be there at most until it counts for a rule about drift's age.
pub const RULE_AGE_MAX: Duration = Duration::from_hours(24 * 366);

/// Demanded heartbeats of a configuration. Each is a condition on all reconcilers, every few seconds.
pub const HEARTBEATS_MAX: usize = 20;

/// How often the rules are evaluated.
pub const RULES_PERIOD: Duration = Duration::from_secs(15);

/// The longest pause between two looks at a rule whose hosts take long to count: ten times as long as counting them, else. Below the time that a hub may be away.
pub const RULE_PAUSE_MAX: Duration = Duration::from_mins(1);

/// For how long something may have to last at most until a rule fires.
pub const RULE_LASTING_MAX: Duration = Duration::from_hours(24 * 7);

/// Hosts that a notification names as examples.
pub const NOTIFICATION_EXAMPLES: usize = 10;

/// Characters of the message of each of them.
pub const NOTIFICATION_MESSAGE_CHARACTERS: usize = 500;

/// Characters of a line about one host in messages for chats: ten of them fit into the 28 KB that Microsoft Teams takes, in any script.
pub const NOTIFICATION_LINE_CHARACTERS: usize = 300;

/// How often it is looked whether a notification is to be sent.
pub const NOTIFICATIONS_PERIOD: Duration = Duration::from_secs(2);

/// Notifications that are sent at the same time: one receiver that is slow does not keep the others waiting.
pub const NOTIFICATIONS_AT_ONCE: usize = 4;

/// How long who is told may take to say that he was. Standard Webhooks recommends 15 to 30 seconds.
pub const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(15);

/// For how long whoever sends a notification has it for himself. Longer than it may take; not much longer, for he may have gone.
pub const NOTIFICATION_LEASE: Duration = Duration::from_mins(1);

/// The first pause before a notification is sent again; each is twice as long as the one before.
pub const NOTIFICATION_PAUSE: Duration = Duration::from_secs(5);

/// The longest.
pub const NOTIFICATION_PAUSE_MAX: Duration = Duration::from_hours(1);

/// How old a notification may be when it is sent. What happened the day before yesterday, somebody has found out otherwise.
pub const NOTIFICATION_AGE_MAX: Duration = Duration::from_hours(24);

/// How long it is kept what was told.
pub const NOTIFICATIONS_KEPT: Duration = Duration::from_hours(24 * 30);
