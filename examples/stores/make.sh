#!/bin/sh
# Makes a control plane with 300 stores in a folder: sh make.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ] || [ -e "$1" ]; then
  echo "usage: sh make.sh FOLDER, where FOLDER does not exist yet" >&2
  exit 64
fi
mkdir -p "$1"
cp "$here"/*.yaml "$here/../one-cluster/templates.yaml" "$1"

n=1
while [ "$n" -le 300 ]; do
  case $((n % 3)) in 0) region=us-east ;; 1) region=europe ;; *) region=asia ;; esac
  case $((n % 5)) in 0) size=large ;; *) size=small ;; esac
  printf -- '---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: store-%03d\n' "$n"
  printf '  labels:\n    region: %s\n    size: %s\nspec:\n  clusterType: store\n' "$region" "$size"
  n=$((n + 1))
done > "$1/clusters.yaml"
