"""Judges whether a text tells what could not be known when agents decide, by rules over its words. Pure.

A date of publishing can be wrong, and so can a search that goes by it. So each sentence of a text, its title
and its address are judged by themselves: by days later than the decision, unless they are only to come; by
words that say how the question ended, unless they speak of earlier times or of what may be; and by prices of
bets. The sentence that gave the verdict is kept with it, and judged again it gives the same.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain, islice, pairwise, zip_longest
from operator import itemgetter
from typing import Literal

from agents import audit_words as say
from agents.audit_aftermath import AHEAD, is_aftermath
from agents.audit_exonyms import names_abroad, words_abroad
from agents.audit_kinds import PAIRED, deeds_asked, kinds_of
from agents.audit_later import is_of_results, is_past_abroad, tells_coming_month
from agents.audit_outcomes import (
    EXPECTATION,
    FORESEEN,
    candidates,
    is_elsewhere,
    is_of_other_period,
    tells_outcome,
    tells_presumed,
    tells_release,
)
from agents.audit_subject import TICKER, Subject, is_ticker, subject_of, tickers_of
from agents.audit_threshold import has_figure, is_of_other_quarter, tells_threshold
from agents.search_terms import COMMON, JOINING, SHORTEST, Kind, search_terms
from agents.written_dates import MONTHS, WrittenDate, written_dates

Verdict = Literal["clean", "dated later", "answer", "odds", "unsure"]
VERDICTS: tuple[Verdict, ...] = ("odds", "dated later", "answer", "unsure")
"""Those of suspects, the worst first."""
RULES = 7
"""The version of these rules: a verdict is recomputed only by the rules that gave it."""
Place = Literal["title", "text", "url"]
LONGEST, OVERLAP = 400, 100
"""A sentence has at most so many characters; of a longer one each piece is judged, and pieces overlap."""
SOON = timedelta(days=120)
"""A day without a year is taken for one to come only if it is so near."""
MOST_JUDGED = 100_000
"""So many characters of a text are judged: five times what any agent is shown of one."""
NEAR = 80
"""A figure within so many characters of a market's name, or of a word for bets, is taken for its price."""
SINGLED = frozenset(["contest", "office", "departure", "court", "launch", "release", "bankruptcy"])
"""Kinds of question whose subject is in few texts, so that its name alone says what a short text is about."""
DAILY = frozenset(["level", "treaty", "rate", "vote"])
"""Kinds whose subject is in the news every day."""
MOST_ENDS = 5
"""So many words that may say how a question ended are looked at in a sentence."""
MOST_TERMS, STEM = 12, 5
"""So many terms of a question are looked for, and of a word at least so many letters."""
FEW_LETTERS, FEW_WORDS = 25, 4
COMING_MONTHS = 3
"""A month without a year is over, unless it is this one or one of the next."""
FAR, ADJACENT = 60, 12
"""How far before a date a word of `STAMP` may stand: one that only pages bear, and one that means more."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A verdict on a text, and the sentence that gave it: none where it is clean.

    `question` is that whose answer it tells.
    """

    verdict: Verdict = "clean"
    words: str = ""
    place: Place = "text"
    question: str = ""


CLEAN = AuditFinding()


def audit(
    title: str, text: str, url: str, questions: Sequence[str], at: datetime, prices: bool = True
) -> AuditFinding:
    """Return the verdict on an article for agents that are asked these questions at an instant.

    Of several verdicts the worst is returned, and of one kind the first. Without `prices` those of bets
    are nothing to hide.
    """
    title = _plain(title)
    places: tuple[tuple[Place, str], ...] = (("title", title), ("text", _plain(text)))
    parts = [_Part(place, words, _folded(words), _sentences(words)) for place, words in places]
    if prices:
        odds = next(chain.from_iterable(map(_odds_in, parts)), None)
        if odds is not None:
            return odds

    late_days = list(_late_days_in_url(url, at))
    for part in parts:
        late_days += (*_late_days_in(part, at), *_coming_months_in(part, at))

    # generators, so that nothing is looked for once a worse verdict is found
    certain = (finding for finding in late_days if finding.verdict == "dated later")
    answers = (
        finding
        for part in parts
        for question in questions
        for finding in _answers_in(part, title, question, at)
    )
    live_pages = chain.from_iterable(map(_live_page_in, parts))
    return next(chain(certain, answers, late_days, live_pages), CLEAN)


