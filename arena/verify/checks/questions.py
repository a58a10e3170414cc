"""Questions other than yes/no: their forms, the answers to them, and their outcomes.

`rows.toml` says which columns go together; the texts in them are read here, by the kind of each question.
"""

from collections.abc import Iterable, Mapping

from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row
from markets.distributions import check_distribution_text, check_form_text, form_of, question_kind
from markets.model import MarketId

FORMS_OF_MARKET = "SELECT form FROM market_version WHERE market_id = :market AND form <> ''"


def check_questions(facts: RecordReader) -> Found:
    """Yield the forms that can't be read, and the outcomes that no question of their market can have."""
    for page in facts.rows_to_check("market_version"):
        if page["form"]:
            try:
                check_form_text(page["form"])
            except ValueError as error:
                yield page.differs("form", "the form of a question", str(error))

    for resolution in facts.rows_to_check("resolution"):
        if resolution["answer"]:
            form_texts = facts.column(
                "form", "market_version", FORMS_OF_MARKET, market=resolution["market_id"]
            )
            if form_texts and not any(
                _is_possible_outcome(form_text, resolution["answer"]) for form_text in set(form_texts)
            ):
                yield resolution.differs(
                    "answer", "what the question can come to", "its market asks for another"
                )


def _is_possible_outcome(form_text: str, answer: str) -> bool:
    """Tell whether a question can have this outcome, in the record's spelling."""
    try:
        form = check_form_text(form_text)
        return question_kind(form.kind).read_outcome(form, answer) == answer
    except (ValueError, OverflowError):
        return False


def check_answers(forecasts: Iterable[Row], forms: Mapping[MarketId, str]) -> Found:
    """Yield the forecasts of a turn that don't answer their question, by the forms of the markets shown.

    A fault in the form itself is reported for its page only.
    """
    for row in forecasts:
        form = forms.get(row["market_id"], "")
        text = row["distribution"]
        if not form:
            if text:
                yield row.differs("distribution", "", "its market is of yes or no")
            continue

        try:
            check_distribution_text(form_of(form), text)
        except (ValueError, OverflowError) as error:
            yield row.differs("distribution", "an answer to its question", str(error))
