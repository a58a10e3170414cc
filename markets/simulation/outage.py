"""When the whole venue is out."""

from datetime import UTC, date, datetime, timedelta

from markets.simulation.settings import Chance, Settings, below, moment


def back_at(at: datetime, settings: Settings, chance: Chance) -> datetime | None:
    """When the outage of an instant is over; None where there is none."""
    if not settings.outage_rate:
        return None
    today = at.astimezone(UTC).date()
    days = (today - timedelta(days=n) for n in range(settings.outage_hours // 24 + 2))
    outages = (_outage(day, settings, chance) for day in days)
    return max((ends for begins, ends in outages if begins <= at < ends), default=None)


def _outage(day: date, settings: Settings, chance: Chance) -> tuple[datetime, datetime]:
    """From when to when the venue is out that begins to be so on a day; on most days no time at all."""
    rng = chance("outage", day)
    begins = moment(day, hour=0) + timedelta(minutes=below(rng, 24 * 60))
    hours = 1 + below(rng, settings.outage_hours) if rng.random() < settings.outage_rate else 0
    return begins, begins + timedelta(hours=hours)
