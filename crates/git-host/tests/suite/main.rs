//! The behaviours of git hosts, as one suite over every kind and over the host in memory.

#[cfg(test)]
mod evidence;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod merges;
#[cfg(test)]
mod protection;
#[cfg(test)]
mod pull_requests;
#[cfg(test)]
mod repositories;
#[cfg(test)]
mod sticky;
#[cfg(test)]
mod work_items;
#[cfg(test)]
mod world;

/// Tests of these behaviours for each kind of host over HTTP, and for the host in memory.
macro_rules! everywhere {
    ($($area:ident: $($behaviour:ident),+;)+) => {
        everywhere! { @ github over Http of GitHub: $($area: $($behaviour),+;)+ }
        everywhere! { @ gitlab over Http of GitLab: $($area: $($behaviour),+;)+ }
        everywhere! { @ gitea over Http of Gitea: $($area: $($behaviour),+;)+ }
        everywhere! { @ azure_devops over Http of AzureDevOps: $($area: $($behaviour),+;)+ }
        everywhere! { @ memory over Memory of GitHub: $($area: $($behaviour),+;)+ }
        everywhere! { @ memory_like_gitlab over Memory of GitLab: $($area: $($behaviour),+;)+ }
    };
    (@ $name:ident over $way:ident of $kind:ident: $($area:ident: $($behaviour:ident),+;)+) => {
        #[cfg(test)]
        mod $name {
            $($(
                #[test]
                fn $behaviour() {
                    let way = crate::world::Way::$way;
                    crate::$area::$behaviour(&crate::world::World::new(git_host::HostKind::$kind, way));
                }
            )+)+
        }
    };
}

everywhere! {
    pull_requests:
        pull_request_is_opened,
        open_pull_request_is_returned_instead_of_a_second,
        concurrent_threads_open_one_pull_request,
        a_superseded_change_keeps_its_number,
        missing_and_equal_branches_are_refused,
        a_missing_label_is_created,
        labels_of_users_are_kept,
        author_of_a_label_is_known_or_reported_as_unknown,
        manually_closed_pull_request_is_detected,
        closing_is_idempotent,
        a_deleted_branch_does_not_block_the_next_one,
        pull_requests_of_forks_are_never_taken_for_own_ones,
        all_pages_are_read,
        long_bodies_are_complete,
        missing_objects_are_not_found;
    merges:
        a_merge_is_done_once,
        only_the_known_commit_is_merged,
        a_conflict_is_no_error,
        a_protected_branch_is_no_error,
        closed_pull_requests_are_not_merged,
        an_automatic_merge_waits_for_the_checks,
        an_automatic_merge_is_done_when_nothing_is_missing,
        an_automatic_merge_is_withdrawn,
        an_automatic_merge_may_be_not_available;
    evidence:
        the_latest_verdict_of_each_account_counts,
        an_approval_of_an_older_commit_does_not_count_where_it_is_known,
        a_withdrawal_on_a_later_page_counts,
        the_last_status_of_each_account_is_read,
        a_status_has_the_account_of_the_client,
        the_pull_request_of_a_commit_is_the_merged_one,
        a_pushed_commit_has_no_pull_request,
        commit_belongs_to_its_first_merge_into_the_branch;
    protection:
        a_branch_without_a_rule_is_not_protected,
        a_rule_protects_its_branch_only,
        a_required_status_is_known_where_statuses_of_commits_can_be_required,
        missing_branch_is_protected_only_by_visible_rules,
        unreadable_protection_is_unknown;
    repositories:
        a_repository_is_created_once,
        account_without_the_permission_can_use_existing_repositories,
        refusals_contain_the_message_of_the_host;
    sticky:
        one_comment_is_updated_in_place,
        comments_of_others_never_count,
        status_can_be_set_repeatedly,
        one_issue_is_opened_updated_and_closed,
        an_issue_closed_by_hand_stays_closed_until_it_changes,
        a_label_is_created_once,
        the_account_and_the_default_branch_are_known;
}
