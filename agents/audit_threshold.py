"""Figures of what a question asks about, told against the threshold that it names. Pure.

All patterns are for texts in any case whose letters bear no accents, in English, Spanish, French, German,
Portuguese and Italian.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.written_dates import MONTHS

Unit = Literal["percent", "degrees", "plain"]
_ASKED = re.compile(
    r"\b(?:above|below|over|under|at least|at most|more than|less than|exceed\w*|reach\w*|hits?"
    r"|higher than|lower than|temperature of|record(?:ing)? of"
    r"|or less than)\s(?:about )?(?:[A-Z]{0,3}[$€£¥]\s?)?"
    r"(?P<figure>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>%|percent\b|per cent\b|°|degrees\b|k\b|thousand\b|million\b"
    r"|billion\b|trillion\b|mn\b|bn\b)?",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"(?P<figure>(?<![\d.,])\d[\d,]*(?:\.\d+)?)\s?(?P<unit>%|percent\b|per cent\b|°C?|degrees\b|k\b"
    r"|thousand\b"
    r"|million\b|billion\b|trillion\b|mn\b|bn\b)? or (?:more|higher|above|greater|less|fewer|lower|below)\b",
    re.IGNORECASE,
)
_SCALES = (
    (1e3, r"k|thousand|mil|mille|tausend|mila"),
    (1e6, r"m|mn|mio|millions?|millones|millon|millionen|milh(?:ao|oes)|milion[ei]"),
    (1e9, r"b|bn|mrd|billions?|mil millones|milliarden?|milliards?|bilh(?:ao|oes)|miliard[oi]|mld"),
    (1e12, r"tn|trillions?|billones|billionen|trilh(?:ao|oes)"),
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<figure>\d{1,3}(?:[., ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?![\d]|[.,]\d)"
    r"(?:[ -]?(?P<unit>%|percent\b|per cent\b|pct\b|prozent\b|por ciento\b|pour cent\b|por cento\b"
    r"|per cento\b"
    r"|bps?\b|points? de|°|degrees\b|degres?\b|grad\b|gradi\b|grados\b|graus\b)"
    rf"|\s?(?:{'|'.join(f'(?P<scale{i}>{words})' for i, (_, words) in enumerate(_SCALES))})\b)?",
    re.IGNORECASE,
)
_DEGREES = frozenset(["°", "degrees", "degre", "degres", "grad", "gradi", "grados", "graus"])
_BASIS = re.compile(r"bps?|points? de", re.IGNORECASE)
NEAREST, FARTHEST = 0.7, 1.5
"""A figure between so many times the threshold is taken for one of the same thing."""
LEAST = 15
"""A plain threshold below this is a count that too many figures are near."""
LAST_DAYS = 28
"""From this day of a month on, its end is asked of."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is measured, by words of six languages; `rest` are those of what is left to a hundred percent."""

    words: re.Pattern[str]
    is_single: bool = False
    rest: re.Pattern[str] | None = None


def _word_pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