@dataclass(frozen=True, slots=True)
class _Part:
    """A title or a text, the same in small letters, and its sentences, each with where it begins."""

    place: Place
    words: str
    folded: str
    sentences: Sequence[tuple[int, str]]

    def sentence(self, position: int) -> str:
        """Return the sentence in which a position is."""
        following = bisect_right(self.sentences, position, key=itemgetter(0))
        _, sentence = self.sentences[max(0, following - 1)]
        return sentence


def tells_odds(text: str) -> bool:
    """Return whether a text names a market or bets with a figure beside it that may be a price.

    >>> tells_odds("Bettors give the Chiefs 3-to-1"), tells_odds("Manifold users are at 0.83")
    (True, True)
    """
    odds = _odds_in(_Part("text", text, _folded(text), ()))
    return next(odds, None) is not None


def _plain(text: str) -> str:
    """Return a text without what people don't see: width and form of letters, spaces beyond single ones."""
    if not text.isascii():
        text = say.UNSEEN.sub("", unicodedata.normalize("NFKC", text[:MOST_JUDGED])).translate(say.QUOTES)
    return say.SPACES.sub(" ", text[:MOST_JUDGED])


def _folded(text: str) -> str:
    """Return a text in small letters without accents, each letter where it stood."""
    text = _bare(text)
    small = text.lower()
    if len(small) != len(text):
        return "".join(letter.lower()[:1] for letter in text)
    return small


def _bare(text: str) -> str:
    """Return a text without accents, each letter where it stood."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in text)


def _sentences(text: str) -> list[tuple[int, str]]:
    """Return the sentences of a text, each with where it begins; long ones in overlapping pieces."""
    sentences = list[tuple[int, str]]()
    begin = 0
    for stop in say.BREAK.finditer(text):
        if stop[0].startswith("\n") or not _is_no_sentence_end(text, begin, stop):
            sentences += _overlapping_pieces(text, begin, stop.start())
            begin = stop.end()

    return [*sentences, *_overlapping_pieces(text, begin, len(text))]


def _is_no_sentence_end(text: str, begin: int, stop: re.Match[str]) -> bool:
    """Return whether a full stop only shortens a word, or counts a day before its month."""
    before = max(begin, stop.start() - 8)
    if say.SHORT.search(text, before, stop.start()):
        return True

    follows_number = say.COUNTED.search(text, before, stop.start())
    return bool(follows_number and say.MONTH.match(text, stop.end()))


def _overlapping_pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield a sentence with its place, or the pieces of a long one, which overlap."""
    last_start = max(begin + 1, end - OVERLAP)
    for start in range(begin, last_start, LONGEST - OVERLAP):
        piece = text[start : min(start + LONGEST, end)]
        if piece:
            yield start, piece


def _late_days_in_url(url: str, at: datetime) -> Iterator[AuditFinding]:
    """Yield a later day in an address, and a page that is written while something happens."""
    for match in say.URL_DAY.finditer(url):
        month_text = match["month"].casefold()
        month = int(month_text) if month_text.isdigit() else MONTHS.get(month_text, 0)
        day = int(match["day"] or 1)
        is_date = bool(match["by"] or match["day"]) and 1 <= month <= 12 and 1 <= day <= 31
        if not is_date:
            continue

        first_of_month = datetime(int(match["year"]), month, 1, tzinfo=UTC)
        if first_of_month + timedelta(days=day - 1) > at:
            is_path_segment = url[: match.start()].endswith("/")
            yield AuditFinding("dated later" if is_path_segment else "unsure", url, "url")

    if say.LIVE_URL.search(url):
        yield AuditFinding("unsure", url, "url")


def _live_page_in(part: _Part) -> Iterator[AuditFinding]:
    """Yield a page that is written while something happens, whatever day it bears."""
    match = say.LIVE_PAGE.search(part.folded)
    if match is None and part.place == "title":
        match = say.LIVE_TITLE.search(part.words)
    if match is not None:
        yield AuditFinding("unsure", part.sentence(match.start()), part.place)


def _odds_in(part: _Part) -> Iterator[AuditFinding]:
    """Yield the first price of a bet, with what stands around it."""
    for match in say.PRICED_AT.finditer(part.folded):
        begin = max(0, match.start() - NEAR)
        end = match.end() + NEAR
        if say.FIGURES.search(part.folded, begin, end):
            yield AuditFinding("odds", part.words[begin:end], part.place)
            return


