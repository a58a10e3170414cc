"""How an outcome is told in Spanish, Portuguese, French, German and Italian, by kinds of question. Pure.

All patterns are for texts in any case whose letters bear no accents.
"""

import re
from collections.abc import Mapping

from agents.audit_kinds import Kind

_WON = (
    r"gan[oa](?:n|ron)?|vence(?:u|m)?|vencio|derrot(?:a|o|ou)|se (?:impuso|impone|corona|proclama|lleva"
    r"|adjudica)"
    r"|tumb[ao]|gole[ao]|campe(?:on|ones|ona|ao|oes|a)|conquist(?:a|o|ou)|levant(?:o|ou)|perdio|perdeu"
    r"|cae (?:ante|contra)|ganhou|bate(?:u)?|se sagr(?:a|ou)|a (?:gagne|remporte|battu|perdu)|remporte(?:nt)?"
    r"|l'emporte|s'impose(?:nt)?|sacree?s?|vainqueurs?|gewann(?:en)?|gewinnt|gewonnen|siegt(?:en?)?"
    r"|besiegt(?:en?)?"
    r"|schlagt|schlug(?:en)?|triumphiert|verliert|verlor|bezwingt|bezwang|setzt sich durch|ha (?:vinto"
    r"|battuto)"
    r"|vince|batte|trionfa|campioni?"
)
_ELECTED = (
    r"elegid[oa]|elect[oa]|eleit[oa]|elue?s?|(?<!ab)gewahlt|elett[oa]|rec?onh?ec(?:e|io|eu) (?:su |sua "
    r"|la |a )?derrota"
    r"|reconnait sa defaite|wahlsieg\w*|wahldebakel|wahlniederlage|stimmenstarkste|feiert"
    r"|toma (?:de )?posesion|tomo posesion|tomou posse|toma posse|investid[oa]|juro (?:el )?cargo"
    r"|vereidigt|installation a la tete|nouve(?:l|lle|au) president\w*|nuev[oa] president\w*"
    r"|nov[oa] president\w*"
    r"|nombrad[oa]|nomead[oa]|nommee?|ernannt|nominat[oa]"
)
_LEFT = (
    r"dimit(?:e|io)|renunci(?:a|o|ou)|destitu\w+|cesad[oa]|demissionn\w+|sa demission|limogee?s?|tritt zuruck"
    r"|trat zuruck|zuruckgetreten|entlassen|abgewahlt|gesturzt|demitid[oa]|se demite|demitiu|si e dimess[oa]"
    r"|ex-?(?:president|ministr|primer|premier|canciller|kanzler|minister|alcald|prefeit|governador"
    r"|gobernador|chef)\w*"
    r"|(?:anciene?|ancienne?) (?:president|premier|ministre|patron)\w*|(?:fruhere|ehemalige)[rn]? \w+"
    r"|(?:su|seu|son) suces+eur|(?:su|seu) sucess?or\w*|(?:sein|ihr)e? nachfolger\w*|zum nachfolger"
    r"|geht(?=:)|(?:posten|amt|stuhl) geraumt|raumt (?:seinen|ihren|den)|wirft hin|hort auf|deja (?:el"
    r"|la)|sai de"
)
_PASSED = (
    r"aprueban?|aprob(?:o|aron|ad[oa])|promulg\w+|ratific(?:a|o|ou|ad[oa])|ratifi(?:e|ee|iert)"
    r"|despach(?:a|o)|sancion(?:a|o)|rechaz(?:a|o|an|aron|ad[oa])|adopte(?:es?|nt)?|a (?:adopte|rejete"
    r"|vote|approuve)"
    r"|approuv\w+|rejet(?:te|tent|ee?s?)|verabschiedet\w*|beschlossen|beschlie(?:ss|ß)t|angenommen"
    r"|abgelehnt|billigt"
    r"|lehnt \w+ ab|stimmt(?:en?)? (?:fur|gegen|zu|dem|der)|aprov(?:a|ou|ad[oa])|rejeit(?:a|ou|ad[oa])"
    r"|approvat?[oa]?|bocciat?[oa]|respint[oa]"
)
_MOVED = (
    r"recort[oa]|baj[oa]|sub(?:e|io)|mantuv(?:o|ieron)|mantiene|abaisse|releve|maintient|senkt(?:en?)?"
    r"|erhoht(?:en?)?"
    r"|gesenkt|erhoht|belasst|belie(?:ss|ß)|tastet|cort(?:a|ou)|elev(?:a|ou)|mantev?e|mantem|taglia"
    r"|ha tagliato"
    r"|lascia|reduz(?:iu)?|reduj?c?[eo]"
)
_JUDGED = (
    r"condenad[oa]|condena|absuelt[oa]|absuelve|anul(?:a|o|ou|ad[oa])|confirm(?:a|o|ou|ad[oa]|ee?s?|e)"
    r"|condamn\w+"
    r"|relaxee?s?|acquitte\w*|(?:a|ont) rejete|rejette|annulee?s?|verurteilt|freigesprochen|bestatigt"
    r"|aufgehoben|kippt"
    r"|absolvid[oa]|condannat[oa]|assolt[oa]|annullat[oa]|da la razon|donne raison|gibt \w+ recht"
)
_SIGNED = (
    r"firm(?:an?|o|aron|ad[oa])|(?:a|ont) signe|signent|signee?s?|unterzeichne(?:t|n|ten)|unterschrieben"
    r"|assin(?:am?|ou|aram|ad[oa])|firmano|firmat[oa]|pact(?:an|aron)|einigen sich|geeinigt|acordaram"
    r"|acuerdan"
)
_RELEASED = (
    r"lanz(?:a|o)|disponible|disponivel|disponibile|a lance|est sorti|veroffentlicht|verfugbar|ist da"
    r"|erschienen"
    r"|lanc(?:a|ou)|rilascia|llega|chegou|gestartet|despeg[oa]|decoll?(?:e|ou|a)|hebt ab|abgehoben"
)
_STOOD = (
    r"cierr?[ao]|cerro|termin[oa]|alcanz[oa]|super(?:a|o|ou)|cloture|a (?:termine|atteint|depasse)|depasse"
    r"|schlie(?:ss|ß)t|schloss|beendet|ubersteigt|uberspringt|fech(?:a|ou)|encerr(?:a|ou)|ating(?:e|iu)"
    r"|chiude"
    r"|ha chiuso|cayo|steigt|stieg|gestiegen|sinkt|sank|gesunken|ca(?:i|iu)|recule|progresse|situ(?:a|o"
    r"|ou)|ficou"
    r"|s'etablit|lag bei|liegt bei|se ubico"
)
_OVER = (
    r"rouvert\w*|rouvre\w*|a pris fin|reanud\w+|desconvoc\w+|beendet|ist vorbei|encerrad\w*|terminou"
    r"|finaliza\w*|revoca\w*"
    r"|reabr\w+|levant(?:a|o|ad[oa])|reprend\w*|repris\w*"
)
_WORDS: Mapping[Kind, str] = {
    "contest": _WON,
    "office": f"{_WON}|{_ELECTED}",
    "departure": _LEFT,
    "vote": _PASSED,
    "rate": _MOVED,
    "court": _JUDGED,
    "treaty": _SIGNED,
    "release": _RELEASED,
    "launch": _RELEASED,
    "level": _STOOD,
    "halt": _OVER,
}
OUTCOMES = {
    kind: re.compile(rf"(?<![\w'-])(?:{words})(?!\w)", re.IGNORECASE) for kind, words in _WORDS.items()
}
OPEN = re.compile(
    r"\b(?:si(?! e dimess)|s'il|podri\w+|puede\w*|podem?|quier\w+|quer|esper\w+|previst\w+|encuestas?"
    r"|sondeos?"
    r"|sondage[ns]?|sondaggi\w*|favorit\w*|favori\w*|candidat\w*|kandidat\w*|hace|il y a|pourrai\w*|devrai\w*"
    r"|doivent|konnt\w+|soll(?:te|ten|en)?|wenn|falls|umfragen?|voraussichtlich|erwarte\w*|vor \w+ jahren"
    r"|poderi\w+"
    r"|deve|pesquisas?|sondagem|potrebbe|dovrebbe|empatad\w*|propuest\w+|propost\w+|pide\w*|exig\w+"
    r"|fordert\w*"
    r"|intencion|minutas?|planea|planen|preven|haria|seria|sera|seran|vai|vao|van a|va a"
    r"|primera vuelta|premier tour|primeiro turno|segundo lugar|terceir[oa] colocad[oa]"
    r"|erste[rn]? (?:wahlgang|lesung)"
    r"|semifina\w+|halbfinale|viertelfinale|demi-finales?|cuartos de|quartas de|octavos|oitavas"
    r"|avocate? generale?"
    r"|el ano pasado|l'an dernier|ano passado|letzte[sn] jahr\w*|mes pasado|mes passado|nunca|jamais"
    r"|nie)(?!\w)",
    re.IGNORECASE,
)
"""What says that it is a wish, a forecast, another stage or another time."""
NEGATED = re.compile(
    r"(?:\b(?:no|nao|ne|non|nicht|kein\w*|sin|ohne|sans|sem)\s|\bn')(?:\w+\s)?$", re.IGNORECASE
)


def tells_abroad(sentence: str, kinds: frozenset[Kind]) -> bool:
    """Return whether a sentence in another language than English tells how such a question ended."""
    if OPEN.search(sentence):
        return False
    for kind in sorted(kinds & OUTCOMES.keys()):
        for match in OUTCOMES[kind].finditer(sentence):
            if not NEGATED.search(sentence, 0, match.start()):
                return True
    return False
