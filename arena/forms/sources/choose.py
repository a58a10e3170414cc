"""Chooses the form of files: every form examines them, and the only one that fits is used."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from arena.errors import ArenaError
from arena.forms.model import ChosenForm, SourceData, SourceFile
from markets.registry import UnknownExtension, load, names

PACKAGE = "arena.forms.public"
TABLE = "table"
"""The name of plain tables, which have no form of their own."""


class Form(Protocol):
    """The interface of a form, which is a module of the folder."""

    TITLE: str

    def recognise(self, files: Sequence[SourceFile]) -> str | None:
        """Return what identifies the form in these files; None if they aren't in it."""

    def read(self, files: Sequence[SourceFile]) -> SourceData:
        """Return the content of the files."""


def form_names() -> list[str]:
    """Return the names of all forms, including plain tables."""
    home = Path(import_module(PACKAGE).__path__[0])
    return sorted([TABLE, *names(home)])


def load_form(name: str) -> Form:
    """Return a form by its module's name; raise `ArenaError` if there is none."""
    try:
        return cast(Form, load(PACKAGE, name))
    except UnknownExtension as unknown:
        known = ", ".join(form_names())
        raise ArenaError(
            "no_form", f"there is no form {name!r}", f"forms are {known}", status=64
        ) from unknown


def choose_form(files: Sequence[SourceFile], wanted: str | None = None) -> ChosenForm | None:
    """Return the form of files, or the one that is wanted; None for a plain table.

    Raise `ArenaError` if two forms fit: a guess could score something other than what was meant.
    """
    if wanted == TABLE:
        return None
    if wanted is not None:
        return ChosenForm(wanted, load_form(wanted).TITLE, "--form says so")

    fitting_forms = []
    for name in form_names():
        if name == TABLE:
            continue
        form = load_form(name)
        why = form.recognise(files)
        if why is not None:
            fitting_forms.append(ChosenForm(name, form.TITLE, why))

    if len(fitting_forms) > 1:
        what = " and ".join(f"{form.title} ({form.why})" for form in fitting_forms)
        hint = f"say which it is: {' or '.join(f'--form {form.name}' for form in fitting_forms)}"
        raise ArenaError("two_forms", f"the files fit {what}", hint, status=64)
    return fitting_forms[0] if fitting_forms else None
