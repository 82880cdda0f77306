#!/bin/sh
# Runs the soak that `cargo build --workspace` built: by path, since `cargo run` takes no --workspace, without which
# features differ and HiGHS would be compiled again.
set -eu
cd "$(dirname "$0")/.."
target=$(cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
exec "$target/debug/soak" "$@"
