#!/bin/sh
# Builds what a release consists of into a folder: wheel, source archive, the bill of materials of the lock
# (CycloneDX), and the SHA-256 of each. Fails where the lock has a version with a known vulnerability.
# `sh scripts/release.sh dist --no-audit` leaves out the audit, which needs a network.
set -eu
cd "$(dirname "$0")/.."
dist=${1:?name a folder}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

python3 -m venv "$tools"
"$tools/bin/pip" install --quiet build cyclonedx-bom pip-audit

if [ "${2:-}" != --no-audit ]; then
    "$tools/bin/pip-audit" --strict --disable-pip --requirement requirements.lock
fi

mkdir -p "$dist"
"$tools/bin/python" -m build --outdir "$dist" >"$tools/build.log" || { cat "$tools/build.log"; exit 1; }
PYTHONWARNINGS=ignore "$tools/bin/cyclonedx-py" requirements requirements.lock --pyproject pyproject.toml --output-reproducible \
    --output-file "$dist/sbom.cdx.json"
(cd "$dist" && sha256sum -- * >"$tools/SHA256SUMS" && mv "$tools/SHA256SUMS" SHA256SUMS)
echo "Built into $dist:"
cat "$dist/SHA256SUMS"