_QUANTITIES = (
    Quantity(
        _word_pattern(
            r"turnout|affluenza|wahlbeteiligung|beteiligung|participation|participacion|participacao"
            r"|comparecimento|afluencia"
        ),
        True,
        _word_pattern(r"abstention|abstencion|abstencao|astension\w*|nichtwahler\w*"),
    ),
    Quantity(
        _word_pattern(
            r"(?:net )?income|profits?|earnings|earned|lucr\w+|beneficios?|ganancias|benefices?"
            r"|(?:netto|rein|quartals|konzern)?gewinn\w*|uberschuss|util[ei]|resultat net|resultado liquido"
        ),
        True,
    ),
    Quantity(
        _word_pattern(
            r"revenues?|turnover|umsatz\w*|erlose?|chiffre d'affaires|ingresos|facturacion|receitas?"
            r"|faturamento|ricavi|fatturato|facturo|faturou|fatturat\w+"
        ),
        True,
    ),
    Quantity(
        _word_pattern(
            r"deliver\w*|sold|sales|entreg\w+|vend\w+|vent[ae]s|livr\w+|ausgeliefert"
            r"|auslieferung\w*|verkauf\w*"
            r"|absatz|consegn\w+"
        ),
        True,
    ),
    Quantity(
        _word_pattern(
            r"votes?|vot[oi]s?|voix|stimm\w+|(?:end|wahl)?ergebnis\w*|results?|resultados?|resultats?"
            r"|risultat\w+"
            r"|count(?:ed|ing)?|ausgezahlt|escrutad\w+|depouill\w+|scrutinat\w+|apurad\w+|urnas|bulletins"
            r"|holt|obtien\w+|obtuvo|obtient|ottien\w+|ottenuto|obtev\w+|obteve|won|wins|took|takes"
            r"|secured|polled"
            r"|hochrechnung\w*|tally|share"
        ),
        True,
    ),
    Quantity(_word_pattern(r"seats?|escanos|sieges|sitze|seggi|assentos|cadeiras|mandate"), True),
    Quantity(
        _word_pattern(r"temperatur\w*|degrees?|degres?|grad\w*|graus|hottest|(?:\d )?°\s?c?|heat|hitze\w*")
    ),
)
_PERIODS = {
    3: r"first quarter|q1|premier trimestre|primer trimestre|primo trimestre|erste[ns]? quartal",
    6: (
        r"(?:second|june) quarter|q2|first half|half[- ]year|h1|premier semestre|primer semestre"
        r"|primo semestre|erste[ns]? halbjahr"
    ),
    9: r"third quarter|q3|troisieme trimestre|tercer trimestre|terzo trimestre|dritte[ns]? quartal",
    12: r"fourth quarter|q4|second half|h2|(?:the )?year|l'annee|el ano|o ano|l'anno|das jahr",
}
"""What ends with a month."""
_MONTH_NAMES = {
    unicodedata.normalize("NFD", name).encode("ascii", "ignore").decode(): month
    for name, month in MONTHS.items()
    if len(name) > 3 or month == 5
}
_BY_MONTH = {
    month: "|".join(name for name, number in _MONTH_NAMES.items() if number == month)
    for month in range(1, 13)
}
_DAY_NAMED = re.compile(
    r"\b(?P<day>\d{1,2}) (?P<after>[A-Z][a-z]{2,})|\b(?P<before>[A-Z][a-z]{2,}) (?P<number>\d{1,2})\b(?!\d)"
)
_MONTH_NAMED = re.compile(rf"\b({'|'.join(_MONTH_NAMES)})(?:tag\w*|hitze)?\b", re.IGNORECASE)
_ORDINALS = (
    r"first|1st|primer|primeiro|primo|premier|erste[ns]?|1\.|1er",
    r"second|2nd|segundo|secondo|deuxieme|zweite[ns]?|2\.|2e",
    r"third|3rd|tercer|terceiro|terzo|troisieme|dritte[ns]?|3\.|3e",
    r"fourth|4th|cuarto|quarto|quatrieme|vierte[ns]?|4\.|4e",
)
_QUARTERS = [
    re.compile(
        rf"\b(?:q{i}|{i}t|t{i}|(?:{words})[ -](?:fiscal )?(?:quarter|trimestre|quartals?))\b", re.IGNORECASE
    )
    for i, words in enumerate(_ORDINALS, 1)
]
_ENDED = (
    r"clos(?:ed|es|ing)|settle[ds]|settlement|end(?:ed|s)|finish(?:ed|es)|wrap(?:ped|s) up"
    r"|schlusskurs|schloss|schlie(?:ss|ß)t|beendet\w*|endete|monatsschluss"
    r"|clotur\w+|endeten?|boucl(?:e|ent|ait)|a boucle|a termine|termine|acheve|fini[te]?|a fini"
    r"|cerr(?:o|ado|ando|aron|ara)|termin(?:ara)|acabara|cierra|cierre|termin[oa](?:do|ndo)?"
    r"|acab[oa](?:do)?|despid(?:e|io)"
    r"|concluy\w+"
    r"|fech(?:a|ou|ado|amento)|encerr(?:a|ou|ado)|terminou|acabou|chius[oa]|chiude\w*|chiusura|ha terminato"
    r"|archivi\w+"
)
_STATED = re.compile(
    rf"(?<!\w)(?:{_ENDED}|close(?=:| of\b| at\b|,)|stood|was|were|c[ao]mes?|came|total(?:l?ed|s)"
    rf"|reach(?:ed|es)|peak(?:ed"
    rf"|s)?|hit|hits"
    r"|report(?:ed|s)|post(?:ed|s)|earned|record(?:ed|s)|booked|made|rose|fell|climbed|jumped|grew|dropped"
    r"|final|official"
    r"|lag|erreicht\w*|hochstwert\w*|verdient\w*|erziel\w+|betrug|meldet\w*|steht|stieg|sank|fiel|kletterte"
    r"|a atteint|atteint|s'est (?:etabli|eleve|fixe)\w*|s'etablit|s'eleve|ressort|bilan|est reste\w*|reste"
    r"|a degage|degage|enregistr\w+|publi(?:e|ee|es)|a ete|alcanz(?:o|ado)|se (?:situo|ubico|quedo)|fue"
    r"|registr(?:o|a|ou|ado|ata|ato)|obtuvo|logro|gano|balance|ficou|atingiu|foi|teve|somou"
    r"|lucr(?:a|ou)|balanco"
    r"|ha (?:raggiunto|registrato|chiuso|toccato|superato)|(?:si )?e (?:stat|ferm|attest|assest)\w+"
    r"|trimestrale|bilancio|registriert\w*|gemessen|misur\w+|medid\w+|mesure\w*|measured|segn(?:a"
    r"|ato))(?!\w)",
    re.IGNORECASE,
)
"""What says that a figure is a fact."""
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d|\d)")
_WHOLE = re.compile(
    r"\b(?:the (?:whole|entire|full) (?:month|period)|all month|tout le mois|tout au long du mois"
    r"|tod[oa] (?:el|o) mes|tutto il mese|den ganzen monat|im ganzen monat|bilan|(?:monats)?bilanz|balance"
    r"|balanco|bilancio|hochstwert\w*|peaked|month'?s? high|highest|maxim[oae]|massima|maximale)\b",
    re.IGNORECASE,
)
"""What speaks of a period as of something over."""
_MOVED = (
    r"gain(?:ed|s)?|los[st]\w*|fell|rose|drop(?:ped)?|added|advanced|worst|best|monthly|gewinn"
    r"|verlust|minus"
    r"|plus|verlor(?:en)?|zugelegt|gewann|stieg|fiel|perdio|gano|subio|cayo|avanzo|pierde|gana|perdu|gagne"
    r"|recul\w*|hausse|baisse|perdeu|ganhou|subiu|caiu|avancou|queda|alta|guadagn\w+|pers[oe]|perde|rialzo"
    r"|ribasso"
)
_OVER_OR_UNDER = re.compile(
    r"\b(?:above|below|under|over|short of|beyond|por (?:debajo|encima)|(?:en )?(?:deca|dessous"
    r"|dessus)|sous"
    r"|unter|uber|oberhalb|unterhalb|abaixo|acima|sotto|sopra|oltre|al di (?:sotto"
    r"|sopra))\s(?:\w+[ ']?){0,2}$",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"[ -](?:\w+[ -])?(?:marke|mark|threshold|barre|seuil|cota|barrera|marca|soglia|schwelle)\b[^.;]{0,60}"
    r"\b(?:reached|missed|erreicht|verfehlt|ubersprungen|geknackt|atteinte?|franchie?|alcanz\w+|super\w+"
    r"|ating\w+|raggiunt\w+)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r",? (?:roughly |about )?where (?:it|they) (?:stood|was|were) [^,.;]*|"
    r"[,(]? ?(?:\b(?:slightly|well|far|just|leicht|etwas|un peu|ligeramente|pouco) )?"
    r"(?:\b[\w.,%]+ (?:points? |decim\w+ |puntos |punti |punkte |points de \w+ )?(?:in )?)?"
    r"(?:\b(?:more|less|higher|lower|fewer|up|down|mas|menos|mais|piu|meno|plus|moins|mehr|weniger|hoher"
    r"|niedriger) )?"
    r"\b(?:than|compared (?:with|to)|versus|against|rispetto a\w*|que (?:a|en|hace)|frente a|do que|ante os"
    r"|als (?:im|vor|noch)|gegenuber|par rapport a|qu'en|qu'a|contre|face a|em relacao a)\b[^.;|]*",
    re.IGNORECASE,
)
"""What a figure is compared with."""
_EXPECTED = re.compile(
    r",? ?\b(?:above|below|beating|topping|in line with|sopra|sotto|oltre|uber|unter|au-dessus|au-dela"
    r"|por (?:encima|debajo)|acima|abaixo)(?: \w+)? (?:vorjahr\w*|l'an dernier|ano (?:pasado|passado)"
    r"|anno scorso)|\b(?:above|below|sopra|oltre|uber|unter|au-dessus|acima|por (?:encima"
    r"|debajo))(?: \w+){0,2} (?:[dl]')?(?:estimates?|expectations?|forecasts?"
    r"|consensus|stime|attese|previsioni|erwartungen|prognosen|schatzungen|attentes|previsions|consenso"
    r"|previsiones|expectativas|estimativas)(?: (?:of|degli|der|des|de los|dos) \w+)?",
    re.IGNORECASE,
)
"""What was expected of a figure that stands before it."""
_UNSURE = re.compile(
    r"\b(?:\w*umfragen?|sondage[ns]?|encuestas?|sondeos?|sondaggi\w*|pesquisas?|surveys?|pollsters?"
    r"|analysts?|analist\w+|analystes?|analysten|strateg\w+|economists?|forecast\w*|predict\w*"
    r"|project\w*"
    r"|model(?:l\w+|o|os|s)?|outlook|target\w*|objectifs?|objetivos?|kursziel\w*|obiettiv\w+|prevoi\w*"
    r"|previs\w+|previ?st?[aeio]\w*|prognos\w*|schatz\w*|stim[ae]\w*|estim\w+|consens\w+|probab\w+"
    r"|wahrscheinlich"
    r"|chances?|odds|risk|rischio|anticip\w+|pourrai\w+|devrai\w+|potrebb\w+|dovrebb\w+|konnt\w+|durft\w+"
    r"|poderi\w+|podri\w+|deveri\w+|vedono|sehen|voient|ven|veem|attes[oaie]|attend\w*|aguard\w+|esper\w+"
    r"|bisher|bislang|finora|jusqu'(?:ici|a present)|ate agora|hasta (?:ahora|la fecha)|so far|to date"
    r"|provisional|expect\w*|could|would|might|should|will|if|unless|whether|guidance|sees|seen|near\w*"
    r"|needs?|needed|requir\w+|necess\w+|benotig\w+|faudra\w*|at least|au moins|al menos|pelo menos"
    r"|almeno|mindest\w*|last (?:[\w-]+ )?(?:election|vote|time|quarter)|since reunification"
    r"|seconda? gli|secondo gli|laut \w*umfrage\w*|polls?|in focus|due|faces?"
    r"|intraday|briefly|record of|since (?:19|20)\d\d|last (?:year|week|month)|first (?:week|days"
    r"|half(?! of 20))"
    r"|(?:l'an|l'annee|mes|ano|anno|jahr|monat|semana|semaine|settimana|woche) (?:dernier\w*|pasad[oa]"
    r"|passad[oa]|scors[oa])|letzte\w* (?:jahr|monat|woche)\w*|vorjahr\w*|mitte|mid-\w+|mediados"
    r"|meados|meta"
    r"|fair value|strike|options?|primo turno|premier tour|primer[oa]? (?:vuelta|turno)|primeiro turno"
    r"|first round|ersten? wahlgang|(?:years?|months?|weeks?|days?) (?:ago|earlier)|hace \w+ anos"
    r"|il y a|anni fa|ha \w+ anos"
    r"|vor \w+ jahren)(?!\w)",
    re.IGNORECASE,
)
"""What says that a figure is a forecast, a figure on the way, or one of another time."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A value that a question asks about, of which quantity, and at or over what time."""

    value: float
    unit: Unit
    quantity: Quantity | None
    months: frozenset[int]
    years: frozenset[str]
    quarter: int | None
    is_point: bool
    ended: re.Pattern[str] | None


