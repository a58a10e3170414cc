"""The words by which `agents.audit` knows prices, stamps, what is to come, what is over, what ended."""

import re
from collections.abc import Iterable, Mapping

from agents.audit_kinds import RATES
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
    r"|traders? (?:see|price|put|give)|(?:swaps?|futures|options) (?:imply|price in|put"
    r"|give)(?! (?:an? )?[\d.]+% (?:move|swing)))\b"
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
SAID_ON = re.compile(r"\bsince $|\b(?:said|says|told|announced|reported|wrote) (?:\w+ )?on $", re.IGNORECASE)
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
    r"|schedul\w+|plan(?:s|ned)?|planning|expect\w*|anticipat\w+|propos\w+|upcoming|forthcoming"
    r"|next|deadline"
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
    rf"\b(?:{IRREGULAR}|having \w+"
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
    r"|early this|in (?:spring|summer|autumn|winter)|defending|outgoing|incumbent|in a row|record of)\b",
    re.IGNORECASE,
)
AGES_AGO = re.compile(
    r"\b(?:\w+ (?:years?|decades?|seasons?) (?:ago|before|earlier)|last (?:year|season|time)"
    r"|previous(?:ly)?"
    r"|formerly|since (?:19|20)\d\d|of the last \d+|last (?:three|four|five|six|seven|eight|ten|\d+|few)"
    r"|head[- ]to[- ]head"
    r"|h2h|past winners|roll of honou?r|reverse fixture|season series|previous meetings?)\b",
    re.IGNORECASE,
)
"""Words of a time so long ago that no open question asks of it."""
ROUND_ROBIN = re.compile(
    r"\b(?:group|league|leg|friendly|warm-up|qualifying|qualification|round[- ]robin|game \d|match \d|set"
    r"|series|poll"
    r"|primary"
    r"|first[- ]round|debate|last (?:year|season|month|week))\b|\?",
    re.IGNORECASE,
)
"""Of a stage in which one may lose and go on."""
STAGE = re.compile(
    r"\b(?:primera vuelta|premier tour|primeiro turno|primo turno|erste[rn]? wahlgang|\d+(?:rc|b|beta"
    r"|alpha)\d+|release candidates?|under-\d\ds?"
    r"|u-?\d\ds?|youth|academy|reserves?(?= (?:team|side|beat|lost|won|match|game))|(?:first|second|third"
    r"|fourth)[- ]round|first leg"
    r"|first meeting|group stage|round of \d+|round[- ]robin"
    r"|quarter-?finals?"
    r"|semi-?finals?|league|friendly|warm-up|practice (?:sessions?|one|two|three|[123]|pace|times?)"
    r"|(?:free|in|final) practice|qualifying|fp[123]|straw poll|cloture"
    r"|motion to proceed"
    r"|debate|endorsement|last (?:eight|four|sixteen)|primar(?:y|ies)|qualif\w+|lower house"
    r"|(?<!policy )(?<!market )committee (?:has |have )?(?:approv|pass|vot|advanc|sen[dt]|back"
    r"|clear|reject|recommend|agree|stage"
    r"|hearing)\w*"
    r"|(?<!policy )(?<!market )committee(?= \w+ (?:approv|pass|vot|advanc|sen[dt]|back|clear|reject))"
    r"|(?:by|in|from|through|out of|at|before) (?:the |an? )?(?!monetary|federal)(?:[\w']+ ){0,3}committee"
    r"|cabinet (?:has )?(?:approv|back|agree|vot)\w*|(?:district|lower|appeals) court|court of appeals?"
    r"|preliminary|advocate general|county assembly|sen(?:ds|ding|t) (?:the case|it|the bill) to"
    r"|creative arts"
    r"|series (?:tied|level|even)|bundesliga|spieltag|matchday|journee|jornada|giornata"
    r"|squared the series|level(?:l?ed)? the series|next faces?|will (?:face|meet|play)|advance[sd]? to"
    r"|through to|after (?:round|game|stage|day|week) \d+|stumps|halfway|half-time)\b",
    re.IGNORECASE,
)
"""What comes before that which is asked, unless it is asked itself."""
PREVIEW = re.compile(
    r"\b(?:previews?|predictions?|what to (?:watch|expect|know)|how to watch|where (?:things|the)"
    r"|rumou?rs?|week ahead"
    r"|nominees|shortlist|forecasts?|outlook|ahead|before)\b",
    re.IGNORECASE,
)
"""A title of a text about what is to come."""
OPEN = re.compile(
    r"\b(?:if|unless|whether|when(?! (?:it|he|she|they|the \w+) (?:\w+ed|came|fell|took|made|was|were|hit"
    r"|struck))|whenever|whoever|will|would|could|(?-i:may)|might|should|can|must|expect\w*"
    r"|likely|unlikely|probab\w+|predict\w*|forecasts?|hopes?|hoping|wants?|chances?|poised|set to|going to"
    r"|thinks?|believes?|plans?|were it|polls?|polling|surveys?|respondents|undecided|margin of error"
    r"|gallup|yougov|ipsos|quinnipiac|pollsters?|(?:likely|registered|decided) voters|nominat\w+"
    r"|candidates?|not(?! voting| guilty)|never|nobody|no one|none"
    r"|yet to|without|cannot|until|in case|so far|to date|(?:look|search)(?:s|ing)? for (?:an? "
    r"|the )?(?:new "
    r"|possible )?(?:successor|replacement|buyer|candidate)s?|calls? for|called for|calls? on|urg\w+"
    r"|demand\w*|refus\w+|den(?:y|ies)|denied (?:that|reports|any|wanting|plans|rumou?rs)|baseless"
    r"|rumou?r\w*"
    r"|speculat\w*|contender|in the running|threat\w*|supposed|reportedly|as soon as|who wins"
    r"|favou?r(?:ed|ites?))\b"
    r"|n't\b|n’t\b",
    re.IGNORECASE,
)
TRANSITIVE = re.compile(
    r"(?:won|wins|beats?|defeat(?:ed|s)|lost|loses|lift(?:ed|s)|took|takes|clinched|elected|pass(?:ed|es)"
    r"|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|clear(?:ed|s)|cuts?|lower(?:ed|s)|rais(?:ed|es)"
    r"|hik(?:ed|es)|kept|keeps|held|holds|left|hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|acquired"
    r"|bought|complet(?:ed|es)|replaced|succeed(?:ed|s)|fired|launch(?:ed|es)|releas(?:ed|es)"
    r"|unveil(?:ed|s)"
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
    r"|gold|case|nomination|it|bill|law|act|measure|merger|takeover|deal|acquisition|strike"
    r"|walkout|threshold"
    r"|level"
    r"|mark)\b",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"(?:'s (?:\w+ )?|\b)(?:predecessor|deputy|rivals?|opponents?|allies|ally|adviser|brother|sister|wife"
    r"|husband|daughter|subsidiary(?! of)|spokes\w+|neighbou?rs?)\b|\b(?:his|her|their|whose) son\b"
    r"|'s (?:\w+ )?son\b",
    re.IGNORECASE,
)
HABIT, PLURAL = re.compile(r"\b(?:is|are|be|being) $", re.IGNORECASE), re.compile(r" (?:are|were)\b")
MOVE = re.compile(r"cuts?|hikes?|holds?|wins?|leaves", re.IGNORECASE)
AS_A_NOUN = re.compile(
    r"(?:\b(?:an?|any|another|further|more|next|rate|of|for|such|first|second|no|case|quarter-point"
    r"|half-point|january"
    r"|february|march|april|may|june|july|august|september|october|november|december)|'s) $",
    re.IGNORECASE,
)
"""Before a word of `MOVE` that is no verb."""
HARD = re.compile(r";|\b(?:but|while|although|though|whereas)\b")
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
BARE_MONTH = re.compile(
    rf"\b(?:in|of|for|during|by) (?P<month>{_MONTH})\b(?! \d)"
    rf"|\b(?P<owning>{_MONTH})(?:'s?\b| (?:quarter|cut|hike|rate|meeting|reading|report|data|figures|cpi"
    rf"|payrolls|defeat"
    r"|win|vote|election|decision|lows?|highs?)\b)",
    re.IGNORECASE,
)
_GENERIC = """
Film Picture Prize Award Awards Open Prix Minister Finals Test Bank Group Court Crown Council Committee Union
Series Festival State City County University Company Party Street
"""
GENERIC = frozenset(_GENERIC.split())
"""Words by which alone no name is meant."""
NUMBERED = re.compile(r" (?:[IVX]+|\d+)$")
GOODS = {
    "gold": ("gold", "oro", "ouro"), "silver": ("silver", "silber", "prata"), "oil": ("oil", "crude"),
    "copper": ("copper", "kupfer", "cobre"), "wheat": ("wheat", "weizen", "trigo"),
    "cocoa": ("cocoa", "kakao", "cacao"), "coffee": ("coffee", "kaffee"),
    "natural gas": ("natural gas", "Erdgas"),
}  # fmt: skip
"""What is traded, by the word of a question: texts name it where they name no exchange."""
INITIAL = re.compile(r"\b([A-Z])(?=[a-z])")
"""The first letters of a name in full, and the number behind it: Grand Theft Auto VI is GTA VI."""
NATIONAL = re.compile(r"\w+(?:ian|ean|an|ish|ese|al|ic|ern)")
PRIZES = frozenset(["Prize", "Award", "Awards", "Cup", "Oscar", "Medal", "Trophy", "Bowl"])
"""Words that a text leaves out at the end of a prize's name."""
CODE = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]{2,4}")
"""A short name of letters and digits, such as that of a measure on a ballot."""
LAST_DAY = re.compile(rf"\b(?:last|final) (?:trading )?(?:day|session) of (?:{_MONTH})\b", re.IGNORECASE)
GONE = re.compile(
    r"\b(?:was|were|been|is|gets|got|being) (?:dismissed|sacked|fired|ousted|removed|censured|impeached"
    r"|forced out|voted out|acquitted|convicted|found (?:not )?guilty)|\bwalk(?:s|ed) free"
    r"|\b(?:resigned|has resigned|stepped down|quits|has quit|has left)\b",
    re.IGNORECASE,
)
"""What is said of somebody who has left a post."""
ANAPHOR = re.compile(
    r"(?:(?:The|This|That) )?(?:[Bb]ill|[Mm]easure|[Mm]otion|[Ii]nitiative|[Mm]erger|[Dd]eal|[Tt]akeover"
    r"|[Ss]trike|[Tt]reaty"
    r"|[Aa]ct|[Rr]uling|[Ll]aw|[Rr]eferendum|[Nn]omination) (?:was |is |has |has been )?\w+(?:\.|,| by"
    r"| with| \d| on| to| in)"
)
"""A sentence whose subject is what the title is about."""
COMPARED = re.compile(
    rf",? (?:down|up|after|compared with|against|versus|than|from|following)\b[^,;.]{{0,40}}?\b(?:in"
    rf"|for) (?:{_MONTH})\b"
    r"(?:,? 20\d\d)?"
    r"|,? (?:the|its|their|his|her) (?:\w+ )?(?:highest|lowest|most|best|worst|biggest|first|fastest"
    r"|slowest|strongest|weakest"
    r"|warmest|smallest|largest|sharpest)(?: [\w-]+){0,5} (?:since [^,.;]+|in (?:\w+ ){1,3}(?:years"
    r"|months|decades|weeks))",
    re.IGNORECASE,
)
"""What a figure is compared with."""
BARE_YEAR = re.compile(
    r"\b(?:the|in|en|im|em|nel|de|since|of) (?P<year>(?:19|20)\d\d)\b(?!\s?[-–]\s?\d)", re.IGNORECASE
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
        r"won(?! over)|wins|wins? (?:over|against|at)|loss(?:es)? (?:to|against|in|at)|beats?|defeat(?:ed"
        r"|s)?|lost|loses|victory"
        r"|triumph(?:ed|s)?|elected|crowned|edg(?:ed|es)(?= )|downed|downs|thrash(?:ed|es)|rout(?:ed|s)"
        r"|stunn?(?:ed|s)"
        r"|upsets?|swept|sweeps?|outlast(?:ed|s)|h[eo]ld(?:s)? off|saw off|sees? off|rall(?:ied|y"
        r"|ies) past|sinks?|sank"
        r"|knock(?:ed|s)? off|blank(?:ed|s)|shut(?:s)? out|cruised? past|dispatch(?:ed|es)|crush(?:ed|es)"
        r"|demolish(?:ed|es)"
        r"|f[ea]lls? to|bow(?:ed|s) out|went down to|retain(?:ed|s)|captur(?:ed|es)|secur(?:ed|es)"
        r"|seal(?:ed|s)|snatch(?:ed|es)"
        r"|claim(?:ed|s)(?= (?:the|his|her|their|a|first|victory))|scoop(?:ed|s)|bagged|runner-up"
        r"|runners-up|dethron(?:ed|es)"
        r"|finish(?:ed|es) (?:first|second|third|runner|on the podium|only)|outboxed|outpointed"
        r"|outclassed|submitted|stopped(?= [A-Z])|(?:second|third|fourth|runner-up) (?:in|with|on|behind)"
        r"|only (?:second|third|fourth)|settl(?:ed|es)"
        r"|(?:dedicat|accept)(?:ed|es|ing) (?:the|her|his|their)|award(?:ed|s)? (?:to|the)|taking (?:the"
        r"|gold)|winning (?:the|gold)|end(?:ed|s)? \w+ drought"
        r"|clinched|prevail(?:ed|s)|lift(?:ed|s)|t(?:ook|akes)(?= (?:the|home|best|gold))|scored the winner"
        r"|(?:is|are|became|named) (?:the )?(?:new )?(?:champions?|winners?|president|mayor|governor"
        r"|prime minister)|knocked out|eliminated|\w+-elect|congratulat\w+|sworn in|takes office as"
        r"|(?-i:[A-Z]\w+ \d{1,2}[,–-] ?(?:[A-Z]\w+ )?\d{1,2}\b)"
    ),
    r"pass|passes|approved?|adopt|enact|ratif\w+|law|bill|act|referendum|votes?|confirm\w*|confidence"
    r"|impeach\w*|accept"
    r"|initiative": (
        r"pass(?:ed|es)|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|brought (?:[\w']+ ){0,3}down|toppled"
        r"|vot(?:ed|es) (?:for|against|down|out"
        r"|to|by"
        r"|in favou?r)|enacted|ratified|signed into law|became law|clear(?:ed|s)|defeat(?:ed|s)|turned down"
        r"|confirmed|impeached|back(?:ed|s)|endors(?:ed|es)|green-?light(?:ed|s)?|gave (?:its"
        r"|their) (?:nod|blessing|assent)"
        r"|vot(?:ed|es) (?:yes|no)|(?:say|says|said) (?:yes|no) to|sail(?:ed|s) through|scrap(?:ed"
        r"|es) through|becomes? law"
        r"|royal assent|f[ea]ll(?:s)? short|fail(?:ed|s)|kill(?:ed|s)|sinks?|sank|went through|carried"
        r"|comes? into force"
    ),
    rf"(?:cuts?|hikes?|raise|lower|hold)(?=.*{RATES})|rates?|bps": (
        r"cuts?|lower(?:ed|s)|lift(?:ed|s)|reduced?|rais(?:ed|es)|hik(?:ed|es)|kept|keeps|held|holds|left"
        r"|leaves|unchanged"
        r"|trim(?:med|s)|slash(?:ed|es)|eas(?:ed|es)|tighten(?:ed|s)|snipp?(?:ed|s)|st(?:ands|ood) pat"
        r"|holds? fire"
    ),
    r"reach|hits?|above|below|exceeds?|close|price|over|under|at least|higher|inflation|cpi|gdp|between": (
        r"hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|surpass(?:ed|es)|cross(?:ed|es)|closed|rose|rises"
        r"|climb(?:ed|s)|jump(?:ed|s)|fell|falls|dropp?(?:ed|s)|c[ao]mes? in|stood at|settled|finished"
        r"|pass(?:ed|es)|exceed(?:ed|s)|eas(?:ed|es)|edg(?:ed|es)|slow(?:ed|s)|quicken(?:ed|s)"
        r"|accelerat(?:ed|es)|cool(?:ed|s)"
        r"|report(?:ed|s)|post(?:ed|s)|handed over|deliver(?:ed|s)|sold|missed|beat|fell short|shipped"
    ),
    r"acqui\w+|buy|merge\w*|takeover|deal|sell|sale": (
        r"acquired|complet(?:ed|es)|closed the|bought|took over|taken over|now (?:part of|owned)|merged"
        r"|finali[sz]ed|called off|abandon(?:ed|s)|walked away|blocked|(?:an?|its|the) (?:new "
        r"|wholly owned )?(?:unit|subsidiary|division|arm) of|delisted|ceased trading"
    ),
    r"resign|sack|dismiss|censure|out|leave|step down|fired|remain|removed|cease|replace\w*|quit|ousted": (
        r"resign(?:ed|s)|stepp?(?:ed|s) down|quits?|succeed(?:ed|s)|replaced|ousted|removed|fired|dismissed"
        r"|left office|successor|former|sworn in|handed over|unveiled (?:by|as|at)|bow(?:ed|s) out"
        r"|stood down|was gone"
    ),
    r"launch\w*|releas\w+|announce\w*|unveil|ship|fly|land|orbit|publish|introduce|debut": (
        r"launch(?:ed|es)|lift(?:ed|s)[ -]off|lift-?off|blasted off|reached orbit|successful launch"
        r"|releas(?:ed|es)|unveil(?:ed|s)|introduced|debut(?:ed|s)|rolled out(?! to)|shipp?(?:ed|s)"
        r"|went on sale|available|sold out|broke (?:apart|up)|explod(?:ed|es)|splash(?:ed|es) down"
        r"|splashdown|touch(?:ed|es) down"
        r"|f[ea]ll(?:s)? short|lost its|anomaly|maiden flight (?:ended|failed)|made it to (?:space|orbit)"
    ),
    r"rules?|ruling|court|convict\w*|guilty|sentence\w*|acquit\w*|charge|indict\w*|verdict|uphold"
    r"|overturn|jury|liable": (
        r"rul(?:ed|es)|sid(?:ed|es) with|upheld|overturn(?:ed|s)|struck down|revers(?:ed|es)|convicted"
        r"|acquitted|found guilty|sentenced|charged|indicted|wrote for the majority|wrote that"
        r"|prevail(?:ed|s)|annul(?:led|s)"
        r"|dismiss(?:ed|es)|threw out|thrown out|clear(?:ed|s)|walk(?:s|ed) free|not guilty(?! plea)"
        r"|awaits? sentencing|sentencing"
    ),
    r"sign|treaty|agree\w*|ceasefire|peace|truce|accord": (
        r"sign(?:ed|s)|agreed|reached an?|struck a|concluded|sealed|collapsed|broke down|called off"
        r"|took effect|(?:has|have) held|holding|put (?:their|his|her) names? to|initialled"
    ),
    r"file|bankruptcy|default|ipo|sue|list": (
        r"fil(?:ed|es)|went bankrupt|defaulted|declared bankruptcy|went public|sued|listed"
    ),
    r"end|ends|strikes?|shutdown|war|over|finish|resume|reopen": (
        r"ended|ends|(?:is|was|are) over|over(?=,)|return(?:ed|s|ing)? to (?:work|the job|class"
        r"|classrooms)|came to an end|called off|reopen(?:ed|s)|resum(?:ed|es)(?! talks| negotiations)"
        r"|back (?:at"
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


def finds_any(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    """Tell whether a text has a match of any of some patterns."""
    return any(pattern.search(text) for pattern in patterns)
