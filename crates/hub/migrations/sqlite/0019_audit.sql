-- Who published and decided what. The oldest entries are forgotten.
create table audit (
    id       integer primary key autoincrement,
    done_on  integer not null,
    -- The name of a token, the subject of an OIDC token, or the user of a command line.
    actor    text not null,
    action   text not null,
    subject  text not null,
    -- What else is known: JSON.
    detail   text
);
create index audit_done on audit (done_on);