def threshold_of(question: str, is_point: bool) -> Threshold | None:
    """Return the threshold that a question names, if texts can have a figure like it."""
    match = _ASKED.search(question) or _OR_MORE.search(question)
    if match is None:
        return None

    unit_text = (match["unit"] or "").casefold()
    unit = _unit_named(unit_text)
    value = float(match["figure"].replace(",", "")) * _scale_of(unit_text)
    if unit == "plain" and value < LEAST:
        return None

    quantity = next((kind for kind in _QUANTITIES if kind.words.search(question)), None)
    years = frozenset(_YEAR.findall(question))
    quarter = min(_quarters_named(question), default=None)
    ended_months = _months_ended(question)
    ended = None
    if ended_months:
        ended = _pattern_of_month_end(ended_months)
    months = _months_named(question) | ended_months
    return Threshold(value, unit, quantity, months, years, quarter, is_point, ended)


def _unit_named(unit_text: str) -> Unit:
    """Return what kind of unit a word in small letters is."""
    if unit_text in _DEGREES:
        return "degrees"
    if unit_text.startswith(("%", "per", "pct", "proz", "por c", "pour c")):
        return "percent"
    return "plain"


def _scale_of(unit_text: str) -> float:
    """Return the number that a word such as "million" multiplies by; 1 for other words."""
    for scale, words in _SCALES:
        if re.fullmatch(words, unit_text):
            return scale
    return 1.0