def _late_days_in(part: _Part, at: datetime) -> Iterator[AuditFinding]:
    """Yield days later than an instant: of the page itself, or of what has happened by its words."""
    days = written_dates(part.words, at, at.year)
    sentences = (part.sentence(day.start) for day in days if day.last > at)
    for sentence in dict.fromkeys(sentences):
        for day in written_dates(sentence, at):
            may_be_past_year = not day.dated and day.at - at > SOON
            if day.last <= at or may_be_past_year:
                continue

            if day.at > at and is_of_results(sentence, day):
                yield AuditFinding("dated later", sentence, part.place)
            elif _is_of_page(sentence, day):
                verdict: Verdict = "dated later" if day.first > at else "unsure"
                yield AuditFinding(verdict, sentence, part.place)
            elif day.at > at and _has_happened(sentence, day):
                yield AuditFinding("dated later", sentence, part.place)


def _coming_months_in(part: _Part, at: datetime) -> Iterator[AuditFinding]:
    """Yield sentences that tell of a coming month as if it were over."""
    for _, sentence in part.sentences:
        if tells_coming_month(sentence, at):
            yield AuditFinding("dated later", sentence, part.place)


def _is_of_page(sentence: str, day: WrittenDate) -> bool:
    """Return whether a day is that on which a page was written, changed or read."""
    before = sentence[max(0, day.start - FAR) : day.start]
    after = sentence[day.end :]
    for stamp in say.STAMP.finditer(before):
        is_adjacent = len(before) - stamp.end() <= ADJACENT
        if (stamp["far"] or is_adjacent) and not say.COMING.search(before):
            return True

    is_dateline = say.DATELINE.fullmatch(before) and say.DASH.match(after)
    if is_dateline or say.CHANGED.match(after):
        return True

    # a time with hardly a word beside it
    letters = sum(map(str.isalpha, before)) + sum(map(str.isalpha, after))
    return day.timed and letters <= FEW_LETTERS


def _has_happened(sentence: str, day: WrittenDate) -> bool:
    """Return whether what a sentence tells of a day is over, by its verbs."""
    before = sentence[: day.start]
    if say.SAID_ON.search(before):
        return True
    if (say.FOR.search(before) and not day.spans) or say.INFINITIVE.search(before):
        return False
    clause = _clause(sentence, day.start, day.end)
    if say.COMING.search(clause):
        return False
    return say.PAST.search(clause) is not None or is_past_abroad(clause)


def _clause(sentence: str, start: int, end: int) -> str:
    """Return the clause of a sentence around a place; a very short one together with its neighbour."""
    cut_ends = (cut.end() for cut in say.CLAUSE.finditer(sentence) if not start <= cut.start() < end)
    bounds = [0, *cut_ends, len(sentence)]
    index = bisect_right(bounds, start, 0, len(bounds) - 1) - 1
    clause_start = bounds[index]
    clause_end = bounds[index + 1]
    words_around = (sentence[clause_start:start] + sentence[end:clause_end]).split()
    if len(words_around) > FEW_WORDS:
        return sentence[clause_start:clause_end]

    has_next = index + 2 < len(bounds)
    if has_next:
        clause_end = bounds[index + 2]
    else:
        clause_start = bounds[max(0, index - 1)]
    return sentence[clause_start:clause_end]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is known by in texts: its names and its other words, and how such a one ends.

    Of its terms an answer has at least `terms_needed`, and a name among them. A text that has none of the
    `keys`, in small letters, has no name either.
    """

    names: tuple[re.Pattern[str], ...]
    other_terms: tuple[re.Pattern[str], ...]
    keys: tuple[str, ...]
    terms_needed: int
    end_words: re.Pattern[str]
    subject: Subject

    @property
    def is_single(self) -> bool:
        """Return whether few texts name the subject, so that its name alone tells what a text is about."""
        kinds = self.subject.kinds
        is_paired = PAIRED.search(self.subject.question) is not None
        return bool(kinds & SINGLED) and not kinds & DAILY and not is_paired

    def is_named(self, part: str) -> bool:
        """Return whether a part of a sentence has one of the question's names."""
        bare = _bare(part)
        return say.finds_any(self.names, bare) or self._has_ticker(bare)

    def _has_ticker(self, text: str) -> bool:
        """Return whether a text has a ticker that stands for one of the question's names."""
        return any(is_ticker(word, self.subject) for word in TICKER.findall(text))

    def is_about_question(self, part: str, title: str) -> bool:
        """Return whether a part of a sentence, together with the title, is about the question."""
        if not self.is_named(part):
            return False

        text = _bare(f"{part} {title}")
        if self._has_unique_name(text):
            return True

        terms_found = sum(bool(term.search(text)) for term in (*self.names, *self.other_terms))
        if terms_found < self.terms_needed:
            terms_found += self._has_ticker(text)
        return terms_found >= self.terms_needed

    def has_enough_names(self, text: str) -> bool:
        """Return whether a text has two of the question's names, or one that is nobody else's."""
        bare = _bare(text)
        if self._has_unique_name(bare):
            return True

        names_found = sum(bool(name.search(bare)) for name in self.names)
        return names_found >= min(2, len(self.names))

    def _has_unique_name(self, text: str) -> bool:
        """Return whether a text has a name that is nobody else's."""
        return any(name in text for name in self.subject.unique_names)

    def is_about_other_object(self, verb: re.Match[str]) -> bool:
        """Return whether a verb's object is something else than what is asked about."""
        if not say.TRANSITIVE.search(verb[0]):
            return False

        verb_object = say.OBJECT.match(verb.string, verb.end())
        if verb_object is None or say.OUTCOME.search(verb_object[1]):
            return False
        return not say.finds_any((*self.names, *self.other_terms), verb_object[1])


