"""Check an export as a data set with the libraries that its readers use.

python -m scripts.check_data_set DIR    # what `arena share export DIR --format dataset` has written

`datasets`, `mlcroissant` and `frictionless` are installed into an environment that is thrown away: the
product doesn't need them. Nothing is asked of a network but their packages.
"""

import sys
from pathlib import Path

from scripts.throwaway import run_apart

PACKAGES = ("datasets", "mlcroissant[parquet]", "frictionless[parquet]")
CHECK = """
import sys

import datasets
import frictionless
import mlcroissant

folder = sys.argv[1]
names = datasets.get_dataset_config_names(folder)
rows = sum(len(datasets.load_dataset(folder, name, split="train")) for name in names)
print(f"datasets: {len(names)} tables, {rows:,} rows")

described = mlcroissant.Dataset(f"{folder}/croissant.json")
issues = described.metadata.issues.report()
read = sum(1 for name in names for _ in described.records(name))
print(f"mlcroissant: {read:,} rows, {issues or 'no issue'}")

report = frictionless.Package(f"{folder}/datapackage.json").validate()
print(f"frictionless: {report.stats['tasks']} tables, {report.stats['errors']} errors")
raise SystemExit(bool(issues) or read != rows or not report.valid)
"""


def main() -> None:
    """Install the libraries, and let them read the folder."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m scripts.check_data_set DIR")

    folder = str(Path(sys.argv[1]).resolve())
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": "cache", "TQDM_DISABLE": "1"}
    raise SystemExit(run_apart(PACKAGES, CHECK, [folder], offline))


if __name__ == "__main__":
    main()
