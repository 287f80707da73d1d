-- The workspaces and environments that a token is limited to that asks or publishes (empty: all of them). JSON.
alter table token add column workspaces text not null default '[]';
alter table token add column environments text not null default '[]';
