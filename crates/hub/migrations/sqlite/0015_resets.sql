-- A branch that is reset goes through a commit again: what it held before and after that stays known.
create table gitops_commit_again (
    id           integer primary key,
    branch_id    integer not null references gitops_branch,
    commit_id    text not null,
    sequence     integer not null,
    -- When it was made; of a commit that the branch was reset to, when that was seen.
    committed_on integer not null,
    unique (branch_id, sequence)
);
insert into gitops_commit_again (id, branch_id, commit_id, sequence, committed_on)
    select id, branch_id, commit_id, sequence, committed_on from gitops_commit;
drop table gitops_commit;
alter table gitops_commit_again rename to gitops_commit;
create index gitops_commit_id on gitops_commit (commit_id, branch_id);

-- One row for a target, a version and a commit: the first of several goes, so that the latest assignment stays the latest.
delete from deployment_assignment where id not in (
    select max(id) from deployment_assignment group by deployment_target_id, workload_version_id, gitops_commit_id);
