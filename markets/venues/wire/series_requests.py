"""Asks FRED and DBnomics for series: each answer is read as a file of that form would be."""

from dataclasses import replace

from markets.observations import Series
from markets.venue import VenueError
from markets.venues.wire.http import HttpClient, RequestError
from markets.venues.wire.series_files import dbnomics_name, read_series

FIRST_VINTAGE = "1776-07-04"
LAST_VINTAGE = "9999-12-31"
"""Between these two FRED tells every version of a value, with the day on which each was published."""


def parse_text(body: bytearray) -> str:
    """Return an answer as text; refuse a web page, which a service that is down often sends."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError("not_json", "sent data that is not UTF-8") from None

    if text.lstrip().startswith("<"):
        raise RequestError("not_json", "sent a web page instead of data")
    if not text.strip():
        raise RequestError("not_json", "sent nothing")
    return text


async def fred_series(graph: HttpClient, api: HttpClient, name: str, key: str) -> Series:
    """Return a series of FRED: with a key all versions of its values, else the newest of each.

    Without a key the table behind its graphs is read.
    """
    if key:
        file = f"{name}.json"
        text = await api.get(
            "/fred/series/observations",
            series_id=name,
            api_key=key,
            file_type="json",
            realtime_start=FIRST_VINTAGE,
            realtime_end=LAST_VINTAGE,
        )
    else:
        file = f"{name}.csv"
        text = await graph.get("/graph/fredgraph.csv", id=name)

    found = read_series(file, text, None)
    if [series.name.casefold() for series in found] != [name.casefold()]:
        raise VenueError("malformed", f"FRED sent something else than {name}", "check the id")

    # FRED heads its table with capital letters; a question's id has the name that the config has.
    page = replace(found[0].page, category="fred")
    return replace(found[0], name=name, page=page)


async def dbnomics_series(client: HttpClient, name: str) -> Series:
    """Return a series of DBnomics, named by the codes of its provider, its dataset and itself."""
    text = await client.get(f"/v22/series/{name}", observations=1)
    found = read_series(f"{name}.json", text, None)
    if [series.name for series in found] != [dbnomics_name(name)]:
        raise VenueError("malformed", f"DBnomics sent something else than {name}", "check the codes")
    return found[0]
