"""Scores of a season whose questions are not all of yes or no: all kinds as one, by the rules of files."""

from arena.record.model.columns import Floats, ForecastColumns
from arena.record.queries.accounts import read_accounts
from arena.record.queries.answers import read_answer_columns, read_season_markets
from arena.record.queries.cohorts import of_cohorts, read_min_coverage, read_newest_time
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.cohort import CohortRow, RoundRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import joined, select
from arena.scores.files.forecasts import ForecastTable
from arena.scores.season_table import SeasonRows, YesNoRows, season_table, turn_times
from markets.millionths import ONE

NAME = "the record"


def read_all_kinds(connection: Connection, cohort: int | None = None) -> ForecastTable:
    """Return the forecasts of a record or of one cohort, of all kinds, as a table."""
    stated = read_forecast_columns(connection, cohort)
    answers = read_answer_columns(connection, cohort)
    query = select(CohortRow.number, RoundRow.number, RoundRow.at).select_from(joined(RoundRow, CohortRow))
    rounds = {}
    for own_cohort, number, at in connection.execute(query.where(of_cohorts(cohort))):
        rounds[own_cohort, number] = at

    return season_table(
        NAME,
        SeasonRows(
            yes_no=_yes_no_rows(stated, turn_times(stated.cohort, stated.round, rounds)),
            answers=answers,
            time=turn_times(answers.cohort, answers.round, rounds),
            markets=read_season_markets(connection),
            kinds={account.agent: account.kind for account in read_accounts(connection, cohort)},
            as_of=read_newest_time(connection),
            min_coverage=read_min_coverage(connection, cohort),
        ),
    )


def _yes_no_rows(stated: ForecastColumns, time: Floats) -> YesNoRows:
    """Return the forecasts of yes/no markets."""
    return YesNoRows(
        agents=stated.agents,
        markets=stated.markets,
        agent=stated.agent,
        market=stated.market,
        time=time,
        chance=stated.forecast / ONE,
        price=stated.mid / ONE,
        stated=stated.stated,
        early=stated.early,
    )
