#!/bin/sh
# Gets the solvers that `make bench` measures against: LEMON (Debian's liblemon-dev, in a driver of ours) and OR-tools
# (PyPI, in a virtual environment). Both end up under the target directory. What can't be had is no failure: the reason
# is left in NAME.missing, and the benchmark's table names it.
#
# Usage: scripts/peers.sh
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
peers=${CARGO_TARGET_DIR:-target}/bench/peers
mkdir -p "$peers"

have() { command -v "$1" >/dev/null 2>&1; }

# missing NAME REASON
missing() {
    echo "$1 takes no part: $2" >&2
    echo "$2" >"$peers/$1.missing"
}

# apt PACKAGE: installs it where that is possible without asking.
apt() {
    have apt-get || return 1
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        { have sudo && sudo -n true 2>/dev/null; } || return 1
        as_root="sudo"
    fi
    echo "Installing $1" >&2
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1" >&2
}

compiler() {
    for name in "${CXX:-}" c++ g++ clang++; do
        [ -n "$name" ] && have "$name" && echo "$name" && return 0
    done
    return 1
}

have_lemon() { echo '#include <lemon/network_simplex.h>' | "$1" -x c++ -fsyntax-only - 2>/dev/null; }

lemon() {
    source=benches/peers/lemon.cpp
    [ "$peers/lemon" -nt "$source" ] && return 0
    cxx=$(compiler) || {
        missing LEMON "no C++ compiler"
        return 0
    }
    have_lemon "$cxx" || apt liblemon-dev || true
    have_lemon "$cxx" || {
        missing LEMON "liblemon-dev is not installed, and could not be"
        return 0
    }
    if "$cxx" -std=c++14 -O3 -march=native -DNDEBUG -o "$peers/lemon" "$source" 2>"$peers/lemon.log"; then
        rm -f "$peers/LEMON.missing"
    else
        rm -f "$peers/lemon"
        missing LEMON "its driver does not compile, see $peers/lemon.log"
    fi
}

ortools() {
    pins=benches/peers/requirements.txt
    [ "$peers/venv/pins" -nt "$pins" ] && return 0
    have python3 || {
        missing OR-tools "no python3"
        return 0
    }
    log=$peers/ortools.log
    python3 -m venv --clear "$peers/venv" >"$log" 2>&1 ||
        { apt python3-venv && python3 -m venv --clear "$peers/venv" >"$log" 2>&1; } || {
        rm -rf "$peers/venv"
        missing OR-tools "python3 can't make a virtual environment, see $log"
        return 0
    }
    echo "Installing OR-tools" >&2
    if "$peers/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$pins" >>"$log" 2>&1; then
        touch "$peers/venv/pins"
        rm -f "$peers/OR-tools.missing"
    else
        rm -rf "$peers/venv"
        missing OR-tools "pip can't install what $pins names, see $log"
    fi
}

lemon
ortools
