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
        one_is_opened,
        an_open_one_is_returned_instead_of_a_second,
        several_threads_open_one,
        a_superseded_change_keeps_its_number,
        missing_and_equal_branches_are_refused,
        a_missing_label_is_created,
        labels_of_people_stay,
        who_added_a_label_is_known_or_said_to_be_unknown,
        one_closed_by_hand_is_seen,
        closing_is_idempotent,
        a_deleted_branch_does_not_block_the_next_one,
        those_of_forks_are_never_mistaken,
        all_pages_are_read,
        long_bodies_are_complete,
        what_does_not_exist_is_not_found;
    merges:
        a_merge_is_done_once,
        only_the_known_commit_is_merged,
        a_conflict_is_no_error,
        a_protected_branch_is_no_error,
        a_closed_one_is_not_merged,
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
        the_first_merge_into_the_branch_brought_the_commit;
    protection:
        a_branch_without_a_rule_is_not_protected,
        a_rule_protects_its_branch_only,
        a_required_status_is_known_where_statuses_of_commits_can_be_required,
        a_branch_that_does_not_exist_is_protected_only_by_rules_that_are_told,
        what_the_account_may_not_see_is_not_told;
    repositories:
        a_repository_is_created_once,
        an_account_without_the_permission_can_use_what_exists,
        a_refusal_has_the_words_of_the_host;
    sticky:
        one_comment_is_updated_in_place,
        comments_of_others_never_count,
        a_status_is_set_again_and_again,
        one_issue_is_opened_updated_and_closed,
        an_issue_closed_by_hand_stays_closed_until_it_changes,
        a_label_is_created_once,
        the_account_and_the_default_branch_are_known;
}
