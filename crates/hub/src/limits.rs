//! Every limit of the hub, with its reason.

use std::time::Duration;

/// Bytes of a request with reports, after decompression.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Parts of a request with log records: records, attributes, texts. A part takes some hundred bytes of memory, but only two bytes in the request.
/// A collector's usual batch of 8,192 records has about 150,000 parts.
pub const OTLP_PARTS_MAX: usize = 500_000;

/// Reports that wait to be stored. Beyond this limit, the hub refuses new reports with status 429, so that memory and waiting times are limited.
pub const QUEUE_REPORTS_MAX: usize = 30_000;

/// Reports that are stored in one transaction. With more reports, the commit costs less for each, but the first report waits longer.
pub const TRANSACTION_REPORTS_MAX: usize = 4_000;

/// Reconcilers that one page examines, for any filter. A page that finds few reconcilers among many ends early, and the next page continues.
pub const PAGE_EXAMINED_MAX: usize = 20_000;

/// Hosts that are examined one by one if labels or a cluster type select them. If more are selected, a search along places finds them quickly.
pub const SELECTED_HOSTS_MAX: usize = 5_000;

/// For totals of some hosts at some places: the number of reconcilers at these places up to which the count begins with the reconcilers and reads their
/// hosts. Beyond this limit, the count begins with the hosts and reads their reconcilers.
pub const COUNTED_BY_PLACE_MAX: i64 = 50_000;

/// Questions at the same time for which many hosts are counted. A million hosts take some seconds of one processor, and on SQLite 150 MiB.
pub const COUNTS_AT_ONCE: usize = 2;

/// How long a question waits for its permit to count. With the time for counting, this is below the usual timeouts of clients.
pub const COUNT_WAIT: Duration = Duration::from_secs(10);

/// Questions about compiled environments that are answered at the same time. Each may read repositories and compile an environment, with all processors.
pub const COMPILED_AT_ONCE: usize = 4;

/// How long a question about a compiled environment waits for its turn. Those before it usually take milliseconds.
pub const COMPILED_WAIT: Duration = Duration::from_secs(5);

/// How long the answer to a question about a compiled environment may take. It is below the time limit of clients. A first question about a large environment
/// may need more; the work goes on, and a later request gets its result.
pub const COMPILED_TIMEOUT: Duration = Duration::from_secs(20);

/// When a question about a compiled environment may be asked again, if it is not answered in time.
pub const COMPILED_RETRY: Duration = Duration::from_secs(3);

/// Reconcilers that are examined to count rollout states at a timestamp.
pub const COUNTED_THEN_MAX: usize = 5_000;

/// Names of each kind that a search examines, for any words. With more, the answer says that there may be others.
pub const SEARCH_EXAMINED_MAX: usize = 2_000;

/// Versions that a search examines, the newest ones.
pub const SEARCH_VERSIONS_MAX: usize = 20_000;

/// Environments with metrics of their own. Each has nine series. Most companies have fewer than ten environments.
pub const METRICS_ENVIRONMENTS_MAX: usize = 100;

/// How old metrics of environments may be. So several scrapers cost the database no more than one.
pub const METRICS_AGE: Duration = Duration::from_secs(15);

/// Default number of entries in the audit log: some tens of megabytes.
pub const AUDIT_KEPT: usize = 100_000;

/// Workspaces in the reach of a token, and environments in it. They are compared with each name in an answer.
pub const REACH_NAMES_MAX: usize = 100;

/// How long a token stays in the cache. This is half of the 5 seconds within which a revocation takes effect in every replica.
pub const TOKEN_CACHE: Duration = Duration::from_millis(2_500);

/// Tokens in the cache, and tokens whose last use is not stored yet. Some hundred bytes each.
pub const TOKENS_REMEMBERED_MAX: usize = 20_000;

/// How often the last use of tokens is stored. Without this limit, each request would be a write.
pub const TOKEN_USE_NOTED: Duration = Duration::from_mins(1);

/// Bytes of request bodies in memory at a time. Beyond this limit, the hub refuses requests with status 429.
pub const BODIES_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Bytes of a message of gRPC, after decompression. This is the default of gRPC.
pub const GRPC_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long the body of a request may take to arrive.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long reports may wait to be stored. After this time, the answer is that the client must send them again. A report that is sent twice is stored
/// once.
pub const SUBMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the header of a request may take to arrive. An idle connection is closed after the same time.
pub const HEADER_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a TLS handshake may take.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of the header of a request. OIDC tokens may have some kilobytes.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Connections at a time. Each takes a file descriptor and some kilobytes. Further connections wait to be accepted.
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

