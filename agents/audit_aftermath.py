"""Words that belong to what is over, unless something beside them speaks of what is to come. Pure."""

import re
from collections.abc import Mapping

from agents.audit_foreign import OPEN
from agents.audit_kinds import Kind

_WORDS: Mapping[Kind, str] = {
    "contest": (
        r"titles?|trophy|crown(?:ed|s)?|champions?(?! league)|winners?|won|wins?|winning|beats?|beaten"
        r"|victor(?:y|ies)"
        r"|triumph\w*|gold|medal(?:l?ists?|s)?|parade|celebrat\w+|lift(?:s|ed)?|defeat\w*|lost|los(?:es"
        r"|ing|s)"
        r"|laureates?|award(?:ed|s)?|runners?-up|podium|engraved|short of|consol\w+|congratulat\w+|d\.(?= )"
    ),
    "office": (
        r"inaugurat\w+|sworn|oath|cabinet picks?|transition|took (?:office|over|charge)|takes (?:office"
        r"|charge)"
        r"|conced\w+|congratulat\w+|victory|first (?:day|week|month|speech|trip|visit|decree|act)"
        r"|defeated|as (?:the )?new"
        r"|unveiled (?:her|his)|majority|landslide|runner-up"
    ),
    "departure": (
        r"ex-\w+|success\w+|replac\w+|left|departure|departed|exit|resign\w*"
        r"|quit|ousted|back ?bench\w*|interim|acting|farewell|vacat\w+|severance|pay-?off|last day"
        r"|move to|memoirs?"
        r"|stepped|handed|announced as|signed for|joins?|joined|new (?:employer|club|job|role)"
    ),
    "vote": (
        r"law|enact\w+|pass(?:ed|age)|adopted|approved|rejected|rejection|carried|defeated|signed"
        r"|promulgat\w+"
        r"|royal assent|turnout|majority|acquitt\w+|ratified|scrapped|killed|died|repeal\w*"
    ),
    "rate": (
        r"left|kept|held|holds|(?:'s|the) (?:[\w-]+ ){0,2}(?:cut|hike|hold)|cuts(?! (?:in|of|are))|hiked"
        r"|raised|rais(?:es|ing)|lowered|unchanged|reduc(?:ed|tion)"
        r"|dissent\w*|statement|decision"
    ),
    "release": (
        r"pre-?orders?|reveal(?:ed|s)?|unveil\w*|trailer|sold|copies|reviews?|reviewed|specs"
        r"|track by track|ranked"
        r"|download\w*|streams|hands-on|on sale|drop(?:ped|s)|adopters?|patch(?:ed|es)?|bugs?|customers"
        r"|users|sells"
        r"|jailbr\w+|benchmark\w*|upgrad\w+|first (?:day|week|impressions)"
    ),
    "launch": (
        r"in orbit|orbit(?:s|ed|ing)|aboard|splash\w+|touch(?:ed|es)? ?down|landed|debris|wreck\w*"
        r"|explo\w+|lift(?:ed|s) off"
        r"|lift-?off|soared|deployed|separation|crew woke|returned|anomaly|broke (?:apart|up)|success\w*"
        r"|fail(?:ed|ure)"
    ),
    "deal": (
        r"unit of|part of|owned|owner|subsidiary|integrat\w+|combined|renam\w+|rebrand\w*|lay-?offs"
        r"|delist\w+|new parent"
        r"|closed|complet(?:ed|ion)|former (?:stock|share)holders|collapsed|abandoned|break-?up fee"
        r"|acquired|merged"
    ),
    "court": (
        r"thr[eo]w\w* out|struck|upheld|opinion|dissent\w*|refunds?|wrote|majority|overturned|convict\w+"
        r"|acquitt\w+"
        r"|sentenc\w+|appeal(?:s|ed|ing)?|remand\w*|found|liable|cleared|vacated|ruled|held that|victory"
        r"|prison"
    ),
    "treaty": (
        r"took effect|in force|signed|sign|pulled back|withdr[ea]w\w*|violat\w+|breach\w*|h[eo]ld(?:s"
        r"|ing)?|handshake"
        r"|ceremony|implement\w*|monitors?|ratif\w+|reopen\w*|under the|returned home|exchange of"
    ),
    "halt": r"return(?:ed)?|reopen\w*|resumed|back|backlog|ended|over|normal|lifted|ratif\w+|wieder",
    "closure": r"reopen\w*|resumed|stranded|backlog|diverted|varad[oa]s|gestrandet\w*|bloccat[ie]|retidos",
    "disaster": (
        r"damage\w*|victims|insur\w+|aftermath|clean-?up|killed|deaths?|death toll|tore|ravaged"
        r"|devastat\w+|without power"
        r"|made landfall|struck|hit|losses|first Category|reached"
    ),
    "level": (
        r"ended|ends|clos(?:ed|es)|finish(?:ed|es)|total(?:l?ed|s)?|reached|came (?:in|to)|record(?:ed)?"
        r"|hit|rose|fell|stood"
        r"|tall(?:y|ied)|delivered|grossed|sold|reported|covering|amounted|slipped|climbed|dropped|up"
        r"|down|milestone"
    ),
}
AFTERMATH: Mapping[Kind, re.Pattern[str]] = {
    kind: re.compile(rf"(?<![\w-])(?:{words})(?!\w)", re.IGNORECASE) for kind, words in _WORDS.items()
}
AHEAD = re.compile(
    r"\b(?:turns? to|trip to|up next|previews?|betas?|release candidates?|kick-?off|tip-?off|first pitch"
    r"|(?:is|are|was"
    r"|were) due|due (?:on|to|by|in|next)"
    r"|schedul\w+|expect\w*"
    r"|forecast\w*|predict\w*|takes? place|deadline|polls? (?:open|close)|pollsters?|survey\w*"
    r"|candidates?|front-?runner"
    r"|favou?rites?|favou?red|await\w*|ahead of|remains? (?:open|to be seen|pending|subject)|undecided"
    r"|in the running"
    r"|contenders?|odds|bid (?:for|to)|quest|chas(?:e|ing)|seek\w*|aims?|aiming|hunt\w*|vying|vies"
    r"|eye[sd]?|eyeing|hop(?:e|es|ing)"
    r"|wants?|looking|bets?|prospects?|chances?|likely|unlikely|plans?|planned|plann\w+|propos\w+|pending"
    r"|draft|talks"
    r"|negotiat\w+|could|would|might|(?-i:may)|should|if|unless|whether|until|before|next (?:week|month"
    r"|year|round|face|meet)\w*"
    r"|will|to (?:win|beat|become|be|make|take|defend|decide)|on (?:course|track)|so far|to date"
    r"|this season|rumou?r\w*|said to"
    r"|reportedly|denie[sd]|deny|close to|near(?:s|ing)?|needs?|must|set (?:to|for)|poised|calls? for"
    r"|no plans|not|never|n't"
    r"|yet|still|possible|potential|consider\w*|weigh\w*|mull\w*|ask(?:s|ed)?|urge[sd]?|demand\w*"
    r"|doubt\w*|when|once"
    r"|hosts?|visits?|comes? to|arrives?|travels?|plays?|fac(?:e|es|ed)|meets?|weighed in|no (?:intention"
    r"|plans?|sign|word|decision|date)|signal\w*|hint\w*|suggest\w*|case for|nominees?|nominated"
    r"|shortlist\w*|leads?|leading|trail(?:s|ed|ing)|ready|prepar\w+|warn\w*|fear\w*|question\w*|why|how)\b"
    r"|\?|n't\b",
    re.IGNORECASE,
)
"""What speaks of what is to come, of a wish, or of a stage on the way: in the sentence, nothing is told."""


def is_aftermath(sentence: str, kinds: frozenset[Kind]) -> bool:
    """Return whether a sentence has words of what is over for such a question, and none of what is open."""
    if AHEAD.search(sentence) or OPEN.search(sentence):
        return False
    return any(AFTERMATH[kind].search(sentence) for kind in sorted(kinds & AFTERMATH.keys()))
