#!/bin/sh
# Puts load on the server and on the bare handler in turn, with wrk (Debian package wrk), and prints
# requests a second and latencies of each. Usage: load.sh PATH/TO/digits_server [seconds a run]
set -eu

server=$1
seconds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# $1: connections; the rest is given to the server.
measure() {
  connections=$1
  shift
  : > "$said"
  "$server" --port 0 "$@" >> "$said" &
  pid=$!
  until grep -q 'listening at' "$said"; do
    kill -0 "$pid"
  done
  url=$(sed -n 's/.*listening at //p' "$said")
  threads=$((connections < 2 ? 1 : 2))
  wrk --threads "$threads" --connections "$connections" --duration "${seconds}s" --latency \
      --script "$here/classify.lua" "$url/classify" |
    awk -v label="$* connections $connections" '
      /50%/ { p50 = $2 } /99%/ { p99 = $2 } /Requests\/sec/ { rate = $2 } /Non-2xx/ { bad = $NF }
      END { printf "%-40s %10s /s  p50 %9s  p99 %9s  refused %s\n", label, rate, p50, p99, bad + 0 }'
  kill -TERM "$pid"
  wait "$pid"
}

for round in 1 2 3; do
  for connections in 1 8 64; do
    measure "$connections" --bare
    measure "$connections" --lanes 2
  done
done
