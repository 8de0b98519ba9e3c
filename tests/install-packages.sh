#!/bin/sh
# Installs the Debian 12 packages that a build needs, if any is missing.
# Usage: install-packages.sh [extra package ...]
set -eu

packages="g++ cmake ninja-build libcaf-dev libmsgsl-dev libgtest-dev libgmock-dev nlohmann-json3-dev
libfmt-dev libcli11-dev libcpp-httplib-dev libdnnl-dev pkg-config ocl-icd-opencl-dev zlib1g-dev
python3-dev pybind11-dev python3-numpy python3-pytest $*"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "$0: not a Debian system; going on in the hope that these are present:" $packages >&2
  exit 0
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null; then
  as_root="sudo env"
else
  echo "$0: packages are missing, and neither root nor sudo is at hand. Run as root:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "installing:$missing"
$as_root apt-get update -qq &&
  $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ||
  {
    echo "$0: apt-get could not install:$missing" >&2
    exit 1
  }
