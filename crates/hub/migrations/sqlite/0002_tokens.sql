-- Who may talk to the hub. Of a token only the SHA-256 of its secret is here: 256 random bits, so that no slow hash is needed.
create table token (
    -- The public part of the token's text.
    id                text primary key,
    name              text not null,
    -- `host` reports for one host, `group` for the hosts that a pattern matches, `read` asks, `admin` does everything.
    role              text not null,
    -- The host's name, or the pattern of names.
    host              text,
    -- Of a group: what may be reported (empty: anything), and the labels that its hosts get. JSON.
    reconciler_types  text not null default '[]',
    places            text not null default '[]',
    labels            text not null default '{}',
    -- Whether signatures made with a key derived from it are accepted.
    signs             integer not null default 0,
    secret_sha256     text not null,
    -- The secret before the last rotation, and until when it is still good.
    previous_sha256   text,
    previous_until    integer,
    created_on        integer not null,
    expires_on        integer,
    revoked_on        integer,
    last_used_on      integer
);
create unique index token_name on token (name) where revoked_on is null;