@lru_cache(maxsize=4096)  # every text of a round is held against the same questions
def _asked_by(question: str) -> _Asked:
    """Return how texts may name what a question asks about, and how they may say that it has happened."""
    terms: dict[Kind, list[tuple[str, ...]]] = {"name": [], "figure": [], "word": []}
    for term in search_terms(question, MOST_TERMS):
        spellings = tuple(map(_bare, term.ways))
        terms.get(term.kind, []).append(spellings)
    names = _names_with_translations(question, terms["name"])
    words = [first for first, *_ in terms["word"]]

    # What a text may call the subject beside its names: figures, words without their endings, translations.
    figures = ["|".join(map(_figure_pattern, figure)) for figure in terms["figure"]]
    stems = [rf"\b{re.escape(word[: max(STEM, len(word) - 3)])}" for word in words]
    patterns = (*figures, *stems, *words_abroad(question))
    other_terms = tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)

    # How a text may say that it has happened: in general, by the deed that is asked about, by its verb.
    verbs = [verb for verb in say.ENDS if re.search(rf"\b(?:{verb})\b", question, re.IGNORECASE)]
    past_forms = [say.ENDS[verb] for verb in verbs]
    happened = "|".join([say.SAYS_SO, *deeds_asked(question), *past_forms])
    end_words = re.compile(rf"\b(?:{happened})(?!\w)", re.IGNORECASE)

    keys = _keywords_of(names, terms["word"])
    subject = subject_of(question, names)
    if not names:
        # The other terms stand in for the names, and one of them is enough.
        return _Asked(
            names=other_terms, other_terms=(), keys=keys, terms_needed=1, end_words=end_words, subject=subject
        )

    # The verb of the question is no word of its subject.
    is_verb = re.compile("|".join(verbs) or "(?!)", re.IGNORECASE).fullmatch
    subject_words = [word for word in words if not is_verb(word)]
    terms_needed = min(2, len(names) + len(figures) + len(subject_words))
    if len(names) == 1 and any(map(str.isdigit, names[0][0])):
        terms_needed = 1  # a name with digits is nobody else's

    name_patterns = []
    for spellings in names:
        tickers = (rf"\b{ticker}\b" for ticker in tickers_of(spellings))
        ways = (*_name_patterns(spellings), *tickers)
        name_patterns.append(re.compile("|".join(ways)))
    return _Asked(tuple(name_patterns), other_terms, keys, terms_needed, end_words, subject)


