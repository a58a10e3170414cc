"""A table of moves is read strictly: what a row means, and in what words a bad one is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers.table import COLUMNS, LineContent, read_table
from agents.model import Forecast, Unreadable
from portfolio.model import Bet, Sale
from tests.builders import RAIN, usd

AT = "2026-01-04T12:00"
HEADER = "at,market,probability,side,amount,limit,fraction,reason"
NOON = datetime(2026, 1, 4, 12, tzinfo=UTC)


def csv(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows, ""])


def said(text: str, name: str = "ann.csv") -> list[LineContent]:
    rows, bad = read_table(name, text)
    assert bad == []
    return [row.says for row in rows]


def refused(text: str, name: str = "ann.csv") -> list[tuple[str, str]]:
    rows, bad = read_table(name, text)
    assert rows == []
    return [(each.rejection.code, each.rejection.message) for each in bad]


MEANT = {
    f"{AT},{RAIN},0.62,,,,,polls": Forecast(RAIN, 0.62, reason="polls"),
    f"{AT},{RAIN},62%,,,,,": Forecast(RAIN, 0.62),
    f" {AT} , {RAIN} , 1 ,,,,,": Forecast(RAIN, 1),
    f"{AT},{RAIN},,yes,120,,,": Bet(RAIN, "YES", usd(120)),
    f'{AT},{RAIN},,NO,"$1,200.50",0.4,,"cheap, ""very"""': Bet(
        RAIN, "NO", usd("1200.50"), usd("0.4"), 'cheap, "very"'
    ),
    f"{AT},{RAIN},,NO,,,0.5,": Sale(RAIN, "NO", fraction=usd("0.5")),
    f"{AT},{RAIN},,NO,,0.3,all,enough": Sale(RAIN, "NO", limit=usd("0.3"), reason="enough"),
}


@pytest.mark.parametrize("row", MEANT)
def test_a_row_says_one_thing(row: str) -> None:
    assert said(csv(row)) == [MEANT[row]]


def test_json_by_the_line_says_the_same() -> None:
    lines = [
        f'{{"at": "{AT}", "market": "{RAIN}", "probability": 0.62, "side": null}}',
        "",
        f'{{"at": "{AT}", "market": "{RAIN}", "side": "NO", "amount": 0.1, "limit": "0.4"}}',
        f'{{"at": "{AT}", "market": "{RAIN}", "side": "NO", "fraction": 1e-3, "reason": "a\u2028b"}}',
    ]
    assert said("\n".join(lines), "ann.jsonl") == [
        Forecast(RAIN, 0.62),
        Bet(RAIN, "NO", usd("0.1"), usd("0.4")),
        Sale(RAIN, "NO", fraction=1_000, reason="a b"),
    ]


@pytest.mark.parametrize(
    ("at", "meant"),
    [
        (AT, NOON),
        ("2026-01-04T12:00:00Z", NOON),
        ("2026-01-04 12:00+02:00", NOON - timedelta(hours=2)),
        ("2026-01-04", NOON - timedelta(hours=12)),
    ],
)
def test_a_time_is_in_utc_unless_it_says_so(at: str, meant: datetime) -> None:
    ((row,), _) = read_table("ann.csv", csv(f"{at},{RAIN},0.5,,,,,"))
    assert row.at == meant
    assert row.line == 2


ONE_THING = "a row has a probability, an amount to bet or a fraction to sell"
ODD = {
    f"{AT},{RAIN},40,,,,,": ("probability", "the probability 40 is not between 0 and 1"),
    f"{AT},{RAIN},half,,,,,": ("probability", 'the probability "half" is not a number'),
    f"{AT},{RAIN},nan,,,,,": ("probability", 'the probability "nan" is not a number'),
    f"{AT},{RAIN},,,120,,,": ("side", 'the side "None" is neither YES nor NO'),
    f"{AT},{RAIN},,maybe,120,,,": ("side", 'the side "maybe" is neither YES nor NO'),
    f"{AT},{RAIN},,YES,-5,,,": ("amount", "the amount -5 is not above 0 and at most 1,000,000,000 dollars"),
    f"{AT},{RAIN},,YES,5,2,,": ("limit", "the limit 2 is not between 0 and 1"),
    f"{AT},{RAIN},,YES,,,1.5,": ("fraction", "the fraction 1.5 is not above 0 and up to 1"),
    f"yesterday,{RAIN},0.5,,,,,": (
        "time",
        'the time "yesterday" is not a time such as 2026-01-04T12:00 (UTC by default)',
    ),
    f",{RAIN},0.5,,,,,": ("time", "the time (at) is missing"),
    f"{AT},rain,0.5,,,,,": ("market", 'the market "rain" is not one such as polymarket:123'),
    f"{AT},,0.5,,,,,": ("market", "the market is missing"),
    f"{AT},{RAIN},,YES,,,,": (
        "row",
        f"{ONE_THING}, and this one has none of them",
    ),
    f"{AT},{RAIN},0.5,YES,5,,,": (
        "row",
        f"{ONE_THING}, and this one has probability and amount",
    ),
    f"{AT},{RAIN},0.5,YES,,,,": ("row", "a row with a probability has no side"),
    f"{AT},{RAIN},0.5": ("row", "it has 3 cells, the first line 8"),
}


