"""Four processes on one record ask a thousand times: no call too many, and never too many at once."""

from pathlib import Path

from arena.verify import verify
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.faults.hammer import COST, forking, most_at_once, work
from tests.opened_record import opened_record
from tests.records.full_record import SUN, Season, a_cohort, the_book

PROCESSES, TICKS = 4, 1_000
MOST, MAY = 5, 700


def test_a_budget_for_700_calls_makes_700_and_a_provider_for_five_never_has_six(
    database: str, tmp_path: Path
) -> None:
    with opened_record(database) as record:
        season = Season(record)
        season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob", "eve", "kim"))
        season.look(1, NOW, the_book(SUN, NOW))
        record.claim(1, [1, 2, 3, 4], "one of them")
    log, context = tmp_path / "calls", forking()
    told = (TICKS // PROCESSES, MOST, {"arena": MAY * COST + COST // 2}, str(log))
    workers = [context.Process(target=work, args=(database, n, *told)) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    assert most_at_once(log) == {"made": MAY, "most": MOST}
    with opened_record(database) as record, record.reading() as connection:
        calls = record.calls(1, [1, 2, 3, 4])
        kept = [(call.reply, call.cost) for each in calls.values() for call in each]
        assert kept.count(("yes", COST)) == MAY
        assert kept.count((None, 0)) == TICKS - MAY
        assert len({call.prompt.messages for each in calls.values() for call in each}) == TICKS
        assert connection.exec_driver_sql("SELECT count(*) FROM reservation").scalar_one() == 0
        assert verify(connection) == []
