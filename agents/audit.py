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
        odds = next(chain.from_iterable(map(_of_odds, parts)), None)
        if odds is not None:
            return odds

    days = list(_of_url(url, at))
    for part in parts:
        days += (*_of_dates(part, at), *_of_months(part, at))

    certain = (verdict for verdict in days if verdict.verdict == "dated later")
    answers = (found for part in parts for asked in questions for found in _of_answer(part, title, asked, at))
    live = chain.from_iterable(map(_of_live, parts))
    return next(chain(certain, answers, days, live), CLEAN)


@dataclass(frozen=True, slots=True)
class _Part:
    """A title or a text, the same in small letters, and its sentences, each with where it begins."""

    place: Place
    words: str
    folded: str
    sentences: Sequence[tuple[int, str]]

    def sentence(self, start: int) -> str:
        """Return the sentence that has a place."""
        return self.sentences[max(0, bisect_right(self.sentences, start, key=itemgetter(0)) - 1)][1]


def tells_odds(text: str) -> bool:
    """Return whether a text names a market or bets with a figure beside it that may be a price.

    >>> tells_odds("Bettors give the Chiefs 3-to-1"), tells_odds("Manifold users are at 0.83")
    (True, True)
    """
    odds = _of_odds(_Part("text", text, _folded(text), ()))
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
    spans, begin = list[tuple[int, str]](), 0
    for match in say.BREAK.finditer(text):
        if match[0].startswith("\n") or not _goes_on(text, begin, match):
            spans += _pieces(text, begin, match.start())
            begin = match.end()
    return [*spans, *_pieces(text, begin, len(text))]


