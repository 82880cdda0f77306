#!/bin/sh
# Finds what building shardflow needs besides Rust: a C++ compiler, cmake and libclang (HiGHS and its bindings).
# Installs what is missing where that is possible without asking; otherwise names the packages and stops.
#
# Usage: scripts/bootstrap.sh [--check]      --check: never install, only say what is missing
set -eu

check_only=false
case "${1:-}" in
"") ;;
--check) check_only=true ;;
*)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

have() { command -v "$1" >/dev/null 2>&1; }

have_cxx() { have c++ || have g++ || have clang++; }

# libclang-cpp is another library, which bindgen can't use.
libclang_in() {
    for library in "$1"/libclang.so "$1"/libclang.so.* "$1"/libclang-[0-9]*.so* "$1"/libclang.dylib; do
        [ -e "$library" ] && return 0
    done
    return 1
}

# The places where bindgen (clang-sys) looks; it knows no /opt/homebrew.
have_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        [ -f "$LIBCLANG_PATH" ] || libclang_in "$LIBCLANG_PATH"
        return
    fi
    have llvm-config && libclang_in "$(llvm-config --prefix)/lib" && return 0
    have xcode-select && libclang_in "$(xcode-select -p)/Toolchains/XcodeDefault.xctoolchain/usr/lib" && return 0
    for place in /usr/lib/llvm-*/lib /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/lib64/llvm*/lib* /usr/local/lib \
        /Library/Developer/CommandLineTools/usr/lib \
        /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib \
        /usr/local/opt/llvm/lib; do
        libclang_in "$place" && return 0
    done
    return 1
}

missing() {
    have_cxx || echo cxx
    have make || echo make
    have cmake || echo cmake
    have_libclang || echo libclang
}

# Package of each missing tool, by package manager.
packages() {
    for tool in $(missing); do
        case "$1:$tool" in
        apt:cxx) echo g++ ;;
        apt:libclang) echo libclang-dev ;;
        dnf:cxx) echo gcc-c++ ;;
        dnf:libclang) echo clang-devel ;;
        pacman:cxx) echo gcc ;;
        pacman:libclang) echo clang ;;
        *) echo "$tool" ;;
        esac
    done | sort -u | tr '\n' ' '
}

minor=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
if [ "${minor:-0}" -lt 88 ]; then
    echo "shardflow needs Rust 1.88 or newer: install it from https://rustup.rs and run this again." >&2
    have cargo && echo "Found: $(cargo --version 2>&1 | head -n 1) ($(command -v cargo))" >&2
    exit 1
fi

lacks=$(missing | tr '\n' ' ')
[ -z "$lacks" ] && exit 0

if have apt-get; then
    manager=apt
    install="apt-get install -y --no-install-recommends"
elif have dnf; then
    manager=dnf
    install="dnf install -y"
elif have pacman; then
    manager=pacman
    install="pacman -Sy --noconfirm --needed"
elif have brew; then
    manager=brew
    install="brew install"
    # Apple's command line tools bring the compiler and libclang where bindgen looks; Homebrew's llvm is kept apart.
    if ! have_cxx || ! have_libclang; then
        echo "shardflow needs: $lacks" >&2
        echo "Run  xcode-select --install  and then this again." >&2
        exit 1
    fi
else
    echo "shardflow needs: $lacks" >&2
    echo "No known package manager was found (apt-get, dnf, pacman, brew); install them and run this again." >&2
    exit 1
fi
wanted=$(packages "$manager")

# brew refuses to run as root; the others need it.
as_root=""
if [ "$manager" != brew ] && [ "$(id -u)" -ne 0 ]; then
    if have sudo && sudo -n true 2>/dev/null; then
        as_root="sudo"
    else
        echo "shardflow needs: $lacks" >&2
        update=""
        [ "$manager" = apt ] && update="sudo apt-get update && "
        echo "Install them and run this again:  ${update}sudo $install $wanted" >&2
        exit 1
    fi
fi
if $check_only; then
    echo "shardflow needs: $lacks" >&2
    echo "Install them with:  ${as_root:+sudo }$install $wanted" >&2
    exit 1
fi
echo "Installing build tools: $wanted" >&2
if [ "$manager" = apt ]; then
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive $install $wanted >&2
else
    $as_root $install $wanted >&2
fi
lacks=$(missing | tr '\n' ' ')
if [ -n "$lacks" ]; then
    echo "Still missing after installing: $lacks" >&2
    exit 1
fi