def _months_ended(question: str) -> frozenset[int]:
    """Return the months whose last days a question asks of; their end is the first of the next one, too."""
    ended_months = set[int]()
    for match in _DAY_NAMED.finditer(question):
        month = _MONTH_NAMES.get((match["before"] or match["after"]).casefold())
        day = int(match["day"] or match["number"])
        if month is not None and day >= LAST_DAYS:
            ended_months.add(month)
        elif month is not None and day == 1:
            ended_months.add((month - 2) % 12 + 1)
    return frozenset(ended_months)


def _pattern_of_month_end(months: frozenset[int]) -> re.Pattern[str]:
    """Return how texts say that one of these months has ended, or what it has brought."""
    called = "|".join(_BY_MONTH[month] for month in sorted(months))
    periods = "|".join(_PERIODS[month] for month in sorted(months & _PERIODS.keys()))
    if periods:
        called = f"{called}|{periods}"
    inside = r"(?:in|for|im|fur den|en|em|a|of|di|de|d'|au mois de|para|per|over)"
    return re.compile(
        rf"\b(?:{_ENDED}) (?:out |off )?(?:the |den |das |le |la |el |o |il |month of |mois de |mes de "
        rf"|monat "
        rf"|mese di )*(?:{called})\b"
        rf"|\b(?:month(?:ly|-end)?|quarter(?:ly|-end)?) clos(?:es?|ings?)(?: prices?)?,? (?:for |of "
        rf"|in )?(?:{called})\b"
        rf"|\b(?:{called}) (?:\w+ ){{0,2}}?(?:{_ENDED})(?!\w)"
        rf"|\b(?:{_MOVED})\b(?:[^.;|]|\.\d){{0,40}}?\b{inside} ?(?:{called})\b"
        rf"|\b(?:im|fur den|en|em|in|a) (?:{called}) (?:\w+ ){{0,2}}(?:{_MOVED})\b",
        re.IGNORECASE,
    )