def _goes_on(text: str, begin: int, match: re.Match[str]) -> bool:
    """Return whether a full stop only shortens a word, or counts a day before its month."""
    before = max(begin, match.start() - 8)
    if say.SHORT.search(text, before, match.start()):
        return True
    return bool(say.COUNTED.search(text, before, match.start()) and say.MONTH.match(text, match.end()))


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield a sentence with its place, or the pieces of a long one, which overlap."""
    for start in range(begin, max(begin + 1, end - OVERLAP), LONGEST - OVERLAP):
        if piece := text[start : min(start + LONGEST, end)]:
            yield start, piece


def _of_url(url: str, at: datetime) -> Iterator[AuditFinding]:
    """Yield a later day in an address, and a page that is written while something happens."""
    for match in say.URL_DAY.finditer(url):
        named = match["month"].casefold()
        day = match["day"]
        month = int(named) if named.isdigit() else MONTHS.get(named, 0)
        if not (1 <= month <= 12 and 1 <= int(day or 1) <= 31 and (match["by"] or day)):
            continue
        if datetime(int(match["year"]), month, 1, tzinfo=UTC) + timedelta(days=int(day or 1) - 1) > at:
            in_path = url[: match.start()].endswith("/")
            yield AuditFinding("dated later" if in_path else "unsure", url, "url")
    if say.LIVE_URL.search(url):
        yield AuditFinding("unsure", url, "url")


def _of_live(part: _Part) -> Iterator[AuditFinding]:
    """Yield a page that is written while something happens, whatever day it bears."""
    match = say.LIVE_PAGE.search(part.folded)
    if match is None and part.place == "title":
        match = say.LIVE_TITLE.search(part.words)
    if match is not None:
        yield AuditFinding("unsure", part.sentence(match.start()), part.place)


def _of_odds(part: _Part) -> Iterator[AuditFinding]:
    """Yield the first price of a bet, with what stands around it."""
    for match in say.PRICED_AT.finditer(part.folded):
        begin, end = max(0, match.start() - NEAR), match.end() + NEAR
        if say.FIGURES.search(part.folded, begin, end):
            yield AuditFinding("odds", part.words[begin:end], part.place)
            return


def _of_dates(part: _Part, at: datetime) -> Iterator[AuditFinding]:
    """Yield days later than an instant: of the page itself, or of what has happened by its words."""
    days = written_dates(part.words, at, at.year)
    later = (part.sentence(day.start) for day in days if day.last > at)
    for sentence in dict.fromkeys(later):
        for day in written_dates(sentence, at):
            if day.last <= at or (not day.dated and day.at - at > SOON):
                continue
            if day.at > at and is_of_results(sentence, day):
                yield AuditFinding("dated later", sentence, part.place)
            elif _is_of_page(sentence, day):
                yield AuditFinding("dated later" if day.first > at else "unsure", sentence, part.place)
            elif day.at > at and _has_happened(sentence, day):
                yield AuditFinding("dated later", sentence, part.place)


def _of_months(part: _Part, at: datetime) -> Iterator[AuditFinding]:
    """Yield sentences that tell of a coming month as if it were over."""
    for _, sentence in part.sentences:
        if tells_coming_month(sentence, at):
            yield AuditFinding("dated later", sentence, part.place)


def _is_of_page(sentence: str, day: WrittenDate) -> bool:
    """Return whether a day is that on which a page was written, changed or read."""
    before, after = sentence[max(0, day.start - FAR) : day.start], sentence[day.end :]
    for word in say.STAMP.finditer(before):
        if (word["far"] or len(before) - word.end() <= ADJACENT) and not say.COMING.search(before):
            return True
    if say.CHANGED.match(after) or (say.DATELINE.fullmatch(before) and say.DASH.match(after)):
        return True
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
    others = (cut.end() for cut in say.CLAUSE.finditer(sentence) if not start <= cut.start() < end)
    cuts = [0, *others, len(sentence)]
    place = bisect_right(cuts, start, 0, len(cuts) - 1) - 1
    low = cuts[place]
    high = cuts[place + 1]
    if len((sentence[low:start] + sentence[end:high]).split()) > FEW_WORDS:
        return sentence[low:high]

    if place + 2 < len(cuts):
        high = cuts[place + 2]
    else:
        low = cuts[max(0, place - 1)]
    return sentence[low:high]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is known by in texts: its names and its other words, and how such a one ends.

    Of its terms an answer has at least `need`, and a name among them. Where no text of `keys` is in small
    letters, no name is.
    """

    names: tuple[re.Pattern[str], ...]
    others: tuple[re.Pattern[str], ...]
    keys: tuple[str, ...]
    need: int
    ends: re.Pattern[str]
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

    def is_told(self, part: str, title: str) -> bool:
        """Return whether a part of a sentence, together with the title, is about the question."""
        if not self.is_named(part):
            return False
        whole = _bare(f"{part} {title}")
        if self._has_own_name(whole):
            return True
        count = sum(bool(term.search(whole)) for term in (*self.names, *self.others))
        if count < self.need:
            count += self._has_ticker(whole)
        return count >= self.need

    def has_its_names(self, text: str) -> bool:
        """Return whether a text has two of the question's names, or one that is nobody else's."""
        bare = _bare(text)
        if self._has_own_name(bare):
            return True
        return sum(bool(name.search(bare)) for name in self.names) >= min(2, len(self.names))

    def _has_own_name(self, text: str) -> bool:
        """Return whether a text has a name that is nobody else's."""
        return any(way in text for way in self.subject.own)

    def of_something_else(self, match: re.Match[str]) -> bool:
        """Return whether a verb's object is something else than what is asked about."""
        if not say.TRANSITIVE.search(match[0]):
            return False

        thing = say.OBJECT.match(match.string, match.end())
        if thing is None or say.OUTCOME.search(thing[1]):
            return False
        return not say.finds_any((*self.names, *self.others), thing[1])


@lru_cache(maxsize=4096)  # every text of a round is held against the same questions
def _asked(question: str) -> _Asked:
    """Return how texts may name what a question asks about, and how they may say that it has happened."""
    terms: dict[Kind, list[tuple[str, ...]]] = {"name": [], "figure": [], "word": []}
    for term in search_terms(question, MOST_TERMS):
        terms.get(term.kind, []).append(tuple(map(_bare, term.ways)))
    names = _names_asked(question, terms["name"])
    words = [first for first, *_ in terms["word"]]

    # What a text may call the subject beside its names: figures, words without their endings, translations.
    figures = ["|".join(map(_figure_way, figure)) for figure in terms["figure"]]
    stems = [rf"\b{re.escape(word[: max(STEM, len(word) - 3)])}" for word in words]
    patterns = (*figures, *stems, *words_abroad(question))
    others = tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)

    # How a text may say that it has happened: in general, by the deed that is asked about, by its verb.
    verbs = [verb for verb in say.ENDS if re.search(rf"\b(?:{verb})\b", question, re.IGNORECASE)]
    past_forms = [say.ENDS[verb] for verb in verbs]
    happened = "|".join([say.SAYS_SO, *deeds_asked(question), *past_forms])
    ends = re.compile(rf"\b(?:{happened})(?!\w)", re.IGNORECASE)

    keys = _keys_of(names, terms["word"])
    subject = subject_of(question, names)
    if not names:
        # The other terms stand in for the names, and one of them is enough.
        return _Asked(names=others, others=(), keys=keys, need=1, ends=ends, subject=subject)

    # The verb of the question is no word of its subject.
    is_verb = re.compile("|".join(verbs) or "(?!)", re.IGNORECASE).fullmatch
    plain = [word for word in words if not is_verb(word)]
    need = min(2, len(names) + len(figures) + len(plain))
    if len(names) == 1 and any(map(str.isdigit, names[0][0])):
        need = 1  # a name with digits is nobody else's

    named = tuple(re.compile("|".join((*_name_ways(name), *_ticker_ways(name)))) for name in names)
    return _Asked(names=named, others=others, keys=keys, need=need, ends=ends, subject=subject)


