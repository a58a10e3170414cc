"""A status as Prometheus reads it. Needs the extra `metrics` of the package."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from arena.record.model.status import HEALTH_WORDS, Status
from markets.millionths import ONE

Samples = list[tuple[tuple[str, ...], float]]
TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The form of what `metrics_text` gives."""


class _StatusCollector(Collector):
    """What is read off a status."""

    def __init__(self, status: Status):
        self.status = status

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every figure."""
        for parts in (_rounds, _money, _world, _work):
            yield from parts(self.status)


def metrics_text(status: Status) -> bytes:
    """The text that Prometheus reads."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_StatusCollector(status))
    return generate_latest(registry)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"arena_{name}", words, value=value)


def _gauges(name: str, words: str, labels: Iterable[str], samples: Samples) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"arena_{name}", words, labels=list(labels))
    for values, number in samples:
        family.add_metric(list(values), number)
    return family


def _rounds(status: Status) -> Iterator[GaugeMetricFamily]:
    leader = status.leader
    yield _gauge("health", "0 ok, 1 waiting, 2 late, 3 trouble", HEALTH_WORDS.index(status.word))
    yield _gauge("on_duty", "1 while a scheduler is on duty", bool(leader and leader.alive))
    yield _gauge("rounds_due", "Rounds whose time has come", status.calendar.due)
    yield _gauge("rounds_done", "Rounds that are done", status.calendar.done)
    yield _gauge("lag_seconds", "By how much the latest round is late", status.lag.total_seconds())
    turns: Samples = [((status,), count) for status, count in status.turns.items()]
    yield _gauges("turns", "Turns by how they ended", ["verdict"], turns)


def _money(status: Status) -> Iterator[GaugeMetricFamily]:
    spend = status.spend
    yield _gauge("spend_today_dollars", "What calls cost today (UTC)", spend.today / ONE)
    yield _gauge("spend_month_dollars", "What calls cost this month (UTC)", spend.month / ONE)
    spent: Samples = [((x.scope,), x.spent / ONE) for x in spend.limits]
    limits: Samples = [((x.scope,), x.limit / ONE) for x in spend.limits]
    yield _gauges("budget_spent_dollars", "What is spent of each budget", ["per"], spent)
    yield _gauges("budget_dollars", "Each budget", ["per"], limits)
    yield _gauge("calls_under_way", "Calls to models that are being made", status.under_way.calls)
    yield _gauge("calls_lost", "Calls whose worker was lost; they may be charged", status.under_way.lost)


def _world(status: Status) -> Iterator[GaugeMetricFamily]:
    held = status.held
    yield _gauge("positions", "Open positions", held.positions)
    yield _gauge("stale_markets", "Markets held at an old price or none", held.stale)
    for name, words, at in (
        ("quote_age_seconds", "Since prices were last read", status.looked_at),
        ("held_quote_age_seconds", "Since the oldest price of what is held was known", held.oldest),
    ):
        if at is not None:
            yield _gauge(name, words, _since(at, status))
    errors: Samples = [((x.venue, x.code), x.records) for x in status.quarantined if x.kind == "page"]
    quarantined: Samples = [((x.venue, x.kind, x.code), x.records) for x in status.quarantined]
    yield _gauges("venue_errors", "Pages that a venue did not answer in a day", ["venue", "code"], errors)
    yield _gauges("set_aside", "Records set aside in a day", ["venue", "kind", "code"], quarantined)


def _work(status: Status) -> Iterator[GaugeMetricFamily]:
    failures: Samples = [((job.name,), job.failures) for job in status.jobs]
    ages: Samples = [((job.name,), _since(job.ended_at, status)) for job in status.jobs if job.ended_at]
    yield _gauges("job_failures", "How often in a row a job has failed", ["job"], failures)
    yield _gauges("job_age_seconds", "Since a job last ended", ["job"], ages)
    kinds = sorted(told.incident.kind for told in status.incidents if told.ended_at is None)
    going_on: Samples = [((kind,), kinds.count(kind)) for kind in dict.fromkeys(kinds)]
    yield _gauges("incidents", "Incidents that go on", ["kind"], going_on)


def _since(at: datetime, status: Status) -> float:
    return (status.at - at).total_seconds()
