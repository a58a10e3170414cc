#!/bin/sh
# Makes .venv from requirements.lock; at once done when it is already right. See `make help`.
# `setup.sh product` installs only what the product needs, in the versions of the lock; `setup.sh` adds the rest.
set -eu
unset CDPATH PYTHONPATH PYTHONHOME PIP_TARGET PIP_USER PIP_PREFIX
cd -- "$(dirname -- "$0")/.."

mend() {
    printf '%s\n' "$1" >&2
    exit 1
}

# What .venv was made for: this folder and this lock; and, with what the project says of itself, all of it.
made_for() {
    pwd -P
    cksum <requirements.lock
}

state() {
    made_for
    cksum <pyproject.toml
}

ready() { [ -x .venv/bin/arena ] && [ -x .venv/bin/python ] && [ "$(cat .venv/.ready 2>/dev/null)" = "$(state)" ]; }

product_ready() { [ -x .venv/bin/arena ] && [ "$(cat .venv/.product 2>/dev/null)" = "$(state)" ]; }

synced() { usable && [ "$(head -n 2 .venv/.ready 2>/dev/null)" = "$(made_for)" ]; }

# A folder that was moved has its old path in every script, and an interrupted install may lack files.
usable() {
    [ ! -e .venv/.unfinished ] && new_enough .venv/bin/python && made_here .venv/.ready && made_here .venv/.product
}

made_here() { [ ! -e "$1" ] || [ "$(head -n 1 "$1")" = "$(pwd -P)" ]; }

new_enough() { [ "$("$1" -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null)" = True ]; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || mend "PYTHON=$PYTHON is not a Python 3.11 or newer: name another, as in 'make PYTHON=python3.12'."
        return
    fi
    for PYTHON in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if new_enough "$PYTHON"; then return; fi
    done
    found=$(python3 --version 2>/dev/null) || found="no Python"
    mend "Python 3.11 or newer is needed, and here is $found: install one, or name it, as in 'make PYTHON=/path/to/python3.12'."
}

make_venv() {
    printf 'Making .venv with %s ...\n' "$("$PYTHON" --version)"
    rm -rf .venv
    mkdir .venv
    : >.venv/.unfinished
    "$PYTHON" -m venv .venv >/dev/null 2>&1 ||
        "$PYTHON" -m venv --without-pip .venv >/dev/null 2>&1 ||
        uv venv --quiet --allow-existing --python "$PYTHON" .venv 2>/dev/null ||
        mend "This Python has no venv module: install it ('apt install python3-venv' on Debian and Ubuntu), then run make again."
}

# Without a home to keep a cache in, one lies in .venv for as long as the installation takes.
choose_cache() {
    cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
    if ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
        export PIP_NO_CACHE_DIR=1 UV_CACHE_DIR="${UV_CACHE_DIR:-.venv/.cache}"
    fi
}

# uv comes from the lock too, by way of whichever pip there is: the new one, or that of the Python behind it.
find_uv() {
    uv=.venv/bin/uv
    pin=.venv/uv.txt
    awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' requirements.lock >"$pin"
    wanted=$(sed -n 's/^uv==\([^ ]*\).*/\1/p' "$pin")
    case $("$uv" --version 2>/dev/null) in "uv $wanted"*) return ;; esac
    if .venv/bin/python -m pip --version >/dev/null 2>&1; then
        set -- .venv/bin/python -m pip
    elif command -v uv >/dev/null; then
        uv=$(command -v uv)
        return
    elif "$PYTHON" -m pip --python .venv/bin/python --version >/dev/null 2>&1; then
        set -- "$PYTHON" -m pip --python .venv/bin/python
    else
        mend "This Python has no pip to begin with: install it ('apt install python3-venv' on Debian and Ubuntu), then run make again."
    fi
    said=$("$@" install -qq --disable-pip-version-check --no-deps --require-hashes --requirement "$pin" 2>&1) || {
        printf '%s\n' "$said" | tail -n 2 >&2
        mend "uv could not be fetched: see above, mend the network or the package index, then run make again."
    }
    mirror=$("$@" config get global.index-url 2>/dev/null) || return 0
    export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$mirror}"
}

sync() {
    "$uv" pip sync --quiet --python .venv/bin/python --compile-bytecode --require-hashes requirements.lock
}

# A second try trusts what the system trusts, for a network with a certificate of its own.
install() {
    printf 'Installing %s packages from requirements.lock, half a minute or so ...\n' "$(grep -c == requirements.lock)"
    sync 2>/dev/null || UV_SYSTEM_CERTS=1 sync ||
        mend "The packages could not be installed: see above, mend the network or the package index, then run make again."
    made_for >.venv/.ready
    rm -rf .venv/.unfinished .venv/.cache
}

install_project() {
    .venv/bin/uv pip install --quiet --python .venv/bin/python --no-cache --offline --no-deps --no-build-isolation \
        --editable . || mend "The project itself could not be installed into .venv: see above."
}

install_product() {
    printf 'Installing what the product needs ...\n'
    set -- pip install --quiet --python .venv/bin/python --constraint requirements.lock --editable .
    "$uv" "$@" 2>/dev/null || UV_SYSTEM_CERTS=1 "$uv" "$@" ||
        mend "The packages could not be installed: see above, mend the network or the package index, then run make again."
    state >.venv/.product
    rm -rf .venv/.unfinished .venv/.cache
}

done_already() { ready || { [ "$wanted_part" = product ] && product_ready; }; }

wanted_part=${1:-all}
if done_already; then exit 0; fi
[ -w . ] || mend "$(pwd -P) can't be written to, and .venv must be made in it: copy or clone it to a folder of yours."
exec 9<requirements.lock
if command -v flock >/dev/null; then flock 9; fi
if done_already; then exit 0; fi
if ! synced; then
    usable || { find_python && make_venv; }
    PYTHON=${PYTHON:-.venv/bin/python}
    : >.venv/.unfinished
    choose_cache
    find_uv
    if [ "$wanted_part" = product ]; then
        install_product
        exit 0
    fi
    install
fi
install_project
state >.venv/.ready
echo "Ready."
