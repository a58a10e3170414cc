#!/bin/sh
# Builds the docs as a site in .site, with packages of their own in .venv-docs. See `make help`.
set -eu
cd -- "$(dirname -- "$0")/.."
lock=docs/requirements.lock

if [ "$(cat .venv-docs/.ready 2>/dev/null)" != "$(cksum <$lock)" ]; then
    echo "Installing $(grep -c == $lock) packages from $lock ..."
    .venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv-docs
    .venv/bin/uv pip sync --quiet --python .venv-docs/bin/python --require-hashes $lock ||
        UV_SYSTEM_CERTS=1 .venv/bin/uv pip sync --quiet --python .venv-docs/bin/python --require-hashes $lock
    cksum <$lock >.venv-docs/.ready
fi
NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --quiet --strict --clean
season=$(mktemp -d)
.venv/bin/arena admin restore examples/real-season/season.zip --database "$season/real.db" >/dev/null
.venv/bin/arena share site .site/real-season --database "$season/real.db" >/dev/null
rm -r "$season"
if grep -rlE --include='*.html' '<(script|link|img|iframe)[^>]* (src|href)="?(https?:)?//' .site; then
    echo "These pages load something from elsewhere." >&2
    exit 1
fi
echo "Open .site/index.html, or copy .site to any web server."
