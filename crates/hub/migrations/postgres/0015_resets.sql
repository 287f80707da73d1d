-- A branch that is reset goes through a commit again: what it held before and after that stays known.
-- `committed_on` is when the commit was made; of a commit that the branch was reset to, when that was seen.
alter table gitops_commit drop constraint gitops_commit_branch_id_commit_id_key;
drop index gitops_commit_id;
create index gitops_commit_id on gitops_commit (commit_id, branch_id);

-- One row for a target, a version and a commit: the first of several goes, so that the latest assignment stays the latest.
delete from deployment_assignment a using deployment_assignment l
    where l.deployment_target_id = a.deployment_target_id and l.workload_version_id = a.workload_version_id
    and l.gitops_commit_id = a.gitops_commit_id and l.id > a.id;
