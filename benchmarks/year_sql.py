"""The statements that fill a record a year old, in the order in which keys need them.

Everything follows from places: markets are numbered from 0, and market m ends in week m % :ends. What
looks like chance is a product of primes with the seed, so the same seed makes the same rows.
"""

TEXT = "strftime('%Y-%m-%dT%H:%M:%S.000000Z', {}, 'unixepoch')"
HASH = "printf('%064x', {})"


def at(seconds: str) -> str:
    """The text of an instant, from its seconds."""
    return TEXT.format(seconds)


def count(name: str, until: str) -> str:
    """A table of whole numbers from 0 up to, not including, a bound."""
    return (
        f"{name}(k) AS (SELECT 0 WHERE 0 < {until} UNION ALL SELECT k + 1 FROM {name} WHERE k + 1 < {until})"
    )


MID = "((({market} * 7919 + {step} * 104729 + :seed * 15485863) % 9000) / 100 * 10000 + 50000)"
WEEKS = "min(:life, :cohorts - (c.number - 1))"
"""How many weeks of a cohort's life have passed."""

MARKETS = (
    f"""INSERT INTO market (id, first_seen_at)
    WITH RECURSIVE {count("m", ":markets")}
    SELECT printf('year:%05d', k), {at(":start")} FROM m""",
    f"""INSERT INTO market_version (market_id, version, at, event_id, question, rules, category, opens_at,
        closes_at, tick, fee_rate, min_shares, hash)
    WITH RECURSIVE {count("m", ":markets")}
    SELECT printf('year:%05d', k), 1, {at(":start")}, printf('event:%05d', k / 2),
        printf('Does the thing of number %d come to pass before its week is over?', k),
        'If it does, as the papers have it, this market resolves to YES; else to NO.', 'made up',
        {at(":start")}, {at(":start + (k % :ends) * :week")}, 10000, 40000, 0, {HASH.format("k + 1")}
    FROM m""",
)
QUOTES = f"""INSERT INTO quote (id, market_id, at, bid, ask, mid, last, volume, book, hash)
    WITH RECURSIVE {count("q", ":quotes")}, {count("m", ":markets")}
    SELECT q.k * :markets + m.k + 1, printf('year:%05d', m.k),
        {at("CAST(:start + q.k * (:cohorts * :week / :quotes) AS INTEGER)")},
        {MID.format(market="m.k", step="q.k")} - 10000, {MID.format(market="m.k", step="q.k")} + 10000,
        {MID.format(market="m.k", step="q.k")}, NULL, 20000000000,
        '{{"asks":[[500000,100000000]],"bids":[[480000,100000000]]}}', {HASH.format("q.k * :markets + m.k")}
    FROM q CROSS JOIN m"""

SHOWN = "(s.cohort_id * 131 + n.k * 7 + s.k * 3)"
"""The markets of a snapshot, by places that lie far apart."""
TAKEN = (
    f"""CREATE TEMP TABLE taken AS
    WITH RECURSIVE {count("t", ":life * :marks")}
    SELECT c.id AS cohort_id, c.number, t.k, t.k % :marks = 0 AND t.k / :marks < :rounds AS decides,
        :start + (c.number - 1) * :week + t.k * :week / :marks AS second
    FROM cohort c JOIN t ON t.k < {WEEKS} * :marks ORDER BY second, cohort_id""",
    f"""INSERT INTO snapshot (cohort_id, at, taken_at, hash)
    SELECT cohort_id, {at("second")}, {at("second + 2")}, {HASH.format("cohort_id * 100000 + k")}
    FROM taken""",
    "CREATE INDEX temp.ix_taken ON taken (cohort_id, second)",
    f"""INSERT INTO snapshot_item (snapshot_id, position, market_id, version_id, quote_id, quoted_at, shown)
    WITH RECURSIVE {count("n", "40")},
    s AS (SELECT snapshot.id, taken.cohort_id, k, decides, second,
            CAST((second - :start) / (:cohorts * :week / :quotes) AS INTEGER) AS step
        FROM taken JOIN snapshot ON snapshot.cohort_id = taken.cohort_id AND snapshot.at = {at("second")})
    SELECT s.id, n.k, printf('year:%05d', {SHOWN} % :markets), {SHOWN} % :markets + 1,
        min(s.step, :quotes - 1) * :markets + {SHOWN} % :markets + 1,
        {at("s.second - CASE WHEN n.k = 3 THEN 7200 ELSE 60 END")}, s.decides
    FROM s CROSS JOIN n WHERE n.k < CASE WHEN s.decides THEN 40 ELSE 10 END""",
    f"""INSERT INTO round (cohort_id, number, at, snapshot_id, done)
    SELECT s.cohort_id, t.k / :marks + 1, s.at, s.id, 1
    FROM taken t JOIN snapshot s ON s.cohort_id = t.cohort_id AND s.at = {at("t.second")}
    WHERE t.decides ORDER BY s.at, s.cohort_id""",
)
RESOLUTIONS = f"""INSERT INTO resolution (market_id, version, known_at, learnt_at, payout, source, hash)
    WITH RECURSIVE {count("m", ":markets")}
    SELECT printf('year:%05d', k), 1, {at(":start + (k % :ends) * :week")},
        {at(":start + (k % :ends) * :week")}, (k / :ends % 2) * 1000000, 'made up', {HASH.format("k")}
    FROM m WHERE k % :ends <= :cohorts"""