def has_figure(text: str, threshold: Threshold) -> bool:
    """Return whether a text has a figure of the same order as the threshold, or of what is left to 100%."""
    for value in _figures_in_unit(text, threshold):
        if _is_near(value, threshold) or (threshold.unit == "percent" and _is_near(100 - value, threshold)):
            return True
    return False


def tells_threshold(text: str, title: str, threshold: Threshold, on_day: bool) -> bool:
    """Return whether a text states a figure of what is asked, at the end of the time that is asked of.

    The text, one or two sentences, has a name of the question, or its title has. It names the day that is
    asked of where it is `on_day`.
    """
    text = _EXPECTED.sub("", _COMPARED.sub("", text))
    is_of_asked_time = _tells_end(text, threshold) or not is_of_other_time(text, threshold)
    if _UNSURE.search(text) or not is_of_asked_time:
        return False

    whole = f"{title} {text}"
    quantity = threshold.quantity
    is_published_once = quantity is not None and quantity.is_single
    # A headline about a figure that is published once needs no verb.
    if not is_published_once and not _states_a_fact(whole, threshold):
        return False

    if quantity is not None:
        # abstention, say, is what is left of turnout to a hundred percent
        if quantity.rest is not None and quantity.rest.search(text):
            return any(_is_near(100 - value, threshold) for value in _figures_in_unit(text, threshold))
        if not quantity.words.search(whole):
            return False

    near_values = [value for value in _figures_in_unit(text, threshold) if _is_near(value, threshold)]
    if not near_values:
        return False
    if is_published_once:
        return _fits_quarter(whole, threshold)
    return _are_values_of_time_asked(text, whole, near_values, threshold, on_day)


