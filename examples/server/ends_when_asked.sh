#!/bin/sh
# Starts the server at a free port, sends SIGTERM and wants exit code 0; also
# that it refuses a wrong option with 2. Usage: ends_when_asked.sh PATH/TO/digits_server
set -eu

server=$1
said=$(mktemp)
trap 'rm -f "$said"' EXIT

"$server" --port 0 > "$said" &
pid=$!
until grep -q 'listening at' "$said"; do
  kill -0 "$pid"
done
kill -TERM "$pid"
wait "$pid"
grep -q '0 answered, 0 failed' "$said"

code=0
"$server" --queue 0 2> "$said" || code=$?
test "$code" = 2
grep -q -- '--queue' "$said"