/// How old the keys of an OIDC issuer may be before the hub fetches them again.
pub const OIDC_KEYS_AGE: Duration = Duration::from_mins(10);

/// Maximum number of times in a minute that the hub fetches the keys of an OIDC issuer: forged tokens must not cause a flood of requests.
pub const OIDC_FETCHES_MAX: usize = 5;

/// How often history beyond its retention is deleted. Retention is in days, so one more hour does not matter.
pub const RETENTION_PERIOD: Duration = Duration::from_hours(1);

/// Reports of a signed file that are stored at a time. Each batch waits for a commit, so smaller batches take longer.
pub const IMPORT_REPORTS: usize = 1_000;

/// Refused reports of a signed file that the answer lists. For the rest, it has only their number.
pub const IMPORT_REFUSALS_MAX: usize = 1_000;

/// How long the hub keeps the changes between silent and reporting, for clients that follow changes and reconnect.
pub const SILENCES_KEPT: Duration = Duration::from_hours(24 * 7);

/// Streams of events at a time: 500 open pages, and programs. Each is a connection, and reads from the database after changes that its filter may select. While there are
/// none, it reads only its credentials, with each keep-alive. If all clients are slow and have different filters, the changes in memory are 150 MiB.
pub const EVENT_STREAMS_MAX: usize = 600;

/// Streams that read from the database at the same time: questions must not wait for them.
pub const EVENT_READERS_MAX: usize = 2;

/// Changes that are examined at once for one stream. They stay in memory until the client receives them.
pub const EVENTS_EXAMINED_MAX: usize = 500;

/// Bytes of the messages of changes in memory for one stream. Beyond this limit, fewer changes are read at once: messages can be long, and all
/// streams can be slow.
pub const EVENTS_BYTES_MAX: usize = 256 * 1024;

/// Recent results of reads in the cache that all streams share. Streams at other positions or with other filters need other results.
pub const EVENTS_SHARED: usize = 8;

/// How often the hub checks for changes while at least one client follows them. Without such clients, it does not check.
pub const EVENTS_PERIOD: Duration = Duration::from_millis(500);

/// How long a stream may take to find its first position.
pub const EVENTS_BEGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long clients that follow changes should wait before they reconnect.
pub const EVENTS_RETRY: Duration = Duration::from_secs(2);

/// How often the hub records the counts of reconcilers for questions about earlier times, if they have changed.
pub const COUNTS_RECORDED: Duration = Duration::from_secs(10);

/// Tallies that the hub records in a second, on average. A fleet with more states of reconcilers is recorded less often.
pub const RECORDED_TALLIES_PER_SECOND: usize = 100;

/// Points of the curve of a rollout. Each has the counts of all its places.
pub const CURVE_POINTS_MAX: usize = 60;

/// Rules of a configuration. Each reads all tallies of an environment, every few seconds; or counts some hosts, as often as the time for counting allows.
pub const RULES_MAX: usize = 200;

/// The largest `longer-than` of a rule about drift: for how long the missing content must have been desired.
pub const RULE_AGE_MAX: Duration = Duration::from_hours(24 * 366);

/// Required heartbeats in a configuration. Each is a condition on all reconcilers, every few seconds.
pub const HEARTBEATS_MAX: usize = 20;

/// How often the rules are evaluated.
pub const RULES_PERIOD: Duration = Duration::from_secs(15);

/// The longest pause between two evaluations of a rule whose hosts take long to count. Below this limit, the pause is ten times as long as the
/// counting. The limit is below the time for which a hub may be down without an effect on rules.
pub const RULE_PAUSE_MAX: Duration = Duration::from_mins(1);

/// The largest `for` of a rule: how long its threshold must be exceeded until it fires.
pub const RULE_LASTING_MAX: Duration = Duration::from_hours(24 * 7);

/// Hosts that a notification names as examples.
pub const NOTIFICATION_EXAMPLES: usize = 10;

/// Characters of the message of each example in a notification.
pub const NOTIFICATION_MESSAGE_CHARACTERS: usize = 500;

