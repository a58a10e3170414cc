"""Outcomes that a text takes for granted: "after the cut", "her successor", "the Booker winner". Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

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
_EVENTS_ABROAD: Mapping[Kind, str] = {
    "contest": (
        r"victoria|triunfo|derrota|titulo|coronacion|vitoria|victoire|defaite|titre|sacre|sieg|niederlage"
        r"|titel"
        r"|vittoria|sconfitta|titolo|trionfo|pleite|blamage|triumph|derrota"
    ),
    "office": (
        r"victoria|triunfo|derrota|(?:re)?eleccion|investidura|toma de posesion|vitoria|(?:re)?eleicao"
        r"|posse|victoire"
        r"|defaite|(?:re)?election|investiture|(?:wieder)?wahl|(?:wahl)?sieg|niederlage|amtsantritt"
        r"|vereidigung"
        r"|vittoria|sconfitta|(?:ri)?elezione|insediamento"
    ),
    "departure": (
        r"dimision|renuncia|destitucion|salida|marcha|cese|demissao|saida|demission|depart|eviction|rucktritt"
        r"|abgang|entlassung|absetzung|sturz|dimissioni|addio|uscita|caduta"
    ),
    "rate": (
        r"recorte|bajada|subida|alza|reduccion|corte|reducao|alta|manutencao|baisse|hausse|reduction"
        r"|(?:zins)?senkung"
        r"|(?:zins)?erhohung|zinsschritt|zinsentscheid\w*|taglio|rialzo|riduzione"
    ),
    "court": (
        r"condena|absolucion|sentencia|fallo|veredicto|condenacao|absolvicao|sentenca|condamnation"
        r"|acquittement"
        r"|victoria|derrota|vitoria|victoire|defaite|sieg|niederlage|vittoria|sconfitta|relaxe|verdict"
        r"|jugement|verurteilung|freispruch|urteil|condanna|assoluzione|verdetto|sentenza"
    ),
    "treaty": (
        r"firma|acuerdo|tregua|alto el fuego|cessar-fogo|acordo|assinatura|accord|signature|treve"
        r"|cessez-le-feu"
        r"|waffenruhe|waffenstillstand|abkommen|unterzeichnung|accordo|cessate il fuoco|armistic\w+"
    ),
    "deal": (
        r"fusion|compra|adquisicion|aquisicao|fusao|rachat|acquisition|ubernahme|kauf|fusione|acquisizione"
    ),
    "halt": r"huelga|paro|greve|streik\w*|sciopero|paralisacao",
    "launch": r"lanzamiento|despegue|lancamento|decolagem|lancement|decollage|start|lancio|decollo",
}
"""The same events in Spanish, Portuguese, French, German and Italian."""
_SINCE_ABROAD = r"desde|depuis|seit|gracias a|gracas a|grace a|dank|grazie a\w*"
_AFTER_ABROAD = (
    r"con|com|avec|mit|tras|despues de|apos|depois d[eoa]s?|apres|a la suite de|nach|infolge|dopo"
    r"|in seguito a\w*|celebra\w*"
    r"|fete(?:nt)?|feier(?:t|n)"
)
_THE_ABROAD = (
    r"(?:el|las?|los|l[eo]|les|[ao]s?|der|die|das|de[mnr]|il|gli|i|s[ou]n?|sa|ses|seus?|suas?|sue|suoi"
    r"|ihre[mnrs]?"
    r"|seine[mnrs]?|une?|una|uma?|einem?|einer|est[ae]|cette|ce|questa?|diese[mnr])"
)
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
    rf"'s (?:second|third|fourth|new) term (?:begins|began|starts)|(?:{OFFICE})[- ](?:elect|designate)"
    rf"|(?:newly|just|freshly)[- ](?:elected|appointed|installed"
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


_ANNOUNCED = (
    r"anunciad[oa]|decidid[oa]|annoncee?|decidee?|beschlossen\w*|verkundet\w*|annunciat[oa]|deciso|decisa"
)
_DONE = (
    r"won|lost|beaten|dropped|drawn|climbed|risen|fallen|slipped|ended|finished|closed|passed|approved"
    r"|rejected"
    r"|voted|cut|raised|held|signed|launched|released|completed|collapsed|conceded|quit|resigned|left"
    r"|been (?:elected|convicted|acquitted|passed|rejected|approved|removed|ousted|crowned|cleared|sold"
    r"|bought)"
)
"""What somebody who is spoken of has done before."""
_LAPSED = (
    r"\b(?:deadline|cut-off) (?:passed|passes|lapsed|expired|came and went|has (?:passed|come and gone))\b"
    r"|\bwith no (?:truce|deal|agreement|accord|ceasefire|treaty|verdict|successor) (?:signed|reached"
    r"|struck|sealed)\b"
)
"""What says that something was not done in time."""
_TRANSITION = (
    r"\b(?:transition team|president-elect|equipo de (?:transferencia|transicion)|equipe de (?:transition"
    r"|transicao)"
    r"|ubergangsteam|squadra di transizione)\b"
)
_CAME_OUT = (
    r"came out|salieron|sairam|sont sorti\w*|sortirent|(?:was|were) (?:released|launched)|launched"
    r"|went (?:live|on sale)|arrived|shipped|dropped|landed"
    r"|debuted|hit (?:the )?(?:shelves|stores)|salio|saiu|est sorti|est disponible|erschienen"
    r"|auf dem markt|e uscit[oa]"
)
_SINCE_LAUNCH = (
    r"since (?:the )?(?:launch|release) of|desde (?:el lanzamiento|la salida|o lancamento|a chegada"
    r"|la llegada) d\w+"
    r"|depuis (?:la sortie|le lancement) d\w+"
    r"|seit (?:dem )?(?:start|erscheinen|verkaufsstart|release|marktstart) (?:von|des|der)"
    r"|dall'uscita d\w+|dal lancio d\w+"
)
_SINCE_THEN = (
    r"(?<!trailer )(?<!trailers )\bsince (?:the |its )?(?:launch|release)(?: day)?"
    r"(?= (?:in|on|last)\b|[,.;]|$)"
)
_NUMERALS = (
    r"an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|first|une?|deux|trois|quatre|un[ao]?|dos"
    r"|tres|cuatro"
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

    events_abroad = "|".join(_EVENTS_ABROAD[kind] for kind in sorted(kinds & _EVENTS_ABROAD.keys()))
    if events_abroad:
        between = rf" ?(?:{_THE_ABROAD} |l')?(?:[\w%.-]+ ){{0,3}}?"
        certain.append(rf"(?<!\w)(?:{_SINCE_ABROAD}){between}(?:{events_abroad})\b")
        past.append(rf"(?<!\w)(?:{_AFTER_ABROAD}){between}(?:{events_abroad})\b")

    name_pattern = "|".join(map(re.escape, _names_and_last_words(names)))
    certain += _patterns_after_the_end(question, kinds, name_pattern)
    if kinds & {"release", "launch"}:
        certain += _ownership_patterns(names)
        past.append(_BOUGHT)
    if "rate" in kinds:
        past.append(rf"\b(?:{_EVENTS_ABROAD['rate']}) (?:d\w [\d,.]+ \w+ )?(?:{_ANNOUNCED})\b")
    if "departure" in kinds and name_pattern:
        has_left = rf"(?:'s? (?:\w+ )?(?:exit|departure)| (?:{_SINCE_LEFT}))"
        certain.append(rf"\bsince (?:\w+ ){{0,3}}(?:{name_pattern}){has_left}")
        past += _departure_patterns(question, name_pattern)
    if "court" in kinds and name_pattern:
        past.append(
            rf"\b(?:\w+|life) (?:years|months|in prison) for (?:\w+ )?(?:{name_pattern})"
            rf"|(?:{name_pattern}),? (?:who was )?(?:convicted|jailed|acquitted)"
            r"|\bconvicted (?:\w+ )?(?:man|woman|felon|fraudster|criminal|murderer|spy|banker|mayor"
            r"|president)"
            rf"|\b(?:{name_pattern}) (?:acquittal|conviction|sentencing)\b"
            r"|\bverdict (?:took|came|was|read)|\bpenal colony\b|\bjailed\b|\bfound to have\b"
        )
    if "contest" in kinds:
        past += _prize_patterns(names)
    return "|".join(certain), "|".join(past)


def any_of(names: Iterable[str]) -> str:
    """Return a pattern of any of some names, each once and the longest first."""
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    return "|".join(map(re.escape, longest_first))


def _ownership_patterns(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how people speak of what they have had for a while, and of the time since it came out."""
    ways = list(chain.from_iterable(names))
    with_number = [way for way in ways if any(map(str.isdigit, way))]
    products = with_number or ways
    if not products:
        return []

    without_zero = [way.removesuffix(".0") for way in products if re.search(r"\d\.0$", way)]
    called = rf"(?:{any_of([*products, *without_zero])})"
    unfinished = r"[ -](?:\w+ )?(?:beta|alpha|rc|preview|demo|prototype|nightly)"
    article = r"(?:(?:the|my|an?|el|la|las|los|le|les|il|lo|os?|as|dem|der|meinem) |\w+'s? )"
    since = rf"\b(?:since|desde que|depuis que|seit|da quando) (?:[\w']+ ){{0,2}}?{called}(?!\w|\.\d)"
    return [
        rf"{since}[^.;,]{{0,20}}?(?:{_CAME_OUT})(?!\w)",
        rf"\b(?:desde que|depuis que|da quando) (?:{_CAME_OUT}) {article}?{called}(?!\w|\.\d)",
        _SINCE_THEN,
        rf"\b(?:{_SINCE_LAUNCH}) (?:[\w']+ ){{0,2}}?{called}(?!\w)",
        rf"\b(?:{_NUMERALS}) (?:{_SPANS}) {_WITH} {article}{{0,2}}{called}(?!\w|\.\d|{unfinished})",
    ]