@pytest.mark.parametrize("row", ODD)
def test_a_row_that_means_nothing_is_refused_with_its_line_and_the_others_stand(row: str) -> None:
    good = f"{AT},{RAIN},0.5,,,,,"
    rows, (bad,) = read_table("ann.csv", csv(good, "", row, good))
    code, words = ODD[row]
    assert (bad.rejection.code, bad.rejection.message) == (code, f"ann.csv:4: {words}")
    assert [kept.line for kept in rows] == [2, 5]


JSON_ODD = {
    "[1]": ("not_an_object", "it is not a JSON object"),
    '{"at": 1': ("not_an_object", "invalid JSON: Expecting ',' delimiter at character 9"),
    '{"at": 1} {"at": 2}': ("not_an_object", "invalid JSON: Extra data at character 11"),
    '{"at": "x", "at": "y"}': ("duplicate_key", 'the key "at" appears twice'),
    '{"at": 20260104, "market": "sim:rain", "probability": 0.5}': ("time", "the time is not a text"),
    f'{{"at": "{AT}", "market": "{RAIN}", "probability": true}}': (
        "probability",
        "the probability is true or false",
    ),
    f'{{"at": "{AT}", "market": "{RAIN}", "probability": NaN}}': (
        "probability",
        'the probability "NaN" is not a number',
    ),
    f'{{"at": "{AT}", "market": ["{RAIN}"], "probability": 0.5}}': (
        "market",
        """the market "['sim:rain']" is not one such as polymarket:123""",
    ),
}


@pytest.mark.parametrize("line", JSON_ODD)
def test_a_line_of_json_that_means_nothing_is_refused(line: str) -> None:
    code, words = JSON_ODD[line]
    assert refused(f"\n{line}\n", "ann.jsonl") == [(code, f"ann.jsonl:2: {words}")]


def test_deep_json_is_refused_and_breaks_nothing() -> None:
    assert refused("[" * 100_000, "ann.jsonl") == [
        ("not_an_object", "ann.jsonl:1: the JSON is nested too deeply")
    ]


UNKNOWN = f"is unknown. Rename or remove it; known columns are {', '.join(COLUMNS)}"
UNREADABLE = {
    ("ann.csv", "at,market,prob\n"): f'ann.csv:1: "prob" {UNKNOWN}',
    ("ann.csv", "at,market,market\n"): 'ann.csv:1: the column "market" appears twice. Remove one of them',
    ("ann.csv", "market,probability\n"): 'ann.csv:1: there is no column "at". Add it to the first line',
    ("ann.csv", ""): 'ann.csv:1: there is no column "at". Add it to the first line',
    ("ann.jsonl", '\n{"when": 1}'): f'ann.jsonl:2: "when" {UNKNOWN}',
    ("ann.xlsx", "PK"): "ann.xlsx must end in .csv or .jsonl. Rename it to match its contents",
    ("ann.csv", 'at,market\n\n"a" b,c\n'): (
        "ann.csv:3: invalid CSV (',' expected after '\"'). Put text with commas or quotes in"
        " double quotes, and double any quotes inside it"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), UNREADABLE)
def test_a_table_that_can_not_be_meant_is_refused_whole_with_the_mend(name: str, text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_table(name, text)
    assert str(caught.value) == UNREADABLE[name, text]


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    text = csv(f'{AT},{RAIN},0.5,,,,,"two\nlines"', ",,,,,,,", f"{AT},{RAIN},2,,,,,").replace("\n", "\r\n")
    (good,), (bad,) = read_table("ann.csv", text)
    assert good.says == Forecast(RAIN, 0.5, reason="two lines")
    assert (good.line, bad.rejection.message.partition(": ")[0]) == (2, "ann.csv:5")


CELLS = st.sampled_from(
    [AT, RAIN, "0.5", "YES", "120", "", '"', "1e999", "-0", "all", "\x00", ",", "\r", "40%"]
)


@given(
    st.lists(st.lists(CELLS | st.text(max_size=5), max_size=9), max_size=5), st.sampled_from(["csv", "jsonl"])
)
def test_no_table_breaks_the_reader(rows: list[list[str]], ending: str) -> None:
    text = "\n".join(",".join(row) for row in rows)
    try:
        good, bad = read_table(f"ann.{ending}", csv(text) if ending == "csv" else text)
    except Unreadable:
        return
    assert all(each.rejection.message.startswith(f"ann.{ending}:") for each in bad)
    assert [row.line for row in good] == sorted(row.line for row in good)


def test_times_at_the_ends_of_the_calendar_can_be_compared() -> None:
    early, late = "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00"
    rows, _ = read_table("ann.csv", csv(*(f"{at},{RAIN},0.5,,,,," for at in (early, late))))
    assert rows[0].at < NOON.astimezone(timezone(timedelta(hours=5))) < rows[1].at