/// Characters of a line about one host in messages for chats. Ten lines fit into the 28 KB that Microsoft Teams accepts, in any script.
pub const NOTIFICATION_LINE_CHARACTERS: usize = 300;

/// How often the hub checks for notifications that are due.
pub const NOTIFICATIONS_PERIOD: Duration = Duration::from_secs(2);

/// Notifications that are sent at the same time, so that a slow receiver does not delay the others.
pub const NOTIFICATIONS_AT_ONCE: usize = 4;

/// How long a receiver may take to answer. Standard Webhooks recommends 15 to 30 seconds.
pub const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a notification is leased to the replica that sends it. This is longer than sending may take, but not much longer, because the replica may
/// have stopped.
pub const NOTIFICATION_LEASE: Duration = Duration::from_mins(1);

/// The first pause before a notification is sent again. Each further pause is twice as long as the one before.
pub const NOTIFICATION_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause before a notification is sent again.
pub const NOTIFICATION_PAUSE_MAX: Duration = Duration::from_hours(1);

/// How old a notification may be when it is sent. Older notifications are of no use to the receiver.
pub const NOTIFICATION_AGE_MAX: Duration = Duration::from_hours(24);

/// How long the hub keeps notifications.
pub const NOTIFICATIONS_KEPT: Duration = Duration::from_hours(24 * 30);

/// The most requests for syncs that a replica of the service receives in one transaction. Usually there are a few; those beyond come with the next one.
pub const SYNC_REQUESTS_MAX: usize = 1_000;

/// Reports of each token that are kept apart because its hosts are not registered for their places. A forger can fill this list, and nothing else.
pub const APART_REPORTS_MAX: usize = 1_000;

/// Characters of the message of a report that is kept apart.
pub const APART_MESSAGE_CHARACTERS: usize = 500;

/// How long the hub keeps a report apart after it arrived.
pub const APART_REPORTS_KEPT: Duration = Duration::from_hours(24 * 30);

/// How long a session of a person lives without use: a working day with its breaks. Browsers that are left open overnight have to sign in again.
pub const SESSION_IDLE_MAX: Duration = Duration::from_hours(12);

/// How long a session of a person lives at most. After this time, an account that the OIDC issuer has closed can't be used any more.
pub const SESSION_AGE_MAX: Duration = Duration::from_hours(24 * 7);

/// How much the clocks of two replicas may differ. A session whose sign-in is further in the future is not valid: the clock was set back.
pub const SESSION_CLOCK_SKEW: Duration = Duration::from_mins(5);

/// How old the stored last use of a session may be before it is stored again. Without this limit, each request would be a write. A session may end earlier by
/// this time than its last use says.
pub const SESSION_SEEN_NOTED: Duration = Duration::from_mins(5);

/// Sessions of one person. Further sign-ins end the oldest ones.
pub const SESSIONS_PER_PERSON_MAX: usize = 100;

/// Sessions whose last use is not stored yet. About a hundred bytes each.
pub const SESSIONS_REMEMBERED_MAX: usize = 20_000;

/// Values of the claim of an account that a session keeps. Those that give permissions at sign-in come first. Few people are in more groups.
pub const SESSION_VALUES_MAX: usize = 500;

/// Characters of the name of an account at the OIDC issuer (`sub`, `OpenID` Connect Core 1.0, section 2).
pub const SUBJECT_CHARACTERS_MAX: usize = 255;

/// How often ended sessions are deleted.
pub const SESSIONS_CLEANED: Duration = Duration::from_mins(10);

/// How long a person may take to sign in at the OIDC issuer.
pub const SIGN_IN_TIME_MAX: Duration = Duration::from_mins(10);

/// Attempts to sign in at the OIDC issuer that are not finished. Some hundred bytes each. Anyone can begin one, so the oldest are forgotten.
pub const SIGN_IN_ATTEMPTS_MAX: usize = 10_000;

/// Wrong tokens in the form to sign in, in a minute. People paste some; a program that tries many is stopped before it causes work.
pub const WRONG_SIGN_INS_MAX: usize = 100;

/// Bytes of the form to sign in: a token of the OIDC issuer has some kilobytes.
pub const SIGN_IN_BYTES_MAX: usize = 64 * 1024;

/// Characters of a path to return to after the sign-in. Addresses of questions with all filters are shorter.
pub const RETURN_CHARACTERS_MAX: usize = 2_000;