def _are_values_of_time_asked(
    text: str, with_title: str, near_values: Sequence[float], threshold: Threshold, on_day: bool
) -> bool:
    """Return whether values are those of the day, or of all of the month, that is asked of."""
    if threshold.is_point:
        return on_day or _tells_end(with_title, threshold)
    if not _months_named(with_title) & threshold.months:
        return False

    # What was reached can't be undone; what was not can still be, until the month is over.
    if any(value >= threshold.value for value in near_values) or _is_said_of_threshold(text, threshold):
        return True
    return _WHOLE.search(with_title) is not None


def _states_a_fact(text: str, threshold: Threshold) -> bool:
    """Return whether a text has words of a fact, or of the end of what is asked of."""
    return _STATED.search(text) is not None or _tells_end(text, threshold)


def _tells_end(text: str, threshold: Threshold) -> bool:
    """Return whether a text says that the months whose end is asked of have ended."""
    return threshold.ended is not None and threshold.ended.search(text) is not None


def _figures_in_unit(text: str, threshold: Threshold) -> Iterator[float]:
    """Yield the figures of a text that are in the threshold's unit, a doubtful one in both readings."""
    for match in _NUMBER.finditer(text):
        unit_text = (match["unit"] or "").casefold()
        if _BASIS.fullmatch(unit_text) or _unit_named(unit_text) != threshold.unit:
            continue

        scale = 1.0
        for index, (scale_of_words, _) in enumerate(_SCALES):
            if match[f"scale{index}"]:
                scale = scale_of_words

        figure = match["figure"]
        is_year = scale == 1 and re.fullmatch(r"(?:19|20)\d\d", figure)
        if is_year:
            continue

        # 1.500 is one and a half in English, and fifteen hundred in German
        for thousands_sign, decimal_sign in ((",", "."), (".", ",")):
            digits = figure.replace(" ", "").replace(thousands_sign, "").replace(decimal_sign, ".")
            if digits.count(".") <= 1:
                yield float(digits) * scale


def _is_near(value: float, threshold: Threshold) -> bool:
    """Return whether a value is of the same order as the threshold."""
    return NEAREST * threshold.value <= value <= FARTHEST * threshold.value


def _is_said_of_threshold(text: str, threshold: Threshold) -> bool:
    """Return whether a text says of the threshold itself on which side of it something stayed."""
    threshold_digits = f"{threshold.value:.0f}".rstrip("0")
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"\D", "", match["figure"]).rstrip("0")
        if digits != threshold_digits:
            continue
        if _OVER_OR_UNDER.search(text, 0, match.start()) or _MARK.match(text, match.end("figure")):
            return True
    return False


def _months_named(text: str) -> frozenset[int]:
    """Return the months that a text names."""
    return frozenset(_MONTH_NAMES[name.casefold()] for name in _MONTH_NAMED.findall(text))


def is_of_other_time(text: str, threshold: Threshold) -> bool:
    """Return whether a text names years, months or quarters, and none that is asked of."""
    years = frozenset(_YEAR.findall(text))
    if threshold.years and years and not years & threshold.years:
        return True

    quarters = _quarters_named(text)
    if threshold.quarter is not None and quarters:
        return threshold.quarter not in quarters

    months = _months_named(text)
    return bool(threshold.months and months) and not months & threshold.months


def _fits_quarter(text: str, threshold: Threshold) -> bool:
    """Return whether a text speaks of a quarter's figures, where a quarter's are asked of."""
    if threshold.quarter is None:
        return True
    return (
        re.search(r"\b(?:q[1-4]|[1-4]t|quarter\w*|trimestr\w*|quartal\w*)\b", text, re.IGNORECASE) is not None
    )


def is_of_other_quarter(text: str, question: str) -> bool:
    """Return whether a text names quarters of a year, and not the one that a question asks of."""
    asked_quarters = _quarters_named(question)
    if not asked_quarters:
        return False
    named_quarters = _quarters_named(without_accents(text))
    return bool(named_quarters) and not named_quarters & asked_quarters


def _quarters_named(text: str) -> set[int]:
    """Return the quarters of a year that a text names."""
    return {number for number, words in enumerate(_QUARTERS, 1) if words.search(text)}


def without_accents(text: str) -> str:
    """Return a text without accents."""
    return unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()