def _names_asked(question: str, named: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names of what a question asks about, each in all its ways, in other languages too."""
    names = [(*name, *names_abroad(name)) for name in _whole_names(question, named)]
    if "level" not in kinds_of(question):
        return names

    for word, called in say.GOODS.items():
        if re.search(rf"\b{word}\b", question, re.IGNORECASE):
            names.append(called)
    return names


def _keys_of(names: Sequence[Sequence[str]], words: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the small words one of which is in every text about a question: how its names end and begin."""
    keys = dict[str, None]()
    for way in chain.from_iterable(names or words):
        parts = way.lower().split()
        keys |= dict.fromkeys((parts[-1], parts[0]))

    tickers = chain.from_iterable(map(tickers_of, names))
    return tuple(keys | dict.fromkeys(map(str.lower, tickers)))


def _whole_names(question: str, names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names with those joined that a common word parts: Golden State Warriors."""
    whole: list[tuple[str, ...]] = []
    for ways in names:
        between = None
        if whole:
            between = re.search(rf"\b{re.escape(whole[-1][0])} ([A-Z]\w+) {re.escape(ways[0])}\b", question)
        if between is None:
            whole.append(ways)
            continue
        first = whole.pop()[0]
        whole.append((between[0], f"{first} {between[1]}"))
    return whole


def _name_ways(ways: Iterable[str]) -> Iterator[str]:
    """Yield how a text may call what is named: in full, by the last two words, by the last or the first."""
    for way in ways:
        parts = way.split()
        written = re.escape(way)
        if any(map(str.isdigit, parts[-1])):
            written = written.replace(r"\ ", "[ -]")
        yield rf"(?i:(?<!\w){written}(?!\w))"  # before .NET there is no \b
        initials = say.INITIAL.findall(way)
        if len(initials) >= SHORTEST:
            number = say.NUMBERED.search(way)
            yield rf"\b{''.join(initials)}{number[0] if number else ''}(?!\w)"
        if len(parts) > 2 and parts[-1] not in say.PRIZES:
            yield rf"\b{re.escape(' '.join(parts[-2:]))}(?!\w)"
        if len(parts) > 1 and parts[-1] in say.PRIZES:
            yield rf"\b{re.escape(' '.join(parts[:-1]))}(?!\w)"
        if len(parts) > 1 and say.CODE.fullmatch(parts[-1]):
            yield rf"\b{re.escape(parts[-1])}(?!\w)"
        singles = parts[-1:] + parts[:1] * bool(JOINING.intersection(parts)) if len(parts) > 1 else []
        if (
            len(parts) == 2
            and len(parts[0]) > 5
            and len(parts[1]) > 2
            and not say.NATIONAL.fullmatch(parts[0])
        ):
            yield rf"\b{re.escape(parts[0])}(?!\w)"
        yield from (
            rf"\b{re.escape(x)}(?!\w)"
            for x in singles
            if len(x) > SHORTEST and x.casefold() not in COMMON and x not in say.GENERIC
        )


def _ticker_ways(ways: Sequence[str]) -> Iterator[str]:
    """Yield the tickers of what is named, in capitals only."""
    for ticker in tickers_of(ways):
        yield rf"\b{ticker}\b"


def _figure_way(way: str) -> str:
    plain = re.escape(way).replace("percent", "(?:percent|%|per cent)")
    short = ""
    if way.endswith(",000"):
        short = f"|{way.removesuffix(',000')}k"
    return rf"(?<![\d.,])(?:{plain}{short})(?!\d)"


def _of_answer(part: _Part, title: str, question: str, at: datetime) -> Iterator[AuditFinding]:
    """Yield the first sentence that says how a question has ended."""
    asked = _asked(question)
    out = next((words for _, words in part.sentences if _is_out(words, title, asked, at)), None)
    if out is not None:
        yield AuditFinding("answer", out, part.place, question)
        return
    if _is_of_other_stage(title, question):
        return

    places = {place for key in asked.keys for place in _places(key, part.folded)}
    places.update(candidates(part.words, asked.subject))
    if part.place == "text" and asked.is_named(title):
        places.update(map(itemgetter(0), part.sentences))

    for sentence in dict.fromkeys(map(part.sentence, sorted(places))):
        pieces = dict.fromkeys((sentence, *sentence.split("; ")))
        told = _answers(sentence, title, asked, question, at)
        if told or any(_has_outcome(piece, title, asked, at) for piece in pieces):
            yield AuditFinding("answer", sentence, part.place, question)
            return
    if asked.subject.mark is not None:
        yield from _of_threshold(part, title, asked, at)
    if part.place == "text" and _is_all_over(part.words, title, asked, at):
        yield AuditFinding("answer", part.words, part.place, question)


def _of_threshold(part: _Part, title: str, asked: _Asked, at: datetime) -> Iterator[AuditFinding]:
    """Yield the first sentence, with the next, that states the figure which a threshold is asked of."""
    threshold = asked.subject.mark
    if threshold is None:
        return

    context = "" if part.place == "title" or _is_about_to_come(title) else title
    sentences = list(dict.fromkeys(map(itemgetter(1), part.sentences)))
    pairs = map(" ".join, pairwise(sentences))
    for single, pair in zip_longest(sentences, pairs, fillvalue=""):
        for words in filter(None, (single, pair)):
            if not has_figure(_bare(words), threshold) or not asked.is_named(f"{words} {context}"):
                continue
            question = asked.subject.question
            if not _may_answer(words, question, at):
                continue
            if asked.subject.statistics and is_elsewhere(words, question):
                continue
            on_day = _is_at_the_time(words, asked, at)
            if tells_threshold(_bare(words), _bare(context), threshold, on_day):
                yield AuditFinding("answer", words, part.place, asked.subject.question)
                return


def _is_all_over(text: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a short text names what is asked about, and all of it is about what is over."""
    if not 0 < len(text) <= LONGEST or asked.subject.is_point:
        return False
    whole = f"{title}. {text}"
    kinds = asked.subject.kinds
    if not (asked.is_told(whole, "") or (asked.is_single and asked.is_named(whole))):
        return False
    if kinds & {"deal", "treaty"} and not asked.has_its_names(whole):
        return False

    open_words = (AHEAD, FORESEEN, say.OPEN, say.EARLIER, say.AGES_AGO, say.OTHERS)
    if say.finds_any(open_words, whole) or not _may_answer(whole, asked.subject.question, at):
        return False
    return is_aftermath(_bare(whole), kinds) or asked.ends.search(whole) is not None


def _is_out(sentence: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence says that one who was to win a tournament has lost before its last stage."""
    if asked.subject.ousted is None or not asked.is_named(sentence):
        return False
    whole = f"{title} {sentence}"
    if not asked.is_told(sentence, title) or say.ROUND_ROBIN.search(whole) or say.AGES_AGO.search(whole):
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


def _has_outcome(sentence: str, title: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence tells an outcome in another form than a verb, and of no other time."""
    sentence = say.COMPARED.sub("", sentence)
    if not _may_answer(sentence, asked.subject.question, at) or say.AGES_AGO.search(sentence):
        return False

    bare = _bare(sentence)
    if tells_release(bare, asked.subject, at):
        return True
    in_sentence = asked.is_named(sentence)
    if not in_sentence and _is_about_to_come(title):
        return False
    told = asked.is_told(f"{sentence} {title}", "")
    is_single = asked.is_single and (in_sentence or asked.is_named(title))
    if (told or is_single) and tells_presumed(bare, asked.subject):
        return True

    # What is taken for granted may stand beside what is to come; the forms from here on may not.
    if say.OTHERS.search(sentence) or say.OPEN.search(EXPECTATION.sub("", sentence)):
        return False
    if tells_outcome(bare, asked.subject, in_sentence or asked.is_named(title), told, at):
        return True
    return told and _is_over(sentence, title, asked)


def _is_over(sentence: str, title: str, asked: _Asked) -> bool:
    """Return whether a sentence about a question has only words of what is over, and so has the title."""
    if say.EARLIER.search(sentence) or AHEAD.search(title) or FORESEEN.search(sentence):
        return False
    if asked.subject.is_point or not asked.has_its_names(f"{sentence} {title}"):
        return False
    return is_aftermath(_bare(sentence), asked.subject.kinds)


def _is_about_to_come(title: str) -> bool:
    """Return whether a title is that of a text about what may be, or about an earlier stage."""
    return say.finds_any((say.PREVIEW, say.OPEN, say.STAGE), title)


def _places(key: str, text: str) -> Iterator[int]:
    """Yield each place where a word stands in a text."""
    place = text.find(key)
    while place >= 0:
        yield place
        place = text.find(key, place + len(key))


def _answers(sentence: str, title: str, asked: _Asked, question: str, at: datetime) -> bool:
    """Return whether a sentence has a verb by which such a question ends, with what is asked about."""
    sentence = EXPECTATION.sub("", say.COMPARED.sub("", sentence))
    if not _may_answer(sentence, question, at) or say.AGES_AGO.search(sentence):
        return False
    # Of a price on one day the news says something every day.
    if asked.subject.is_point and not _is_at_the_time(sentence, asked, at):
        return False
    if asked.subject.is_period and is_of_other_period(sentence, question, at):
        return False

    matches = islice(asked.ends.finditer(sentence), MOST_ENDS)
    return any(_ends_it(sentence, match, title, asked) for match in matches)


def _ends_it(sentence: str, match: re.Match[str], title: str, asked: _Asked) -> bool:
    """Return whether the verb that was matched is said of what is asked about, and of something over."""
    clause = _clause(sentence, match.start(), match.end())
    if _is_no_verb(sentence, match):
        return False
    if say.EARLIER.search(clause) or say.OPEN.search(clause) or say.OTHERS.search(clause):
        return False

    low = max((cut.end() for cut in say.HARD.finditer(sentence, 0, match.start())), default=0)
    after = say.HARD.search(sentence, match.end())
    part = sentence[low : after.start() if after else len(sentence)]
    if asked.subject.kinds & {"deal", "treaty"} and not asked.has_its_names(f"{part} {title}"):
        return False
    if asked.is_told(part, title) and not asked.of_something_else(match):
        return True
    if asked.subject.kinds & {"departure", "court"} and asked.is_named(part) and say.GONE.search(part):
        return True
    is_anaphor = say.ANAPHOR.match(sentence) is not None
    return is_anaphor and asked.is_told(title, "") and not _is_about_to_come(title)


def _is_at_the_time(sentence: str, asked: _Asked, at: datetime) -> bool:
    """Return whether a sentence is about the day that is asked of, or the end of its month."""
    days = _days_of(asked.subject.question, at)
    if any(day.at in days for day in written_dates(sentence, at)):
        return True
    return say.LAST_DAY.search(sentence) is not None


def _is_no_verb(sentence: str, match: re.Match[str]) -> bool:
    """Return whether a word that may end a question is a habit, a plural or a noun where it stands."""
    if say.HABIT.search(sentence, 0, match.start()) or say.PLURAL.match(sentence, match.end()):
        return True
    return bool(say.MOVE.fullmatch(match[0]) and say.AS_A_NOUN.search(sentence, 0, match.start()))


@lru_cache(maxsize=4096)
def _days_of(question: str, at: datetime) -> frozenset[datetime]:
    return frozenset(day.at for day in written_dates(question, at))


def _is_dated_before(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence names a day or month that was over, and none that the question asks of."""
    if is_of_other_quarter(sentence, question):
        return True
    asked_of = _days_of(question, at)
    if any(day.last <= at and day.at not in asked_of for day in written_dates(sentence, at)):
        return True
    for match in say.BARE_MONTH.finditer(sentence):
        month = (match["month"] or match["owning"]).casefold()
        ahead = (MONTHS[month] - at.month) % 12
        if ahead > COMING_MONTHS and month not in question.casefold():
            return True
    for match in say.BARE_YEAR.finditer(sentence):
        if int(match["year"]) < at.year and match["year"] not in question:
            return True
    return False