def _patterns_after_the_end(question: str, kinds: frozenset[Kind], called: str) -> list[str]:
    """Return what is said only after the end of a question of these kinds, whatever stands beside it."""
    settled = [rf"\bhaving (?:\w+ ){{0,2}}(?:{_DONE})\b", _LAPSED]
    # An appeal that is asked about is against a ruling that was there before.
    if not re.search(r"uphold|overturn|appeal|annul|supreme", question, re.IGNORECASE):
        settled.append(_APPEALED)
    if "contest" in kinds and called:
        settled.append(rf"^\W*(?:{_CROWNED}) (?:{_THERE})\b[^.;]{{0,80}}?, (?:\w+ ){{0,2}}(?:{called})(?!\w)")
    if "office" in kinds:
        settled.append(_TRANSITION)
    if kinds & {"contest", "office"}:
        settled.append(r"\b(?:(?:will )?(?:hold|have|has|win|won)|with) \d+ of (?:the )?\d+ seats\b")
    if "deal" in kinds:
        settled.append(r"\b(?:since|after|now that) [\w ]+ took over\b")
    return settled


def _departure_patterns(question: str, called: str) -> list[str]:
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


def _names_and_last_words(names: Sequence[Sequence[str]]) -> list[str]:
    """Return the names in full, and the last word of each that has several."""
    called = []
    for name in chain.from_iterable(names):
        called.append(name)
        last_word = name.split()[-1]
        if last_word != name and len(last_word) > 2:
            called.append(last_word)
    return called


def _prize_patterns(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how a text calls who has won what has one of these names."""
    kind_at_end = r" (?:Prize|Awards?|Cup|Championships?|Open|Bowl|Grand Prix|Finals?|Medal|Trophy|Series)$"
    prizes = list(chain.from_iterable(names))
    if not prizes:
        return []

    called = any_of([*prizes, *(re.sub(kind_at_end, "", prize) for prize in prizes)])
    return [
        (
            rf"\b(?:{called})(?: (?:Prize|Award|Cup|Oscar|Trophy|Medal))?[- ](?:winn(?:er|ers|ing)|laureate"
            rf"|champions?)\b"
        ),
        rf"\bthis year's (?:{called})",
        rf"\bfresh (?:off|from) (?:\w+ ){{1,4}}(?:{called}|wins?|victory|triumph|titles?|awards?)\b",
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

    small_question = question.casefold()
    for event in pattern.finditer(sentence):
        if unsure.search(sentence, 0, event.end()):
            return False

        # "the latest cut" is another event, unless the question itself says "latest"
        words_of_others = _ANOTHER.findall(sentence, event.start(), event.end())
        if all(word.casefold() in small_question for word in words_of_others):
            return True
    return False
