//! The script of a host without containers that pulls a folder.

use super::PulledFolder;
use crate::arguments::Bootstrap;
use crate::exit::Failure;

/// Plays the playbooks of a target on this host.
pub(super) const PLAYBOOKS: &str =
    "ansible-playbook --connection local --inventory localhost, namespace.yaml reconciler.yaml";

/// The variables of the script come before this text.
const STEPS: &str = r#"
mkdir -p "$state"
checkout="$state/checkout"
if [ ! -d "$checkout" ]; then
  # An interrupted clone is not used.
  rm -rf "$checkout.new"
  git clone --quiet --depth 1 --branch "$branch" --filter blob:none --sparse -- "$repository" "$checkout.new"
  git -C "$checkout.new" sparse-checkout set "$folder"
  mv "$checkout.new" "$checkout"
fi
git -C "$checkout" fetch --quiet --depth 1 origin "refs/heads/$branch"
git -C "$checkout" reset --quiet --hard FETCH_HEAD

# The id of the folder's content. A commit that changes only other folders changes nothing here.
content=$(git -C "$checkout" rev-parse "HEAD:$folder")
if [ "$content" = "$(cat "$state/applied" 2>/dev/null)" ]; then exit 0; fi

# A target that fails does not stop the others. The next run tries again.
failed=0
for target in "$checkout/$folder"/*/; do
  [ -d "$target" ] || continue
  (cd "$target" && apply) || { echo "failed: $(basename "$target")" >&2; failed=1; }
done

# Removed targets are only named: this script does not know how to undo what was applied.
if [ -f "$state/targets" ]; then
  while IFS= read -r name; do
    [ -d "$checkout/$folder/$name" ] || echo "no longer desired, remove it from this host: $name" >&2
  done < "$state/targets"
fi
if [ "$failed" = 0 ]; then
  (cd "$checkout/$folder" && for target in */; do [ ! -d "$target" ] || echo "${target%/}"; done) > "$state/targets"
  printf '%s' "$content" > "$state/applied"
fi
exit "$failed"
"#;

/// The script. It runs `command` in the folder of each target, after a change of the place's folder.
///
/// # Errors
/// If an option is for Flux only.
pub(super) fn text(pulled: &PulledFolder<'_>, options: &Bootstrap, command: &str) -> Result<String, Failure> {
    if options.secret.is_some() || options.hub.is_some() {
        let help = "the script uses git's own credentials; `kalypso report` sends reports";
        return Err(Failure::usage("`--secret` and `--hub` are for Flux").help(help));
    }
    let PulledFolder { environment, place, repository, branch, path } = pulled;
    let interval = &options.interval;
    let [repository, branch, folder] = [repository, branch, path.as_str()].map(shell_quoted);
    let state = shell_quoted(&format!("/var/lib/kalypso/{environment}"));
    Ok(format!(
        "\
#!/bin/sh
# {place} pulls its folder of {environment}, and applies each target in it. The host needs git.
# Run it every {interval}, for example by a timer of systemd:
#   systemd-run --on-boot={interval} --on-unit-active={interval} --unit kalypso-{environment} /usr/local/bin/kalypso-pull-{environment}
set -eu

repository={repository}
branch={branch}
folder={folder}
state=${{KALYPSO_PULL_STATE:-{state}}}

# Runs in the folder of each target.
apply() {{
  {command}
}}
{STEPS}"
    ))
}

/// A text in single quotes, for a POSIX shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
