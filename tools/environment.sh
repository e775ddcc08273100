#!/bin/sh
# Makes .venv hold exactly what a lock file says, and does nothing where it already does.
#
#   tools/environment.sh requirements.lock        what the library and `make demo` need
#   tools/environment.sh requirements-dev.lock    that, and what its tests need
#
# PYTHON=/path/to/python3.11 chooses the interpreter. Without it, one that was compiled with
# profile-guided optimisation goes before one that was not, as pyenv's are by default: the tests
# take a tenth longer with those. An install that was cut short goes on where it stopped: what pip
# had installed stays.
set -eu
cd "$(dirname "$0")/.."
LOCK=${1:?which lock file?}
NEEDED_MB=4096

say() { printf '%s\n' "$*"; }
fail() {
    printf '\nerror: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

suits() { # can this command run Python 3.11 to 3.13, and make environments?
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 &&
        "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

is_optimised() { # Debian's Python, which does not say how it was configured, is.
    "$1" -c 'import sys, sysconfig
arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
sys.exit("--enable-optimizations" not in arguments and sys.base_prefix != "/usr")' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        if suits "$PYTHON"; then
            printf '%s' "$PYTHON"
            return
        fi
        fail "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13 with the venv module."
    fi
    first=""
    for candidate in python3.11 python3.12 python3.13 python3 python; do
        for path in $(which -a "$candidate" 2>/dev/null || command -v "$candidate" || true); do
            suits "$path" || continue
            if is_optimised "$path"; then
                printf '%s' "$path"
                return
            fi
            first=${first:-$path}
        done
    done
    if [ -n "$first" ]; then
        printf '%s' "$first"
        return
    fi
    fail "no Python 3.11, 3.12 or 3.13 with the venv module was found." \
        "On Debian or Ubuntu: apt-get install python3.11 python3.11-venv" \
        "If it is installed elsewhere: make PYTHON=/path/to/python3.11 ..."
}

digest() { # of the lock files and the interpreter: changes when the environment must change
    cat "$1" setup.py | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-64
}

free_mb() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 {print int($4 / 1024)}'; }

installed() { # does the stamp of this lock, or of the larger one, fit?
    for lock in "$1" requirements-dev.lock; do
        stamp=.venv/installed-${lock%.lock}
        [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(digest "$lock")" ] && return 0
    done
    return 1
}

if command -v flock >/dev/null 2>&1; then
    exec 9>.venv.lock
    flock -n 9 || { say "Another run is making the environment; waiting for it."; flock 9; }
fi

if [ -e .venv ] && ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "The environment in .venv is broken (its Python does not start): making it anew."
    rm -rf .venv
fi
[ -e .venv ] && installed "$LOCK" && exit 0

python=$(find_python)
free=$(free_mb .)
if [ ! -e .venv ] && [ -n "$free" ] && [ "$free" -lt "$NEEDED_MB" ]; then
    fail "the environment needs about $NEEDED_MB MB of disk, $(pwd) has $free MB free."
fi
if [ ! -e .venv ]; then
    say "Making .venv with $($python --version) ($python)."
    "$python" -m venv .venv || fail "$python -m venv .venv failed; its words are above."
fi

say "Installing what $LOCK names (TensorFlow is most of it: some minutes with a slow network)."
rm -f .venv/installed-*
pip=".venv/bin/python -m pip --disable-pip-version-check"
if ! $pip install -qq --require-hashes --no-deps --retries 5 --timeout 60 -r "$LOCK"; then
    free=$(free_mb .)
    tmp_free=$(free_mb "${TMPDIR:-/tmp}")
    if [ "${free:-9999}" -lt 1024 ] || [ "${tmp_free:-9999}" -lt 1024 ]; then
        fail "the disk is full: $free MB free in $(pwd), $tmp_free MB in ${TMPDIR:-/tmp}." \
            "Make room (or set TMPDIR to a larger disk) and run the same command again."
    fi
    probe=$(mktemp -d)
    if ! $pip download -q --no-cache-dir --no-deps --retries 0 --timeout 15 -d "$probe" six \
        >/dev/null 2>&1; then
        rm -rf "$probe"
        fail "the package index cannot be reached, so nothing could be installed." \
            "Check the network, the proxy (HTTPS_PROXY) and pip's own settings (pip config list)," \
            "then run the same command again: it goes on where it stopped."
    fi
    rm -rf "$probe"
    fail "pip could not install $LOCK though the package index answers; its words are above." \
        "The lock is for Python 3.11 to 3.13; wheels exist for Linux x86_64 and arm64, macOS arm64."
fi
$pip install -q --no-deps --no-build-isolation --no-index -e . ||
    fail "installing tfmrc itself into .venv failed; pip's words are above."
digest "$LOCK" >".venv/installed-${LOCK%.lock}"
say "The environment is ready: .venv"
