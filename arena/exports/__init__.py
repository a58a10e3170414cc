"""A season as plain files for people and programs, and back into a record: `docs/data.md` describes them."""

from arena.exports.forms import FORMS, form_of
from arena.exports.manifest import ExportFile, ExportManifest
from arena.exports.write import ExportRequest, export, with_license

__all__ = ["FORMS", "ExportFile", "ExportManifest", "ExportRequest", "export", "form_of", "with_license"]
