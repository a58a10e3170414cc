"""Outcomes that a text takes for granted: "after the cut", "her successor", "the Booker winner". Pure."""

import re
from collections.abc import Mapping, Sequence

from agents.audit_kinds import Kind

HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|whether|would|could|might|(?-i:may)|should|hop(?:e|es|ing)|wants?|expect\w*|likely"
    r"|predict\w*|rumou?r\w*"
    r"|possible|before|until|ahead of|call(?:s|ed)? for|look(?:s|ing)? for|den(?:y|ies|ied)|not|no"
    r"|never)\b|n't\b",
    re.IGNORECASE,
)
EVENTS: Mapping[Kind, str] = {
    "contest": r"win|victory|defeat|loss|triumph|coronation|upset|rout|elimination|exit",
    "office": (
        r"election|victory|inauguration|appointment|swearing-in|investiture|installation|landslide|loss"
    ),
    "departure": (
        r"resignation|departure|exit|ouster|ousting|dismissal|removal|sacking|firing|impeachment|downfall"
        r"|fall"
        r"|retirement|defection|move"
    ),
    "vote": (
        r"passage|approval|rejection|adoption|ratification|enactment|defeat|impeachment|(?:yes"
        r"|no) (?:vote|to)"
    ),
    "rate": r"cut|hike|increase|reduction|rise|decision|move|hold",
    "release": r"launch|release|debut|arrival|roll-?out|unveiling",
    "launch": r"launch|lift-?off|flight|splashdown|touchdown|landing|explosion|failure",
    "deal": r"merger|takeover|acquisition|purchase|buy-?out|completion|closing|tie-up|sale",
    "court": r"verdict|conviction|acquittal|ruling|judge?ment",
    "treaty": r"ceasefire|truce|treaty|accord|signing|armistice|peace deal|agreement|deal",
    "halt": r"strike|walkout|shutdown|reopening|blockade",
    "closure": r"closure|shutdown|reopening|stop|stoppage|suspension",
    "disaster": r"landfall|hurricane|storm|eruption|earthquake|quake",
}
_SOME_TIME = r"(?:hours?|days?|weeks?|months?|nights?|mornings?|weekends?|sessions?|minutes?)"
SINCE = (
    rf"(?:(?:ever )?since|(?:\w+ ){{0,2}}{_SOME_TIME} (?:after|into|of|since|on from)|in the wake of"
    rf"|on the heels of"
    rf"|thanks to|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st"
    rf"|nd|rd|th))"
    rf" {_SOME_TIME} (?:of|after|since|under))"
)
"""Before an event that is over, whatever the rest of its sentence says."""
AFTER = r"(?:after|following|despite|in response to|because of|with|celebrat\w+|reacti(?:ng|ons?) to|over)"
"""Before an event that is over, if its sentence isn't about what is to come."""
_THERE = (
    r"on|in|at|for|sur|a|au|aux|en|hier|im|am|in|em|no|na|nos|nel|nella|sul|sui|pour|por|per|dimanche|domingo"
)
_THE = r"(?:the|its|their|his|her|this|that|[\w.]+(?: \w+)?'s?)"
_APPEALED = (
    r"\bappeal(?:s|ed|ing)? (?:against )?(?:the|its|his|her|that) (?:\w+ )?"
    r"(?:ruling|verdict|conviction|judge?ment)\b"
)
_ANOTHER = re.compile(
    r"\b(?:latest|previous|recent|earlier|past|last|possible|potential|likely|expected|planned|proposed"
    r"|eventual|any"
    r"|looming|another|anticipated|failed|hoped-for|initial|primary|semi-?final|rumou?red|would-be|future"
    r"|next"
    r"|upcoming|threatened|scors[oa]|pasad[oa]|passad[oa]|dernier|vorjahr\w*|etape|etapa|tappa"
    r"|etappe|stage|third|fourth|fifth|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|spring|summer|autumn|winter|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""What makes it another event than that which is asked, unless the question says so too."""
OFFICE = (
    r"(?:vice[- ])?president|prime minister|premier|chancellor|mayor|governor|senator|secretary[- ]general"
    r"|general secretary|pope|king|speaker|chair(?:man|woman)?|chief executive|chief|ceo|boss|head coach"
    r"|coach"
    r"|manager|captain|leader|minister|secretary|director(?:[- ]general)?|commissioner|chief justice"
    r"|justice|head"
)
_OFFICE_ASKED = re.compile(rf"\b(?:{OFFICE})\b", re.IGNORECASE)
_IN_OFFICE = (
    rf"(?:{OFFICE})[- ](?:elect|designate)|(?:newly|just|freshly)[- ](?:elected|appointed|installed"
    rf"|crowned|confirmed"
    rf"|sworn[- ]in|minted|inaugurated|named)|new (?:\w+ )?(?:{OFFICE})|'s first \w+ as"
    rf"|first (?:\w+ )?(?:day|week|month"
    rf"|speech|trip|visit|act|meeting|address|interview|hundred days|100 days) (?:as|in office|in the job)"
    rf"|since taking (?:office|over|power)|took (?:the oath|office|over as)|takes (?:the oath|over as)"
    rf"|sworn in"
    rf"|(?:was|were|is|been) inaugurated|names (?:\w+ )?(?:transition|cabinet)|transition team"
    rf"|victory (?:speech|party)"
    rf"|acceptance speech|concession|conced(?:ed|es|ing)|president-elect"
)
_IN_PLACE = (
    r"(?:held|holds|holding|in (?:force|place|effect)|came into|took effect|violat\w+|breach\w*|broken"
    r"|broke down"
    r"|monitors?|anniversary)"
)
_SINCE_LEFT = (
    r"left|quit|resigned|stepped (?:down|aside)|departed|was (?:ousted|fired|sacked|dismissed|removed"
    r"|forced out"
    r"|impeached|shown the door)|walked out|bowed out"
)


_CAME_OUT = (
    r"came out|salieron|sairam|sont sorti\w*|sortirent|(?:was|were) (?:released|launched)|launched"
    r"|went (?:live|on sale)|arrived|shipped|dropped|landed"
    r"|debuted|hit (?:the )?(?:shelves|stores)|salio|saiu|est sorti|est disponible|erschienen"
    r"|auf dem markt|e uscit[oa]"
)
_SINCE_LAUNCH = (
    r"desde (?:el lanzamiento|la salida|o lancamento|a chegada|la llegada) d\w+"
    r"|depuis (?:la sortie|le lancement) d\w+"
    r"|seit (?:dem )?(?:start|erscheinen|verkaufsstart|release|marktstart) (?:von|des|der)"
    r"|dall'uscita d\w+|dal lancio d\w+"
)
_NUMERALS = (
    r"an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|first|une?|deux|trois|quatre|un[ao]?|dos|tres|cuatro"
    r"|ein(?:e|en|em)?|zwei"
    r"|drei|vier|uma?|duas|dois|due|tre|quattro"
)
_INSTEAD = r"(?:after|since|following|in place of)"
_WITH = r"(?:with|using|con|avec|mit|com)"
_SPANS = (
    r"days?|weeks?|months?|weekends?|nights?|dias?|semanas?|mes(?:es)?|jours?|semaines?|mois"
    r"|tagen?|tage?|wochen?"
    r"|monaten?|monate?|giorn[oi]|settiman[ae]|mes[ei]"
)
_BOUGHT = (
    r"\b(?:bought|got|ordered|collected|received|picked up) (?:mine|my (?:own|unit|copy)|one"
    r"|it) (?:on|at|in) "
    r"(?:the )?(?:launch|release|opening|day one|first day)|\b(?:compre|comprei|ho (?:comprato"
    r"|preso)|j'ai achete"
    r"|kaufte|habe) (?:[\w']+ ){0,3}(?:el dia d\w+ (?:estreno|lanzamiento)|no dia d\w+ lancamento"
    r"|(?:il giorno|al giorno) d\w+ (?:lancio|uscita)|le jour de (?:la sa|sa|la) sortie|am (?:ersten"
    r"|erscheinungs|verkaufs)\w*)"
)
"""What only somebody says who owns it."""
_CROWNED = (
    r"sacre(?:e|s|es)?|couronne(?:e|s|es)?|titre(?:e|s|es)?|crowned|gekront|consagrad[oa]"
    r"|coronad[oa]|proclamad[oa]"
    r"|coroad[oa]|incoronat[oa]|laureat[oae]|premiad[oa]"
)
"""What stands at the head of a sentence about somebody who has just won."""


_OVER: Mapping[Kind, str] = {
    "closure": (
        r"\b(?:reopen(?:ed|s|ing)|(?:was|were|been|is) (?:closed|shut|suspended|grounded)"
        r"|shut down|flights resumed"
        r"|back in operation|closed (?:its|the|all)|dopo lo stop|despues del cierre|apres la fermeture"
        r"|nach der sperrung|apos o fecho)\b"
    ),
    "office": _IN_OFFICE,
    "treaty": rf"\bthe (?:ceasefire|truce|armistice|accord|treaty)\b[^.;]{{0,60}}\b{_IN_PLACE}",
    "bankruptcy": (
        r"\bbankrupt\b|\b(?:in|through|under|into|entered) (?:chapter 11|administration|insolvency"
        r"|receivership)"
        r"|\bdip (?:loan|financing)|\bcreditors\b|\binsolvency (?:judge|administrator|court)"
        r"|\bdebtor-in-possession"
    ),
    "listing": (
        r"\b(?:first day of trading|first-day|closes? first day|above (?:its |the )?(?:offer|ipo) price"
        r"|began trading|opening trade|(?:trading|market) debut|newly listed|since its ipo"
        r"|rang the (?:opening )?bell)\b"
    ),
    "deal": (
        r"\bnow (?:an? |the )?(?:\w+ )?(?:unit|part|subsidiary|division|arm|brand) of\b"
        r"|\b(?:its|the) new (?:owner|parent)|\bowned by\b"
    ),
}
"""What is only said once it is over, by kind."""


def presumed_ways(question: str, kinds: frozenset[Kind], names: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Return how texts take the end of a question for granted: whatever else they say, and in the past."""
    certain = []
    past = [_OVER[kind] for kind in sorted(kinds & _OVER.keys())]
    events = "|".join(EVENTS[kind] for kind in sorted(kinds & EVENTS.keys()))
    if events:
        between = r"(?:[\w%.-]+ ){0,4}?"
        certain.append(rf"\b{SINCE} {_THE} {between}(?:{events})\b")
        past.append(rf"\b{AFTER} {_THE} {between}(?:{events})\b")

    called = "|".join(map(re.escape, _short_ways(names)))
    certain += _settled_ways(question, kinds, called)
    if kinds & {"release", "launch"}:
        certain += _owned_ways(names)
        past.append(_BOUGHT)
    if "departure" in kinds and called:
        left = rf"(?:'s? (?:\w+ )?(?:exit|departure)| (?:{_SINCE_LEFT}))"
        certain.append(rf"\bsince (?:\w+ ){{0,3}}(?:{called}){left}")
        past += _departure_ways(question, called)
    if "court" in kinds and called:
        past.append(
            rf"\b(?:\w+|life) (?:years|months|in prison) for (?:\w+ )?(?:{called})"
            rf"|(?:{called}),? (?:who was )?(?:convicted|jailed|acquitted)"
            r"|\bverdict (?:took|came|was|read)|\bpenal colony\b|\bjailed\b|\bfound to have\b"
        )
    if "contest" in kinds:
        past += _prize_ways(names)
    return "|".join(certain), "|".join(past)


def _owned_ways(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how people speak of what they have had for a while, and of the time since it came out."""
    ways = [way for each in names for way in each]
    numbered = [way for way in ways if any(map(str.isdigit, way))]
    chosen = numbered or ways
    chosen = [*chosen, *(way.removesuffix(".0") for way in chosen if re.search(r"\d\.0$", way))]
    if not chosen:
        return []
    longest_first = sorted(set(chosen), key=lambda way: (-len(way), way))
    called = rf"(?:{'|'.join(map(re.escape, longest_first))})"
    unfinished = r"[ -](?:\w+ )?(?:beta|alpha|rc|preview|demo|prototype|nightly)"
    article = r"(?:(?:the|my|an?|el|la|las|los|le|les|il|lo|os?|as|dem|der|meinem) |\w+'s? )"
    since = rf"\b(?:since|desde que|depuis que|seit|da quando) (?:[\w']+ ){{0,2}}?{called}(?!\w|\.\d)"
    return [
        rf"{since}[^.;,]{{0,20}}?(?:{_CAME_OUT})(?!\w)",
        rf"\b(?:desde que|depuis que|da quando) (?:{_CAME_OUT}) {article}?{called}(?!\w|\.\d)",
        rf"\b(?:{_SINCE_LAUNCH}) (?:[\w']+ ){{0,2}}?{called}(?!\w)",
        rf"\b(?:{_NUMERALS}) (?:{_SPANS}) {_WITH} {article}{{0,2}}{called}(?!\w|\.\d|{unfinished})",
    ]


def _settled_ways(question: str, kinds: frozenset[Kind], called: str) -> list[str]:
    """Return what is said only after the end of a question of these kinds, whatever stands beside it."""
    settled = []
    # An appeal that is asked about is against a ruling that was there before.
    if not re.search(r"uphold|overturn|appeal|annul|supreme", question, re.IGNORECASE):
        settled.append(_APPEALED)
    if "contest" in kinds and called:
        settled.append(rf"^\W*(?:{_CROWNED}) (?:{_THERE})\b[^.;]{{0,80}}?, (?:\w+ ){{0,2}}(?:{called})(?!\w)")
    if kinds & {"contest", "office"}:
        settled.append(r"\b(?:(?:will )?(?:hold|have|has|win|won)|with) \d+ of (?:the )?\d+ seats\b")
    if "deal" in kinds:
        settled.append(r"\b(?:since|after|now that) [\w ]+ took over\b")
    return settled


def _departure_ways(question: str, called: str) -> list[str]:
    """Return how texts speak of somebody who has left, and of who came after."""
    past = [
        (
            rf"\b(?:former|ousted|deposed|sacked|disgraced|ex)[- ](?:\w+[- ]){{0,3}}?(?:{OFFICE}),?"
            rf" (?-i:[A-Z]\w+ ){{0,2}}(?:{called})"
        ),
        (
            rf"(?:{called})(?:'s?)? (?:successor|replacement|resignation|departure|exit|ouster|dismissal"
            r"|removal|sacking)"
        ),
        (
            r"\b(?:succeed(?:ed|s)|successor to|replac(?:ed|es)|(?:took|takes) over from|(?:replacement"
            r"|stand-in) for)"
            rf" (?:\w+ ){{0,3}}(?:{called})"
        ),
        r"\b(?:his|her|their) (?:successor|replacement)\b",
        rf"\b(?:interim|acting|caretaker|stopgap) (?:{OFFICE})",
        rf"\blife after (?:\w+ )?(?:{called})",
        rf"(?:{called}),? (?:who|unveiled|presented) (?:{_SINCE_LEFT}|by|at|as)",
    ]
    office = _OFFICE_ASKED.search(question)
    if office is not None:
        holder = rf"(?-i:(?!(?:\w+ )?(?:{called})\b)[A-Z][\w'-]+ (?!(?:{called})\b)[A-Z][\w'-]+)"
        past += [
            rf"(?<!former )(?<!shadow )(?<!vice )(?<!ex-)\b{office[0]} {holder}",
            rf"\bas (?:the )?(?:new |acting |interim )?{office[0]},? {_INSTEAD} ",
        ]
    return past


def _short_ways(names: Sequence[Sequence[str]]) -> list[str]:
    """Return the names in full, and the last word of each that has several."""
    short = []
    for ways in names:
        for way in ways:
            short.append(way)
            last = way.split()[-1]
            if last != way and len(last) > 2:
                short.append(last)
    return short


def _prize_ways(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how a text calls who has won what has one of these names."""
    prizes = []
    for ways in names:
        for way in ways:
            short = re.sub(
                r" (?:Prize|Awards?|Cup|Championships?|Open|Bowl|Grand Prix|Finals?|Medal|Trophy|Series)$",
                "",
                way,
            )
            prizes += [re.escape(way), re.escape(short)]
    called = "|".join(sorted(set(prizes), key=len, reverse=True))
    if not called:
        return []
    return [
        (
            rf"\b(?:{called})(?: (?:Prize|Award|Cup|Oscar|Trophy|Medal))?[- ](?:winn(?:er|ers|ing)|laureate"
            rf"|champions?)\b"
        ),
        rf"\bthis year's (?:{called})",
        (
            r"\b(?:fresh (?:off|from)|since|after|upon|days of) (?:winning|taking|lifting|claiming|landing"
            r"|scooping|beating|defeating)\b"
        ),
    ]


def is_presumed(
    pattern: re.Pattern[str] | None, sentence: str, question: str, unsure: re.Pattern[str] = HYPOTHETICAL
) -> bool:
    """Return whether a sentence takes an event for granted, and none that it says is another one.

    Before it stands nothing that is `unsure`; what follows may well speak of what is to come.
    """
    if pattern is None:
        return False
    asked = question.casefold()
    for match in pattern.finditer(sentence):
        if unsure.search(sentence, 0, match.end()):
            return False
        other = _ANOTHER.findall(sentence, match.start(), match.end())
        if all(word.casefold() in asked for word in other):
            return True
    return False