LOT = "(e.id * 31 + r.id * 17 + :seed) % 100"
VERDICT = f"CASE {LOT} WHEN 0 THEN 'failed' WHEN 1 THEN 'malformed' ELSE 'played' END"
TURNS = (
    f"""INSERT INTO turn (round_id, entrant_id, verdict, note, cash, wishes, code_version, hash)
    SELECT r.id, e.id, {VERDICT}, '', 9000000000,
        '{{"bets":[],"sales":[]' || printf('%1500s', '') || '}}', '0.1.0',
        {HASH.format("r.id * 1000 + e.position")}
    FROM round r JOIN entrant e USING (cohort_id) ORDER BY r.id, e.position""",
    f"""INSERT INTO claim (round_id, entrant_id, token, holder, expires_at)
    SELECT round_id, entrant_id, 1, 'host/1/1', {at(":start")} FROM turn""",
    f"""INSERT INTO "call" (round_id, entrant_id, stage, sample, attempt, messages, prompt_hash, seed, reply,
        finish, model, fingerprint, rung, tokens_in, tokens_out, cost, worst, latency_ms, error_code,
        error_message, error_retry, made_at, hash)
    SELECT t.round_id, t.entrant_id, 'final', 0, 1, printf('%.6000c', 'p'), {HASH.format("t.round_id")}, 1,
        printf('%.3000c', 'r'), 'stop', 'made-up-1', 'fp', 'schema', 6000, 1500,
        CASE WHEN t.id % 20 THEN 4000 + t.id % 1000 END, 90000, 9000, NULL, NULL, 0,
        strftime('%Y-%m-%dT%H:%M:%S.000000Z', r.at, '+1 minute'), {HASH.format("t.id")}
    FROM turn t JOIN round r ON r.id = t.round_id JOIN entrant e ON e.id = t.entrant_id
    WHERE e.kind = 'llm' ORDER BY t.id""",
    f"""INSERT INTO forecast (turn_id, market_id, stage, probability, reason)
    SELECT t.id, i.market_id, 'final', {MID.format(market="i.position", step="t.id")}, 'since it is so'
    FROM turn t JOIN round r ON r.id = t.round_id JOIN snapshot_item i USING (snapshot_id)
    WHERE t.verdict = 'played' GROUP BY t.id, i.market_id""",
)

