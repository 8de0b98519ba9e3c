#!/bin/sh
# Puts load on the server and on the bare handler in turn, with wrk (Debian package wrk), and prints
# requests a second, latencies, and what the server used of the processor, which tells more than the
# rate where others use the machine too. Usage: load.sh PATH/TO/digits_server [seconds a run]
set -eu

server=$1
seconds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
said=$(mktemp)
told=$(mktemp)
trap 'rm -f "$said" "$told"' EXIT

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
      --script "$here/classify.lua" "$url/classify" > "$told"
  awk -v label="$* connections $connections" -v ticks="$(getconf CLK_TCK)" '
    FNR == NR { used_us = ($14 + $15) * 1e6 / ticks; next }
    /50%/ { p50 = $2 } /99%/ { p99 = $2 } /Requests\/sec/ { rate = $2 } /Non-2xx/ { bad = $NF }
    /requests in/ { all = $1 }
    END { printf "%-24s %10s /s  p50 %9s  p99 %9s  cpu %4.0f us a request  refused %s\n",
                 label, rate, p50, p99, used_us / all, bad + 0 }' "/proc/$pid/stat" "$told"
  kill -TERM "$pid"
  wait "$pid"
}

for round in 1 2 3; do
  for connections in 1 8 64; do
    measure "$connections" --bare
    measure "$connections"
  done
done
