"""Extensions that tests have written themselves, as folders and configs whose code may be run."""

from pathlib import Path

from arena.config import Config, load
from arena.config.code import TrustedCode, read_code
from arena.config.document import Document
from markets.registry import ExtensionFolder


def trust_all(document: Document) -> TrustedCode:
    """Return all that lies beside a config as code that may be run."""
    return read_code(Path(document.file).parent, document.value).trusted()


def load_trusted(path: Path, beside: bool = False, database: str | None = None) -> Config:
    """Return a config with its extensions loaded; `database` replaces the one in it."""
    return load(path, beside=beside, database=database, allow=trust_all)


def trusted_folder(folder: Path) -> ExtensionFolder:
    """Return a folder whose Python files may all be run."""
    return ExtensionFolder(folder, {path: path.read_bytes() for path in folder.glob("*.py")})
