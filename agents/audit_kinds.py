"""The kinds of question that outcomes are told of, by the words of a question. Pure."""

import re
from collections.abc import Mapping
from typing import Literal

Kind = Literal[
    "contest", "office", "departure", "vote", "rate", "level", "release", "launch", "deal", "court", "treaty",
    "halt", "disaster", "bankruptcy", "listing", "closure",
]  # fmt: skip
RATES = (
    r"\b(?:rates?|bps|basis points?|Fed|ECB|BoE|BoJ|RBA|Copom|Banxico"
    r"|(?:Central|Reserve|National) Bank|Bank of)\b"
)
"""In a question about a central bank."""
_WORDS: Mapping[Kind, str] = {
    "contest": r"wins?|beats?|defeats?|champions?|finals?|loses?|vs?|match|game|series|prize|award",
    "office": (
        r"elected|election|elects?|becomes?|appointed|chosen|named|nominated|inaugurated"
        r"|presidency|run-?off"
        r"|mayoral|governor"
    ),
    "departure": (
        r"resigns?|sack(?:s|ed)?|dismiss(?:es|ed)?|leaves?|steps? down|fired|removed|ceases?|out as"
        r"|be out|replaced|ousted|quits?"
        r"|remains?|still"
        r"|departs?|impeached|retires?"
        r"|be (?:the |still )?(?:chancellor|president|prime minister|premier"
        r"|ceo|chief executive|chair|mayor"
        r"|governor|speaker|leader|secretary|minister|head|manager|coach)"
    ),
    "vote": (
        r"pass(?:es)?|approv\w+|adopts?|ratif\w+|enact\w*|referendum|votes?|voters|confirm\w*|impeach\w*"
        r"|accepts?"
        r"|initiative|measure|removed|rejects?|law"
    ),
    "rate": rf"(?:cuts?|hikes?|raises?|lowers?|holds?)(?=.*{RATES})|rates?|bps",
    "level": (
        r"above|below|reach(?:es)?|exceeds?|over|under|at least|more than|less than|close|hits?|between"
        r"|higher|lower"
        r"|or more|or fewer|or less|gross(?:es)?|inflation|record|rises?|falls?|grows?|shrinks?"
        r"|increases?|declines?|contracts?"
        r"|expands?"
    ),
    "release": (
        r"releas\w+|launch\w*|announce\w*|unveil\w*|ships?|publish\w*|debut\w*|introduce\w*|deliver\w*"
        r"|begins?|starts?|rolls? out|opens?"
    ),
    "launch": r"launch\w*|orbit|fl(?:y|ies)|land(?:s|ing)?|lift ?off",
    "deal": r"acqui\w+|buys?|merge\w*|takeover|deal|sells?|sale|tie-?up",
    "court": (
        r"rules?|ruling|court|convict\w*|guilty|sentence\w*|acquit\w*|verdict|uphold\w*|overturn\w*"
        r"|annul\w*|jury"
    ),
    "treaty": r"signs?|treaty|agree\w*|ceasefire|peace|truce|accord|armistice",
    "halt": r"ends?|strikes?|shutdown|war|over|finish|resumes?|reopens?",
    "bankruptcy": r"file|files|bankrupt\w*|insolvency|default",
    "listing": r"ipo|go public|list(?:s|ed|ing)?|publicly traded",
    "closure": r"(?:be|is|stays?|remains?) (?:closed|shut|suspended|grounded)|shuts?(?: down)?|closure",
    "disaster": r"hurricane|landfall|storm|earthquake|eruption|erupts?",
}
PAIRED = re.compile(r"\b(?:beats?|defeats?|vs?|against)\b", re.IGNORECASE)
"""In a question about two sides, each of which plays others too."""
KINDS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _WORDS.items()}


def kinds_of(question: str) -> frozenset[Kind]:
    """Return the kinds that a question is of."""
    return frozenset(kind for kind, words in KINDS.items() if words.search(question))


IRREGULAR: Mapping[str, str] = {
    "begin": "began", "break": "broke", "bring": "brought", "buy": "bought", "choose": "chose",
    "fly": "flew", "give": "gave", "grow": "grew", "lead": "led", "lose": "lost", "meet": "met",
    "pay": "paid", "sell": "sold", "send": "sent", "shut": "shut", "spend": "spent", "strike": "struck",
    "withdraw": "withdrew", "win": "won",
}  # fmt: skip
_DOING = re.compile(r"\b(?P<verb>[a-z]{3,})(?= (?:the|an?|its|his|her|their|all|any|more|[A-Z0-9$€£]))")
_OTHER = """
will would that with from into than over under above below before after until between about against for
and the its his her their least less more most first final next new during report reports close have end
start rate per not are was has become make take get
"""
OTHER = frozenset(_OTHER.split())
"""Words before an object that are no verbs, or such as say nothing by themselves."""


def deeds_asked(question: str) -> list[str]:
    """Return the verbs that a question asks about, as texts have them once it is done.

    >>> deeds_asked("Will Congress censure the president?")
    ['censured', 'censures']
    """
    deeds = []
    for match in _DOING.finditer(question):
        verb = match["verb"]
        if verb in OTHER:
            continue
        stem = verb.removesuffix("e")
        deeds.append(IRREGULAR.get(verb, f"{stem}ed"))
        ending = "s"
        if verb.endswith(("s", "sh", "ch", "x")):
            ending = "es"
        deeds.append(f"{verb}{ending}")
    return deeds
