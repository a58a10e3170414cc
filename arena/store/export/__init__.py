"""A season as plain files for people and programs, and back into a record: `docs/data.md` describes them."""

from arena.store.export.forms import FORMS, form_of
from arena.store.export.manifest import File, Manifest
from arena.store.export.write import Wanted, export

__all__ = ["FORMS", "File", "Manifest", "Wanted", "export", "form_of"]
