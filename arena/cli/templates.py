"""The configs that come with the package."""

from pathlib import Path

PACKAGED = Path(__file__).resolve().parents[1] / "templates"
CHECKOUT = Path(__file__).resolve().parents[2]
IN_CHECKOUT = {"config.yaml": "config.yaml", "demo.yaml": "examples/demo.yaml"}


def template(name: str) -> Path:
    """A config that comes with the package: `config.yaml` or `demo.yaml`, also in a checkout."""
    packaged = PACKAGED / name
    return packaged if packaged.is_file() else CHECKOUT / IN_CHECKOUT[name]