WEEK_OF = "(r.at_week + b.k % 8 + 1)"
"""The week in which a bought market ends: one to eight after the round's."""
KIND_OF = "((e.id * 5 + (r.number - 1) * 12 + b.k) % :kinds)"
LEDGERS = (
    f"""CREATE TEMP TABLE bought AS
    WITH RECURSIVE {count("b", "12")},
    r AS (SELECT id, cohort_id, number, at,
            (CAST(strftime('%s', at) AS INTEGER) - :start) / :week AS at_week FROM round)
    SELECT e.id AS entrant_id, t.id AS turn_id, r.number, min(b.k) AS place, r.at,
        {WEEK_OF} AS ends, {KIND_OF} * :ends + {WEEK_OF} AS market
    FROM r JOIN entrant e USING (cohort_id) JOIN turn t ON t.round_id = r.id AND t.entrant_id = e.id
    CROSS JOIN b WHERE t.verdict = 'played'
    GROUP BY e.id, {KIND_OF} * :ends + {WEEK_OF} ORDER BY t.id, place""",
    f"""INSERT INTO fill (turn_id, position, market_id, side, action, shares, amount, fee, wanted, base,
        quote_at, quote_hash, fee_rate, "left", reason, hash)
    SELECT turn_id, row_number() OVER (PARTITION BY turn_id ORDER BY place) - 1, printf('year:%05d', market),
        'YES', 'buy', 100000000, 50000000, 0, 50000000, 10000000000, at, {HASH.format("market")}, 40000, '',
        '',        {HASH.format("turn_id * 100 + place")} FROM bought ORDER BY turn_id, place""",
    """INSERT INTO fill_level (fill_id, position, price, shares, amount, fee)
    SELECT id, 0, 500000, shares, amount, fee FROM fill""",
    f"""CREATE TEMP TABLE line AS
    SELECT entrant_id, at, 'buy' AS kind, market, -50000000 AS cash, 100000000 AS shares, 50000000 AS cost,
        0 AS realised, 100000000 AS held, 'fill:' || number || ':' || place AS ref FROM bought
    UNION ALL
    SELECT entrant_id, {at(":start + ends * :week")}, 'settle', market, (market / :ends % 2) * 100000000,
        -100000000, -50000000, (market / :ends % 2) * 100000000 - 50000000, 0, 'resolution:1'
    FROM bought WHERE ends <= :cohorts""",
    f"""INSERT INTO entry (entrant_id, number, at, kind, market_id, side, cash, shares, cost, realised,
        balance, held, ref, previous, hash)
    SELECT entrant_id, 1 + row_number() OVER mine, at, kind, printf('year:%05d', market), 'YES', cash, shares,
        cost, realised, 10000000000 + sum(cash) OVER mine, held, ref, {HASH.format("0")},
        {HASH.format("entrant_id * 1000 + row_number() OVER mine")}
    FROM line WINDOW mine AS (PARTITION BY entrant_id ORDER BY at, kind DESC, market
        ROWS UNBOUNDED PRECEDING)""",
)
MARKS = """INSERT INTO mark (entrant_id, at, snapshot_id, cash, value, liquidation, cost, realised, stale,
        age)
    SELECT e.id, s.at, s.id, 9000000000, 1000000000 + (s.id * 7919 + e.id * 104729) % 100000000, 900000000,
        1000000000, 0, (s.id + e.id) % 40 = 0, 60 + (s.id + e.id) % 700
    FROM snapshot s JOIN entrant e USING (cohort_id) ORDER BY s.id, e.id"""

SEEN = (
    f"""INSERT INTO sync (venue, stamp, number, at, markets, seen, hash)
    WITH RECURSIVE {count("d", ":cohorts * 7 * 24")}
    SELECT 'polymarket', 'live', k + 1, {at(":start + k * 3600")}, :markets, {HASH.format("k")},
        {HASH.format("k")} FROM d""",
    "INSERT INTO sighting (sync_id, market_id, quoted) SELECT 1, id, 1 FROM market",
    f"""INSERT INTO set_aside (venue, record, kind, code, reason, raw, first_seen_at, last_seen_at, times)
    WITH RECURSIVE {count("d", ":markets * 10")}
    SELECT 'polymarket', 'record-' || k, CASE WHEN k % 50 THEN 'quote' ELSE 'page' END,
        CASE WHEN k % 50 THEN 'bad_price' ELSE 'server_error' END, 'it makes no sense',
        printf('%.800c', 'x'), {at(":start")},
        {at(":start + (k * :cohorts * :week) / (:markets * 10)")}, 1 + k % 9 FROM d""",
)
WORK = (
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
    f"""UPDATE cohort SET ended_at = {at(":start + (number - 1 + :life) * :week")}
    WHERE number - 1 + :life <= :cohorts""",
)
STEPS = (
    *MARKETS, QUOTES, *TAKEN, RESOLUTIONS, *TURNS, *LEDGERS, MARKS, *SEEN, *WORK,
)  # fmt: skip
"""Every statement, in order."""
