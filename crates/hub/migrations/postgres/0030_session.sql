-- The sessions of people who signed in with a browser. The clock of the hub decides when one ends.
create table session (
    -- The SHA-256 of the secret in the browser's cookie. The secret itself is not stored.
    id           varchar(64) primary key,
    -- The name of the token, or the subject at the OIDC issuer.
    name         text not null,
    -- The token that gives the permissions, and the SHA-256 of its secret at sign-in. Null: an OIDC issuer gives them.
    token_id     varchar(64),
    token_sha256 varchar(64),
    -- The OIDC issuer, its claim, and the values of the claim at sign-in (JSON), to which the current configuration gives permissions.
    issuer       text,
    claim        text,
    claim_values text,
    created_on   timestamp(3) not null,
    last_seen_on timestamp(3) not null,
    ends_on      timestamp(3) not null
);
create index session_name on session (name);

-- The attempts to sign in at the OIDC issuer that are not finished. Each can be finished once, in the browser in which it began.
create table sign_in_attempt (
    -- The SHA-256 of the `state` in the issuer's answer, and of the secret in the browser's cookie.
    state_sha256   varchar(64) primary key,
    browser_sha256 varchar(64) not null,
    -- What the token and the request for it must contain (OpenID Connect Core 1.0, RFC 7636).
    nonce          text not null,
    verifier       text not null,
    -- The path to return to.
    return_path    text not null,
    started_on     timestamp(3) not null
);
create index sign_in_attempt_started on sign_in_attempt (started_on);
