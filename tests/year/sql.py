"""What is put into a record a year old by the database itself: rows that no hash is taken over.

What looks like chance is a product of primes with the seed, so the same seed makes the same rows.
"""

TEXT = "strftime('%Y-%m-%dT%H:%M:%S.000000Z', {}, 'unixepoch')"


def at(seconds: str) -> str:
    """The text of an instant, from its seconds."""
    return TEXT.format(seconds)


def count(name: str, until: str) -> str:
    """A table of whole numbers from 0 up to, not including, a bound."""
    return (
        f"{name}(k) AS (SELECT 0 WHERE 0 < {until} UNION ALL SELECT k + 1 FROM {name} WHERE k + 1 < {until})"
    )


WORK = (
    f"""INSERT INTO set_aside (venue, record, kind, code, reason, raw, first_seen_at, last_seen_at, times)
    WITH RECURSIVE {count("d", ":markets * 10")}
    SELECT 'polymarket', 'record-' || k, CASE WHEN k % 50 THEN 'quote' ELSE 'page' END,
        CASE WHEN k % 50 THEN 'bad_price' ELSE 'server_error' END, 'it makes no sense',
        printf('%.800c', 'x'), {at(":start")},
        {at(":start + (k * :cohorts * :week) / (:markets * 10)")}, 1 + k % 9 FROM d""",
    f"""INSERT INTO job (name, due_at, started_at, ended_at, failures, note)
    SELECT value, {at(":now - 900")}, {at(":now - 890")}, {at(":now - 880")}, 0, ''
    FROM json_each('["backup", "catalogue", "marks", "quotes", "resolutions", "retention", "rounds"]')""",
    f"""INSERT INTO lease (name, token, holder, expires_at)
    VALUES ('scheduler', 7, 'elsewhere/4711/a', {at(":now + 600")})""",
    f"""INSERT INTO incident (kind, subject, at, body, tries, told_at)
    WITH RECURSIVE {count("d", ":cohorts * 7")}
    SELECT 'venue_down', 'polymarket@' || k, {at(":start + k * 86400")}, '{{}}', 1, {at(":start + k * 86400")}
    FROM d""",
    f"UPDATE incident SET ended_at = {at(':now - 100')}",
)
"""Every statement, in order."""
