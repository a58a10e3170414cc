"""A cassette as a file: requests and answers, what was removed, and what could be read."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.text import one_line
from arena.errors import ArenaError

MOST_BYTES = 300_000
"""A cassette is no longer than this."""
FOLDER = "cassettes"
"""Where a config's own cassettes are, beside it."""
Word = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
Label = Annotated[str, Field(pattern=r"^[^\p{Cc}\p{Cf}]{1,200}$")]
"""Names without control characters, since a file may come from anybody."""
Counts = dict[Label, Annotated[int, Field(ge=0)]]


class CassettePart(BaseModel):
    """A part of a cassette. The file may come from anybody."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class VenueExchange(CassettePart):
    """A question to a venue, and its answer or the code of what went wrong."""

    question: str
    answer: JsonValue = None
    error: Word | Literal[""] = ""


class VenueReading(CassettePart):
    """How much an adapter has read: markets with a price and with an order book among them, and so on.

    `faults` are the steps that came to nothing, `set_aside` counts rejected records by their code.
    """

    markets: int = 0
    prices: int = 0
    books: int = 0
    ends: int = 0
    histories: int = 0
    set_aside: Counts = {}
    faults: tuple[Label, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the kinds of data that were read, in words."""
        counts = {
            "markets": self.markets,
            "prices": self.prices,
            "order books": self.books,
            "ends": self.ends,
            "past prices": self.histories,
        }
        return tuple(name for name, count in counts.items() if count)


class VenueTape(CassettePart):
    """The answers of one venue, as of when it was asked, and what its adapter has read of them."""

    venue: Word
    exchanges: tuple[VenueExchange, ...]
    reading: VenueReading = VenueReading()


class ModelTape(CassettePart):
    """The answer of one model, as it came over the network, and the settings by which it is read.

    Of a model on an `own_server` it says nothing about the provider whose form that speaks.
    """

    model: Label
    provider: Label
    own_server: bool = False
    settings: dict[str, JsonValue] = {}
    status: int
    content_type: str
    body: str


class Cassette(CassettePart):
    """A recording of venues and models. `source` says whose it is, if the project's code did not take it."""

    cassette: Literal[1] = 1
    taken: AwareDatetime
    source: str = ""
    stripped: Counts = {}
    trimmed: Counts = {}
    venues: tuple[VenueTape, ...] = ()
    models: tuple[ModelTape, ...] = ()

    def text(self) -> str:
        """Return the text of the file, an exchange a line."""
        data = self.model_dump(mode="json", exclude_defaults=True) | {"cassette": self.cassette}
        text = json.dumps(data, ensure_ascii=False)
        # In texts a quotation mark is escaped, so a line can only begin between two values.
        return text.replace('{"question": ', '\n{"question": ') + "\n"


def read_cassette(path: Path) -> Cassette:
    """Return the cassette in a file; raise `ArenaError` if it is not one."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ArenaError(
                "bad_cassette", f"{path} is longer than {MOST_BYTES // 1_000} KB", "record it again"
            )
        return Cassette.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ArenaError("bad_cassette", f"{path} can't be read: {error.strerror}") from error
    except ValidationError as error:
        first_fault = error.errors()[0]
        field_path = one_line(".".join(map(str, first_fault["loc"]))) or "the file"
        hint = "arena check --live --record writes one"
        raise ArenaError(
            "bad_cassette", f"{path} is no cassette: {field_path}: {first_fault['msg']}", hint
        ) from error
