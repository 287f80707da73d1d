-- The last commit of a branch of which publishers sent all places of an environment. If a publisher ended before, the next one sends what is missing.
create table published_output (
    branch_id   integer not null references gitops_branch,
    environment text not null,
    folder      text not null,
    commit_id   text not null,
    primary key (branch_id, environment, folder)
);
