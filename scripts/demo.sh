#!/bin/sh
# The main job, end to end: a server on a free loopback port, two clusters sent to it over gRPC, before and after.
#
# Usage: scripts/demo.sh      after `cargo build --bin shardflow`
set -eu
cd "$(dirname "$0")/.."
# Wherever this machine's settings put it: CARGO_TARGET_DIR, or build.target-dir of a cargo configuration.
target=$(cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
shardflow="$target/debug/shardflow"
work=$(mktemp -d)
server=""
stop() {
    [ -n "$server" ] && kill -TERM "$server" 2>/dev/null && wait "$server" 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

RUST_LOG=info NO_COLOR=1 "$shardflow" serve --listen 127.0.0.1:0 2>"$work/log" &
server=$!
tries=0
until address=$(sed -n 's/.*address=\([0-9.:]*\).*/\1/p' "$work/log" | head -n 1) && [ -n "$address" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
        echo "the server did not start:" >&2
        cat "$work/log" >&2
        exit 1
    fi
    sleep 0.1
done
title() { printf '\n\033[1m%s\033[0m\n' "$1"; }
[ -t 1 ] || title() { printf '\n%s\n' "$1"; }

title "1. Felix benchmark cluster: 61 leaders 21/21/19, yet stream q sits 1/1/10 (server on $address)"
"$shardflow" optimize --server "$address" testdata/demo/felix.json
title "   Exact beside greedy"
"$shardflow" compare --server "$address" testdata/demo/felix.json

title "2. Kafka: 9 brokers on 3 racks, one drained, 8 topics, 200 partitions with 3 replicas; leadership only"
"$shardflow" import kafka testdata/kafka/demo-describe.txt --brokers testdata/kafka/demo-brokers.json \
    --output "$work/kafka.json"
"$shardflow" optimize --server "$address" "$work/kafka.json"
title "   Exact beside greedy"
"$shardflow" compare --server "$address" "$work/kafka.json"

title "   What Kafka's own tools would be given (first lines of the reassignment)"
"$shardflow" optimize --server "$address" "$work/kafka.json" --certificate --output "$work/plan.json"
"$shardflow" verify "$work/kafka.json" "$work/plan.json"
"$shardflow" export kafka "$work/kafka.json" "$work/plan.json" --output "$work/reassignment.json" \
    --rollback "$work/rollback.json"
head -c 400 "$work/reassignment.json"
echo " ..."
