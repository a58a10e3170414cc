"""The words by which `agents.audit` knows prices, stamps, what is to come, what is over, what ended."""

import re
from collections.abc import Mapping

from agents.written_dates import MONTHS

FIGURES = re.compile(
    r"(?:\d+(?:\.\d+)?\s?(?:%|percent|per cent|pct|cents?|¢|points?)"
    r"|(?<!\d)\d{1,3}(?:[/–-]|\s(?:to|in)\s|-(?:to|in)-)\d{1,3}|[+−-]\d{3,}|0?\.\d+|\d+\.\d\d?|one in \w+)"
    r"(?!\d|\s?(?:[bmt]n|[mbtr]+illion|thousand)\b)",
    re.IGNORECASE,
)
PRICED_AT = re.compile(
    r"\b(?:polymarket|kalshi|predictit|(?:on|by) manifold\b"
    r"|manifold (?:markets?|has|gives|puts|sees|traders|users)|metaculus|betfair|smarkets|fedwatch|bet365"
    r"|betmgm|draftkings|fanduel|ladbrokes|paddy power|william hill|prediction markets?|betting|bettors?"
    r"|punters?|bookmakers?|bookies|oddsmakers?|sportsbooks?|moneyline|odds|implied probability"
    r"|traders? (?:see|price|put|give)|(?:swaps?|futures|options) (?:imply|price in|put|give))\b"
)
STAMP = re.compile(
    r"\b(?:(?P<far>(?:last|latest) (?:updated?|modified|edited|revised|reviewed|changed?)|updated?:|updated"
    r"|modified|edited|editor's note|aktualisiert|mis à jour|actualizad[oa]|aggiornato)|amended|revised"
    r"|reviewed|corrected|correction|re-?published|published|posted|issued|retrieved|accessed"
    r"|archived|generated|crawled|as of)\b",
    re.IGNORECASE,
)
DATELINE = re.compile(r"\(?[A-Z][\w .'-]{1,30}(?:, [A-Z][\w .'-]{1,20})?,?\s$")
DASH = re.compile(r"[.,]?\s?(?:\([\w /]+\)\s?)?[—–-]\s")
CHANGED = re.compile(r".{0,20}\b(?:updated|modified|edited)\b", re.IGNORECASE)
SAID_ON = re.compile(r"\b(?:said|says|told|announced|reported|wrote) (?:\w+ )?on $", re.IGNORECASE)
FOR = re.compile(r"\bfor (?:the )?$", re.IGNORECASE)
INFINITIVE = re.compile(
    r"\b(?:promis|agree|vow|pledg|plan|decid|want|hop|aim|intend|prepar|offer|ask|order|invit"
    r"|urg)\w* (?:\w+ ){0,3}to [a-z]+(?: \w+){0,4} (?:by|until|before|on|in) $"
)
INVERTED = re.compile(r"[\"']?(?:Had|Should|Were|If|Unless|Once|When|Whenever|Whoever|Most)\b")
LIVE_PAGE = re.compile(
    r"\b(?:live[ -]?blog|as it happened|minute[- ]by[- ]minute|this page (?:refreshes|updates|reloads)"
    r"|(?:follow|join) (?:our|the) live|refresh for|live updates?)\b"
)
LIVE_TITLE = re.compile(
    r"\blive (?:report|ticker|scores?|feed|stream|results?|coverage)\b|\blatest updates?\b|^live\b|[:"
    r"|–—-] ?live$",
    re.IGNORECASE,
)
LIVE_URL = re.compile(r"/live(?:blog|-?updates?)?(?:/|$)|live-?blog|-live-updates", re.IGNORECASE)
URL_DAY = re.compile(
    r"(?<![\d])(?P<year>20\d\d)(?P<by>[/_-]?)(?P<month>\d\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)"
    r"(?:(?P=by)(?P<day>\d\d))?(?![\da-z])",
    re.IGNORECASE,
)
BREAK = re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+(?=[\"'“‘(\[]{0,2}[A-Z0-9])|\n\s*")
SHORT = re.compile(
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mr|mrs|ms|dr|st|vs|no|prof|gen|sen|rep|gov"
    r"|[a-z])\.$",
    re.IGNORECASE,
)
COUNTED, MONTH = re.compile(r"\b\d{1,2}\.$"), re.compile(rf"(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
SPACES = re.compile(r"[^\S\n]+")
CLAUSE = re.compile(
    r"[,;:()—–]\s|\s[–—-]\s|\b(?:but|while|which|who|although|though|because|so that|and then)\b",
    re.IGNORECASE,
)
COMING = re.compile(
    r"\b(?:will|would|shall|should|(?-i:may)|might|could|can|must|won't|going to|set (?:to|for)|due"
    r"|schedul\w+|plan(?:s|ned)?|planning|expect\w*|anticipat\w+|propos\w+|upcoming|forthcoming|next|deadline"
    r"|no later than|expir\w+|takes? (?:effect|place|office)|(?:is|are|was|were) to|to be|hopes?|aims?"
    r"|targets?|intends?|if|unless|agreed to|vowed to|promised to|pledged to|called (?:an?|the|early|for)"
    r"|fixed|moved|postponed|delayed"
    r"|brought forward|invit\w+|ahead of|not before)\b",
    re.IGNORECASE,
)
IRREGULAR = (
    "was|were|had|did|been|won|lost|came|went|took|gave|made|began|rose|fell|met|sold|bought|hit|kept|left"
    "|led|held"
    "|beat|spoke|saw|broke|struck|sent|ran|became|grew|drew|threw|stood|paid|put|quit|shut|swept|fought"
    "|withdrew"
    "|wrote|heard|found|lay|sat|rode|flew|sank|burnt|built|chose|spent|felt|got|knew"
)
PAST = re.compile(
    rf"\b(?:{IRREGULAR}"
    rf"|(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bits )(?<!\btheir )"
    r"(?!need|feed|speed|indeed|hundred|united|sacred|naked|hatred|embed|schedul|expect|plann|propos"
    r"|said)[a-z]{2,}ed)\b"
)
EARLIER = re.compile(
    r"\b(?:\w+ (?:years?|months?|weeks?|days?|decades?|seasons?) (?:ago|before|earlier)"
    r"|last (?:year|month|week|spring|summer|autumn|fall|winter|season|time|election|final|january|february"
    r"|march|april|may|june|july|august|september|october|november|december)|previous(?:ly)?"
    r"|earlier (?:this|in|on)|formerly|once|ever|since (?:19|20)\d\d"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d+) times|twice|for the first time in"
    r"|(?:second|third|fourth) time"
    r"|had (?:\w+ )?(?:been|\w{2,}(?:ed|en|wn)|won|cut|kept|held|left|hit|lost|met|set)"
    r"|in (?:spring|summer|autumn|winter)|defending|outgoing|incumbent|in a row|record of)\b",
    re.IGNORECASE,
)
AGES_AGO = re.compile(
    r"\b(?:\w+ (?:years?|decades?|seasons?) (?:ago|before|earlier)|last (?:year|season|time)|previous(?:ly)?"
    r"|formerly|since (?:19|20)\d\d|for the first time in)\b",
    re.IGNORECASE,
)
"""Words of a time so long ago that no open question asks of it."""
STAGE = re.compile(
    r"\b(?:first round|first leg|group stage|round of \d+|quarter-?finals?|semi-?finals?|league|friendly"
    r"|debate|endorsement|last (?:eight|four|sixteen)"
    r"|primar(?:y|ies)|qualif\w+|lower house|committee|(?:district|lower|appeals) court|preliminary)\b",
    re.IGNORECASE,
)
"""What comes before that which is asked, unless it is asked itself."""
OPEN = re.compile(
    r"\b(?:if|unless|whether|when|whenever|whoever|will|would|could|(?-i:may)|might|should|can|must|expect\w*"
    r"|likely|unlikely|probab\w+|predict\w*|forecasts?|hopes?|hoping|wants?|chances?|poised|set to|going to"
    r"|thinks?|believes?|plans?|were it|polls?|surveys?|nominat\w+|candidates?|not|never|nobody|no one|none"
    r"|yet to|without|cannot|until|in case|who wins|favou?r(?:ed|ites?))\b"
    r"|n't\b|n’t\b",
    re.IGNORECASE,
)
TRANSITIVE = re.compile(
    r"(?:won|wins|beats?|defeat(?:ed|s)|lost|loses|lift(?:ed|s)|took|takes|clinched|elected|pass(?:ed|es)"
    r"|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|clear(?:ed|s)|cuts?|lower(?:ed|s)|rais(?:ed|es)"
    r"|hik(?:ed|es)|kept|keeps|held|holds|left|hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|acquired"
    r"|bought|complet(?:ed|es)|replaced|succeed(?:ed|s)|fired|launch(?:ed|es)|releas(?:ed|es)|unveil(?:ed|s)"
    r"|sign(?:ed|s)|rul(?:ed|es)|sid(?:ed|es) with|upheld"
    r"|ended|ends)$",
    re.IGNORECASE,
)
OBJECT = re.compile(
    r" (?:(?:for|to|against|in favou?r of) )?(?=(?:the|an?|h[ie][sr]|its|their|another|two|three|\w+'s)\b"
    r"|[A-Z])(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(.{1,60}?)(?= (?:of|for|in|at|on|with|by|from"
    r"|after|to|and|as|when)\b|[,;:()]|[.!?\"']*$)"
)
OUTCOME = re.compile(
    r"\b(?:election|race|vote|runoff|presidency|majority|seats?|title|final|match|game|contest|trophy|crown"
    r"|gold|case|nomination|it|bill|law|act|measure|merger|takeover|deal|acquisition|strike|walkout|threshold"
    r"|level"
    r"|mark)\b",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"(?:'s (?:\w+ )?|\b)(?:predecessor|deputy|rivals?|opponents?|allies|ally|adviser|brother|sister|wife"
    r"|husband|son"
    r"|daughter|subsidiary|spokes\w+|neighbour\w*)\b",
    re.IGNORECASE,
)
HABIT, PLURAL = re.compile(r"\b(?:is|are|be|being) $", re.IGNORECASE), re.compile(r" (?:are|were)\b")
MOVE = re.compile(r"cuts?|hikes?|holds?|wins?|leaves", re.IGNORECASE)
AS_A_NOUN = re.compile(r"\b(?:an?|any|another|further|more|next|rate|of|for|such) $", re.IGNORECASE)
"""Before a word of `MOVE` that is no verb."""
HARD = re.compile(r";|\b(?:but|while|although|though|whereas)\b")
BARE_MONTH = re.compile(
    r"\b(?:in|of|for|during|by) (january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\b(?! \d)",
    re.IGNORECASE,
)
NOUNS = (
    r"(?:since|after|following|in response to|thanks to|despite|with|in) (?:the|its|her|his"
    r"|their) (?:\w+ ){0,2}(?:victory|win|defeat|triumph|loss|resignation|launch|release|signing|ruling"
    r"|approval|rejection|passage|acquisition|takeover|collapse|bankruptcy|landfall)"
)
SAYS_SO = (
    r"resolve[ds] (?:to |as )?(?:yes|no)|declared (?:the )?winner|final score|full[- ]time|has won"
    r"|was (?:re-?)?elected"
    r"|conceded|officially (?:over|confirmed)|" + NOUNS
)
"""What says of any question that it has ended."""
ENDS: Mapping[str, str] = {
    r"wins?|beats?|defeat|elect\w+|champion|winner|nominee|victor|title|finals?|award|vs?": (
        r"won(?! over)|wins|beats?|defeat(?:ed|s)?|lost|loses|victory|triumph(?:ed|s)?|elected|crowned"
        r"|clinched|prevail(?:ed|s)|lift(?:ed|s)|t(?:ook|akes)(?= (?:the|home|best|gold))|scored the winner"
        r"|(?:is|are|became|named) (?:the )?(?:new )?(?:champions?|winners?|president|mayor|governor"
        r"|prime minister)|knocked out|eliminated|\w+-elect|congratulat\w+|sworn in|takes office as"
        r"|(?-i:[A-Z]\w+ \d{1,2}[,–-] ?(?:[A-Z]\w+ )?\d{1,2}\b)"
    ),
    r"pass|passes|approved?|adopt|enact|ratif\w+|law|bill|act|referendum|votes?|confirm\w*|impeach\w*": (
        r"pass(?:ed|es)|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|vot(?:ed|es) (?:for|against|down|to|by"
        r"|in favou?r)|enacted|ratified|signed into law|became law|clear(?:ed|s)|defeat(?:ed|s)|turned down"
        r"|confirmed|impeached"
    ),
    r"cuts?|hikes?|raise|lower|rates?|bps|hold": (
        r"cuts?|lower(?:ed|s)|reduced?|rais(?:ed|es)|hik(?:ed|es)|kept|keeps|held|holds|left|leaves|unchanged"
        r"|trim(?:med|s)"
    ),
    r"reach|hits?|above|below|exceeds?|close|price|over|under|at least|higher|inflation|cpi|gdp|between": (
        r"hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|surpass(?:ed|es)|cross(?:ed|es)|closed|rose|rises"
        r"|climb(?:ed|s)|jump(?:ed|s)|fell|falls|dropp?(?:ed|s)|c[ao]mes? in|stood at|settled|finished"
        r"|pass(?:ed|es)|exceed(?:ed|s)"
    ),
    r"acqui\w+|buy|merge\w*|takeover|deal|sell|sale": (
        r"acquired|complet(?:ed|es)|closed the|bought|took over|taken over|now (?:part of|owned)|merged"
        r"|finali[sz]ed|called off|abandon(?:ed|s)|walked away|blocked"
    ),
    r"resign|out|leave|step down|fired|remain|removed|cease|replace\w*|quit|ousted": (
        r"resign(?:ed|s)|stepp?(?:ed|s) down|quits?|succeed(?:ed|s)|replaced|ousted|removed|fired|dismissed"
        r"|left office|successor|former|sworn in|handed over"
    ),
    r"launch\w*|releas\w+|announce\w*|unveil|ship|fly|land|orbit|publish|introduce|debut": (
        r"launch(?:ed|es)|lift(?:ed|s)[ -]off|lift-?off|blasted off|reached orbit|successful launch"
        r"|releas(?:ed|es)|unveil(?:ed|s)|introduced|debut(?:ed|s)|rolled out(?! to)|shipp?(?:ed|s)"
        r"|went on sale|available"
    ),
    r"rules?|ruling|court|convict\w*|guilty|sentence\w*|acquit\w*|charge|indict\w*|verdict|uphold|overturn": (
        r"rul(?:ed|es)|sid(?:ed|es) with|upheld|overturn(?:ed|s)|struck down|revers(?:ed|es)|convicted"
        r"|acquitted|found guilty|sentenced|charged|indicted|wrote for the majority"
    ),
    r"sign|treaty|agree\w*|ceasefire|peace|truce|accord": (
        r"sign(?:ed|s)|agreed|reached an?|struck a|concluded|sealed|collapsed|broke down|called off"
        r"|took effect"
    ),
    r"file|bankruptcy|default|ipo|sue|list": (
        r"fil(?:ed|es)|went bankrupt|defaulted|declared bankruptcy|went public|sued|listed"
    ),
    r"end|ends|strikes?|shutdown|war|over|finish|resume|reopen": (
        r"ended|ends|(?:is|was|are) over|came to an end|called off|reopen(?:ed|s)|resum(?:ed|es)|back (?:at"
        r"|to) work|settled|accepted"
    ),
    r"hurricane|landfall|storm|earthquake|eruption|erupt|flood|snow|rain|temperature": (
        r"made landfall|came ashore|struck|hit|slammed|erupted"
    ),
    r"attack|invade|strikes?|annex|capture|bomb|missiles?|troops": (
        r"attacked|invaded|struck|bombed|captured|seized|annexed|fired"
    ),
    r"meet|visit|attend|talks?|summit|debate": r"met|visited|attended|shook hands|held talks",
}
"""By words of a question, the words that say how such a one ended."""
