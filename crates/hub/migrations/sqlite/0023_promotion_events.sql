-- What happened in promotions: decisions of the controller and of people. Rows are only added, and deleted after their retention.
-- Ids are never used again, because clients have read up to one of them.
create table promotion_event (
    id          integer primary key autoincrement,
    -- The id that the sender made: a repeated request stores the event once.
    event_id    text not null unique,
    happened_on integer not null,
    environment text not null,
    -- The workload. Empty: the commits of the platform.
    subject     text not null,
    revision    text,
    kind        text not null,
    ring        text,
    message     text not null,
    -- Who decided. Absent: the controller.
    decided_by  text,
    -- JSON.
    evidence    text
);
create index promotion_event_happened on promotion_event (happened_on);
create index promotion_event_of on promotion_event (environment, subject, id);
