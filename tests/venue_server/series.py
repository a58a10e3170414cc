"""What FRED and DBnomics say of series, as they say it, from series that tests change."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from tests.serving import Reply
from tests.venue_server.server import Asked, VenueServer, reply, status

GRAPH = "/graph/fredgraph.csv"
API = "/fred/series/observations"
DBNOMICS = "/v22/series/"
NO_PAGE = Reply(b"<html><body>Page not found</body></html>", 404)
Versions = list[tuple[str, str]]
"""The values of a date, each with the day on which it was published."""


class SeriesWire:
    """Series by name: for each date its values, oldest first. Only what is published by `today` is told."""

    def __init__(self, today: date, series: Mapping[str, Mapping[str, Versions]]):
        self.today = today
        self.series = {name: dict(history) for name, history in series.items()}

    def serve(self, server: VenueServer) -> str:
        """Answer on a server, and return its address."""
        server.route(GRAPH, self.graph)
        server.route(API, self.api)
        server.route(DBNOMICS, self.dbnomics)
        return server.url

    def told(self, name: str) -> dict[str, Versions]:
        """Return the versions published by today, by date."""
        told = {}
        for day, versions in self.series[name].items():
            by_now = [version for version in versions if date.fromisoformat(version[1]) <= self.today]
            if by_now:
                told[day] = by_now
        return told

    def graph(self, asked: Asked) -> Any:
        """Return the table behind a graph: the newest value of each date."""
        name = asked.params["id"]
        if name not in self.series:
            return NO_PAGE
        rows = [f"{day},{versions[-1][0]}" for day, versions in self.told(name).items()]
        return reply("\n".join([f"observation_date,{name}", *rows, ""]).encode())

    def api(self, asked: Asked) -> Any:
        """Return all versions of each value, with the days on which they were the newest."""
        name = asked.params["series_id"]
        if name not in self.series or asked.params["api_key"] != "k" * 32:
            return status(400)
        observations = []
        for day, versions in self.told(name).items():
            ends = [version[1] for version in versions[1:]]
            for number, (value, start) in enumerate(versions):
                end = "9999-12-31"
                if number < len(ends):
                    end = str(date.fromisoformat(ends[number]) - timedelta(days=1))
                observations.append(
                    {"realtime_start": start, "realtime_end": end, "date": day, "value": value}
                )
        return {
            "realtime_start": asked.params["realtime_start"],
            "realtime_end": asked.params["realtime_end"],
            "observation_start": "1600-01-01",
            "observation_end": "9999-12-31",
            "units": "lin",
            "output_type": 1,
            "file_type": "json",
            "order_by": "observation_date",
            "sort_order": "asc",
            "count": len(observations),
            "offset": 0,
            "limit": 100000,
            "observations": observations,
        }

    def dbnomics(self, asked: Asked) -> Any:
        """Return a document with the periods and their values side by side."""
        codes = asked.path.removeprefix(DBNOMICS)
        if codes not in self.series:
            return status(404)
        provider, dataset, code = codes.split("/")
        told = self.told(codes)
        doc = {
            "@frequency": "daily",
            "dataset_code": dataset,
            "period": list(told),
            "period_start_day": list(told),
            "provider_code": provider,
            "series_code": code,
            "series_name": f"Series {code}",
            "value": [_number(versions[-1][0]) for versions in told.values()],
        }
        return {
            "_meta": {"version": "22"},
            "series": {"docs": [doc], "limit": 1000, "num_found": 1, "offset": 0},
        }


def _number(text: str) -> float | str:
    return "NA" if text == "." else float(text)
