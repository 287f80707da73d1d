#!/bin/sh
# Makes the git repositories of the clinics in a folder: sh make.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ] || [ -e "$1" ]; then
  echo "usage: sh make.sh FOLDER, where FOLDER does not exist yet" >&2
  exit 64
fi
mkdir -p "$1"
cd "$1"

commit() { # REPOSITORY MESSAGE
  git -C "$1" add --all
  git -C "$1" -c user.name='Paula Platform' -c user.email=platform@acme.example commit --quiet --message "$2"
}

repository() { # NAME
  git init --quiet --template= "$1"
  git -C "$1" symbolic-ref HEAD refs/heads/main
  git -C "$1" config user.name You
  git -C "$1" config user.email you@acme.example
  git -C "$1" config commit.gpgSign false
  # Kalypso pushes to branches that you may look at.
  git -C "$1" config receive.denyCurrentBranch updateInstead
  mkdir -p "$1/.git/info"
  echo '*.bak' > "$1/.git/info/exclude"
}

repository patient-portal
cp -R "$here/patient-portal/." patient-portal
commit patient-portal 'Deployment of patient-portal'

# It is night now in Germany and in Brazil, and not in Japan.
hour=$(date -u +%H)
hour=${hour#0}
opens=$(printf '%02d:00' $(((hour + 18) % 24)))
closes=$(printf '%02d:00' $(((hour + 5) % 24)))

repository control-plane
cp -R "$here/control-plane/main/." control-plane
commit control-plane 'What holds in every environment'
main=$(git -C control-plane rev-parse HEAD)
for environment in dev stage prod; do
  git -C control-plane switch --quiet --orphan "$environment"
  cp -R "$here/control-plane/$environment/." control-plane
  sed -e '/make.sh/d' -e "s/0\{40\}/$main/" "$here/control-plane/$environment/base-repo.yaml" > control-plane/base-repo.yaml
  commit control-plane "The clinics in $environment"
done
git -C control-plane switch --quiet main
sed -e "s/from: \"22:00\"/from: \"$opens\"/" -e "s/until: \"05:00\"/until: \"$closes\"/" "$here/promotions.yaml" > promotions.yaml

git init --quiet --bare --template= platform-gitops.git
empty=$(git -C platform-gitops.git mktree < /dev/null)
first=$(git -C platform-gitops.git -c user.name='Paula Platform' -c user.email=platform@acme.example \
  commit-tree "$empty" -m 'A branch for each environment')
for environment in dev stage prod; do
  git -C platform-gitops.git update-ref "refs/heads/$environment" "$first"
done

mkdir .kalypso
(
  umask 077
  for secret in git-host-token webhook-secret; do
    od -An -N 24 -tx1 /dev/urandom | tr -d ' \n' > ".kalypso/$secret"
  done
)
cp "$here/kalypso.toml" .