def _names_with_translations(question: str, names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names of what a question asks about, each in all its spellings, in other languages too."""
    translated = [(*name, *names_abroad(name)) for name in _rejoined_names(question, names)]
    if "level" not in kinds_of(question):
        return translated

    for word, names_of_good in say.GOODS.items():
        if re.search(rf"\b{word}\b", question, re.IGNORECASE):
            translated.append(names_of_good)
    return translated


def _keywords_of(names: Sequence[Sequence[str]], words: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the small words one of which is in every text about a question: how its names end and begin."""
    keywords = dict[str, None]()
    for spelling in chain.from_iterable(names or words):
        parts = spelling.lower().split()
        keywords |= dict.fromkeys((parts[-1], parts[0]))

    tickers = chain.from_iterable(map(tickers_of, names))
    return tuple(keywords | dict.fromkeys(map(str.lower, tickers)))


def _rejoined_names(question: str, names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names with those joined that a common word parts: Golden State Warriors."""
    joined: list[tuple[str, ...]] = []
    for spellings in names:
        match = None
        if joined:
            previous = re.escape(joined[-1][0])
            match = re.search(rf"\b{previous} ([A-Z]\w+) {re.escape(spellings[0])}\b", question)
        if match is None:
            joined.append(spellings)
            continue

        previous = joined.pop()[0]
        joined.append((match[0], f"{previous} {match[1]}"))  # in full, and without its last word
    return joined


def _name_patterns(spellings: Iterable[str]) -> Iterator[str]:
    """Yield how a text may call what is named: in full, by the last two words, by the last or the first."""
    for name in spellings:
        parts = name.split()
        full_name = re.escape(name)
        if any(map(str.isdigit, parts[-1])):
            full_name = full_name.replace(r"\ ", "[ -]")
        yield rf"(?i:(?<!\w){full_name}(?!\w))"  # before .NET there is no \b

        initials = say.INITIAL.findall(name)
        if len(initials) >= SHORTEST:
            number = say.NUMBERED.search(name)
            yield rf"\b{''.join(initials)}{number[0] if number else ''}(?!\w)"

        shorter_names = _shorter_names(parts)
        yield from (rf"\b{re.escape(shorter)}(?!\w)" for shorter in shorter_names)


def _shorter_names(parts: Sequence[str]) -> Iterator[str]:
    """Yield what may stand for a name of several words: fewer of them, or one."""
    if len(parts) == 1:
        return

    first = parts[0]
    last = parts[-1]
    if last in say.PRIZES:
        yield " ".join(parts[:-1])
    elif len(parts) > 2:
        yield " ".join(parts[-2:])
    if say.CODE.fullmatch(last):
        yield last

    has_two_long_words = len(parts) == 2 and len(first) > 5 and len(last) > 2
    if has_two_long_words and not say.NATIONAL.fullmatch(first):
        yield first

    single_words = [last, first] if JOINING.intersection(parts) else [last]
    yield from filter(_may_stand_alone, single_words)


def _may_stand_alone(word: str) -> bool:
    """Return whether a word is long and special enough to stand for a whole name."""
    return len(word) > SHORTEST and word.casefold() not in COMMON and word not in say.GENERIC


def _figure_pattern(figure: str) -> str:
    """Return a pattern for a figure, with other words for percent, and 5k for 5,000."""
    pattern = re.escape(figure).replace("percent", "(?:percent|%|per cent)")
    if figure.endswith(",000"):
        pattern += f"|{figure.removesuffix(',000')}k"
    return rf"(?<![\d.,])(?:{pattern})(?!\d)"


def _answers_in(part: _Part, title: str, question: str, at: datetime) -> Iterator[AuditFinding]:
    """Yield the first sentence that says how a question has ended."""
    asked = _asked_by(question)
    sentences = map(itemgetter(1), part.sentences)
    knocked_out = next((words for words in sentences if _says_was_knocked_out(words, title, asked, at)), None)
    if knocked_out is not None:
        yield AuditFinding("answer", knocked_out, part.place, question)
        return
    if _is_of_other_stage(title, question):
        return

    # only sentences with a word of the question are looked at, or all where the title has its name
    positions = {position for key in asked.keys for position in _positions_of(key, part.folded)}
    positions.update(candidates(part.words, asked.subject))
    if part.place == "text" and asked.is_named(title):
        positions.update(map(itemgetter(0), part.sentences))

    for sentence in dict.fromkeys(map(part.sentence, sorted(positions))):
        tells_end = _tells_end_by_verb(sentence, title, asked, question, at)
        clauses = dict.fromkeys((sentence, *sentence.split("; ")))
        if tells_end or any(_tells_outcome_without_verb(clause, title, asked, at) for clause in clauses):
            yield AuditFinding("answer", sentence, part.place, question)
            return

    if asked.subject.figure_threshold is not None:
        yield from _threshold_answers_in(part, title, asked, at)
    if part.place == "text" and _is_wholly_about_the_past(part.words, title, asked, at):
        yield AuditFinding("answer", part.words, part.place, question)


def _threshold_answers_in(part: _Part, title: str, asked: _Asked, at: datetime) -> Iterator[AuditFinding]:
    """Yield the first sentence, or pair of neighbours, that states the figure of a threshold's question."""
    threshold = asked.subject.figure_threshold
    if threshold is None:
        return

    question = asked.subject.question
    context = "" if part.place == "title" or _is_about_to_come(title) else title
    sentences = list(dict.fromkeys(map(itemgetter(1), part.sentences)))
    pairs = map(" ".join, pairwise(sentences))
    for sentence, pair in zip_longest(sentences, pairs, fillvalue=""):
        for words in filter(None, (sentence, pair)):
            if not has_figure(_bare(words), threshold) or not asked.is_named(f"{words} {context}"):
                continue
            if not _may_answer(words, question, at):
                continue
            if asked.subject.statistics and is_elsewhere(words, question):
                continue

            on_day = _is_at_the_time(words, asked, at)
            if tells_threshold(_bare(words), _bare(context), threshold, on_day):
                yield AuditFinding("answer", words, part.place, question)
                return


def _is_wholly_about_the_past(text: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a short text names what is asked about, and all of it is about what is over."""
    if not 0 < len(text) <= LONGEST or asked.subject.is_point:
        return False

    whole = f"{title}. {text}"
    kinds = asked.subject.kinds
    is_about_question = asked.is_about_question(whole, "") or (asked.is_single and asked.is_named(whole))
    if not is_about_question:
        return False
    # one side of an agreement makes others too
    if kinds & {"deal", "treaty"} and not asked.has_enough_names(whole):
        return False

    open_words = (AHEAD, FORESEEN, say.OPEN, say.EARLIER, say.AGES_AGO, say.OTHERS)
    if say.finds_any(open_words, whole) or not _may_answer(whole, asked.subject.question, at):
        return False
    return is_aftermath(_bare(whole), kinds) or asked.end_words.search(whole) is not None


def _says_was_knocked_out(sentence: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence says that one who was to win a tournament has lost before its last stage."""
    if asked.subject.ousted is None or not asked.is_named(sentence):
        return False
    whole = f"{title} {sentence}"
    if (
        not asked.is_about_question(sentence, title)
        or say.ROUND_ROBIN.search(whole)
        or say.AGES_AGO.search(whole)
    ):
        return False
    if say.OPEN.search(sentence) or _is_dated_before(sentence, asked.subject.question, at):
        return False
    return asked.subject.ousted.search(_bare(sentence)) is not None


def _is_of_other_stage(text: str, question: str) -> bool:
    """Return whether a text is about what comes before that which is asked."""
    return any(stage[0].casefold() not in question.casefold() for stage in say.STAGE.finditer(text))


def _may_answer(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence states something, of no other stage or time than a question asks about."""
    if sentence.endswith("?") or say.INVERTED.match(sentence):
        return False
    if _is_of_other_stage(sentence, question):
        return False
    return not _is_dated_before(sentence, question, at)


def _tells_outcome_without_verb(sentence: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence tells an outcome in another form than a verb, and of no other time."""
    sentence = say.COMPARED.sub("", sentence)
    if not _may_answer(sentence, asked.subject.question, at) or say.AGES_AGO.search(sentence):
        return False

    bare = _bare(sentence)
    if tells_release(bare, asked.subject, at):
        return True
    is_named_in_sentence = asked.is_named(sentence)
    if not is_named_in_sentence and _is_about_to_come(title):
        return False
    is_about_question = asked.is_about_question(f"{sentence} {title}", "")
    is_named = is_named_in_sentence or asked.is_named(title)
    names_suffice = asked.is_single and is_named
    if (is_about_question or names_suffice) and tells_presumed(bare, asked.subject):
        return True

    # What is taken for granted may stand beside what is to come; the forms from here on may not.
    if say.OTHERS.search(sentence) or say.OPEN.search(EXPECTATION.sub("", sentence)):
        return False
    if tells_outcome(bare, asked.subject, is_named, is_about_question, at):
        return True
    return is_about_question and _is_over(sentence, title, asked)


def _is_over(sentence: str, title: str, asked: _Asked) -> bool:
    """Return whether a sentence about a question has only words of what is over, and so has the title."""
    if say.EARLIER.search(sentence) or AHEAD.search(title) or FORESEEN.search(sentence):
        return False
    if asked.subject.is_point or not asked.has_enough_names(f"{sentence} {title}"):
        return False
    return is_aftermath(_bare(sentence), asked.subject.kinds)


def _is_about_to_come(title: str) -> bool:
    """Return whether a title is that of a text about what may be, or about an earlier stage."""
    return say.finds_any((say.PREVIEW, say.OPEN, say.STAGE), title)


def _positions_of(word: str, text: str) -> Iterator[int]:
    """Yield each position at which a word stands in a text."""
    position = text.find(word)
    while position >= 0:
        yield position
        position = text.find(word, position + len(word))


def _tells_end_by_verb(sentence: str, title: str, asked: _Asked, question: str, at: datetime) -> bool:
    """Return whether a sentence has a verb by which such a question ends, with what is asked about."""
    sentence = EXPECTATION.sub("", say.COMPARED.sub("", sentence))
    if not _may_answer(sentence, question, at) or say.AGES_AGO.search(sentence):
        return False
    # Of a price on one day the news says something every day.
    if asked.subject.is_point and not _is_at_the_time(sentence, asked, at):
        return False
    if asked.subject.is_period and is_of_other_period(sentence, question, at):
        return False

    matches = islice(asked.end_words.finditer(sentence), MOST_ENDS)
    return any(_is_verb_about_question(sentence, match, title, asked) for match in matches)


def _is_verb_about_question(sentence: str, verb: re.Match[str], title: str, asked: _Asked) -> bool:
    """Return whether the verb that was matched is said of what is asked about, and of something over."""
    clause = _clause(sentence, verb.start(), verb.end())
    if _is_not_a_past_verb(sentence, verb):
        return False
    if say.EARLIER.search(clause) or say.OPEN.search(clause) or say.OTHERS.search(clause):
        return False

    # the main part of the sentence with the verb, between a semicolon or a "but" and the next
    part_start = max((cut.end() for cut in say.HARD.finditer(sentence, 0, verb.start())), default=0)
    next_cut = say.HARD.search(sentence, verb.end())
    part = sentence[part_start : next_cut.start() if next_cut else len(sentence)]

    kinds = asked.subject.kinds
    if kinds & {"deal", "treaty"} and not asked.has_enough_names(f"{part} {title}"):
        return False
    if asked.is_about_question(part, title) and not asked.is_about_other_object(verb):
        return True
    if kinds & {"departure", "court"} and asked.is_named(part) and say.GONE.search(part):
        return True

    # "The bill passed" is about the title's bill
    refers_to_title = say.ANAPHOR.match(sentence) is not None
    return refers_to_title and asked.is_about_question(title, "") and not _is_about_to_come(title)


def _is_at_the_time(sentence: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence is about the day that is asked of, or the end of its month."""
    days = _days_of(asked.subject.question, at)
    if any(day.at in days for day in written_dates(sentence, at)):
        return True
    return say.LAST_DAY.search(sentence) is not None


def _is_not_a_past_verb(sentence: str, word: re.Match[str]) -> bool:
    """Return whether a word that may end a question is a habit, a plural or a noun where it stands."""
    if say.HABIT.search(sentence, 0, word.start()) or say.PLURAL.match(sentence, word.end()):
        return True

    is_noun = say.MOVE.fullmatch(word[0]) and say.AS_A_NOUN.search(sentence, 0, word.start())
    return bool(is_noun)


@lru_cache(maxsize=4096)
def _days_of(question: str, at: datetime) -> frozenset[datetime]:
    return frozenset(day.at for day in written_dates(question, at))


def _is_dated_before(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence names a day or month that was over, and none that the question asks of."""
    if is_of_other_quarter(sentence, question):
        return True

    days_asked = _days_of(question, at)
    if any(day.last <= at and day.at not in days_asked for day in written_dates(sentence, at)):
        return True

    for match in say.BARE_MONTH.finditer(sentence):
        month = (match["month"] or match["owning"]).casefold()
        months_ahead = (MONTHS[month] - at.month) % 12
        if months_ahead > COMING_MONTHS and month not in question.casefold():
            return True

    for match in say.BARE_YEAR.finditer(sentence):
        year = match["year"]
        if int(year) < at.year and year not in question:
            return True
    return False
