-- How long it took to count those whom the rule is about, when somebody last looked, in milliseconds.
alter table rule_state add column took_ms bigint not null default 0;
