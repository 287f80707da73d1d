-- Where the rules of the configuration stand. Who changes it also adds what is to be told of it, so that of several replicas one does.
create table rule_state (
    name       varchar(253) primary key,
    -- `ok`, `pending` (it is too much, but not for long enough) or `firing`.
    phase      varchar(20) not null,
    since_on   timestamp(3) not null,
    looked_on  timestamp(3) not null,
    -- How many were counted, of how many, when somebody last looked.
    matching   bigint not null default 0,
    expected   bigint not null default 0,
    -- Why it could not be looked at.
    problem    text
);

-- What is told, and what became of it. Of one rule, what comes later waits until what came before is delivered or given up.
create table notification (
    id           bigserial primary key,
    -- The header `webhook-id`, the same whenever it is sent.
    message_id   varchar(60) not null unique,
    rule         varchar(253) not null,
    -- `firing` or `resolved`.
    kind         varchar(20) not null,
    body         text not null,
    created_on   timestamp(3) not null,
    -- When it is to be sent; none when nothing is to be done any more.
    due_on       timestamp(3),
    attempts     integer not null default 0,
    delivered_on timestamp(3),
    given_up_on  timestamp(3),
    -- Why it was not taken the last time.
    problem      text
);
create index notification_due on notification (rule, id) where due_on is not null;
create index notification_rule on notification (rule, id);
create index notification_created on notification (created_on);
