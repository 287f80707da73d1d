-- The folder of the output in the branch, when it was read last. If the configuration names another one later, all folders are compared again.
alter table gitops_branch add column folder text;
