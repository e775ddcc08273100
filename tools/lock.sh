#!/bin/sh
# Writes requirements*.lock anew from setup.py. Pins that still fit stay; --upgrade renews them.
#
#   tools/lock.sh                          after a change in setup.py
#   tools/lock.sh --upgrade                newest versions of everything
#   tools/lock.sh --upgrade-package keras  newest version of one
set -eu
cd "$(dirname "$0")/.."
compile() {
    .venv/bin/uv pip compile -q --no-config --universal --python-version 3.11 \
        --generate-hashes --no-header "$@"
}
compile "$@" --extra serve -o requirements.lock setup.py
compile "$@" --extra test -c requirements.lock -o requirements-dev.lock setup.py
compile "$@" --extra docs -c requirements-dev.lock -o requirements-docs.lock setup.py
grep -nE '://|^-' requirements.lock requirements-dev.lock requirements-docs.lock && {
    echo "error: a lock file names a place; it must name packages only" >&2
    exit 1
}
exit 0
