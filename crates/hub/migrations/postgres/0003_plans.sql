-- What those who publish say of content that reviewers still look at: which commit brings it is not known yet. It is joined when the tree is seen at the place.
create table planned_content (
    endpoint       text not null,
    tree           varchar(64) not null,
    -- A place as it was told, as JSON.
    place          text not null,
    noted_on       timestamp(3) not null,
    primary key (endpoint, tree)
);
create index planned_content_noted on planned_content (noted_on);

-- Those who told of a commit that the hub did not know: few, and looked for whenever a commit becomes known.
create index tally_unresolved on tally (id) where held_commit_id = 0 and status <> 0 and reconcilers > 0;
