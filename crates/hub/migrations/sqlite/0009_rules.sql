-- Where the rules of the configuration stand. Who changes it also adds what is to be told of it, so that of several replicas one does.
create table rule_state (
    name       text primary key,
    -- `ok`, `pending` (it is too much, but not for long enough) or `firing`.
    phase      text not null,
    since_on   integer not null,
    looked_on  integer not null,
    -- How many were counted, of how many, when somebody last looked.
    matching   integer not null default 0,
    expected   integer not null default 0,
    -- Why it could not be looked at.
    problem    text
);

-- What is told, and what became of it. Of one rule, what comes later waits until what came before is delivered or given up.
create table notification (
    id           integer primary key autoincrement,
    -- The header `webhook-id`, the same whenever it is sent.
    message_id   text not null unique,
    rule         text not null,
    -- `firing` or `resolved`.
    kind         text not null,
    body         text not null,
    created_on   integer not null,
    -- When it is to be sent; none when nothing is to be done any more.
    due_on       integer,
    attempts     integer not null default 0,
    delivered_on integer,
    given_up_on  integer,
    -- Why it was not taken the last time.
    problem      text
);
create index notification_due on notification (rule, id) where due_on is not null;
create index notification_rule on notification (rule, id);
create index notification_created on notification (created_on);
