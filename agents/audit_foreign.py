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
    r"|cae (?:ante|contra)|ganhou|bate(?:u)?|se sagr(?:a|ou)|a (?:gagne|remporte|battu|perdu)"
    r"|remporte(?:nt)?"
    r"|l'emporte|s'impose(?:nt)?|sacree?s?|vainqueurs?|gewann(?:en)?|gewinnt|gewonnen|siegt(?:en?)?"
    r"|besiegt(?:en?)?"
    r"|schlagt|schlug(?:en)?|triumphiert|verliert|verlor|bezwingt|bezwang|setzt sich durch|ha (?:vinto"
    r"|battuto)"
    r"|vince|batte|trionfa|campioni?|(?:ha|han|hat|a|ont) (?:premiat?[oae]|premiado|recompense"
    r"|ausgezeichnet)"
    r"|premiou|zeichnete \w+ aus"
)
_ELECTED = (
    r"(?:re)?ele(?:gid|ct|it|tt)[oa]|(?:re)?elue?s?|(?:wieder)?(?<!ab)gewahlt|rielett[oa]|rec?onh?ec(?:e"
    r"|io|eu) (?:su |sua "
    r"|la |a )?derrota"
    r"|reconnait sa defaite|wahlsieg\w*|wahldebakel|wahlniederlage|stimmenstarkste|feiert"
    r"|toma (?:de )?posesion|tomo posesion|tomou posse|toma posse|investid[oa]|juro (?:el )?cargo"
    r"|vereidigt|installation a la tete|nouve(?:l|lle|au) president\w*|nuev[oa] president\w*"
    r"|nov[oa] president\w*"
    r"|equipo de (?:transferencia|transicion)|equipe de transi\w+|ubergangsteam|squadra di transizione"
    r"|(?:president[ea]|presidente|prasident|canciller|premier) (?:elect[oa]|eleit[oa]|elu|eletto)"
    r"|(?:designierte[rn]?|gewahlte[rn]?) (?:prasident|kanzler|ministerprasident)\w*"
    r"|nombrad[oa]|nomead[oa]|nommee?|ernannt|nominat[oa]"
)
_LEFT = (
    r"dimit(?:e|io)|renunci(?:a|o|ou)|destitu\w+|cesad[oa]|demissionn\w+|sa demission|limogee?s?"
    r"|tritt zuruck"
    r"|trat zuruck|zuruckgetreten|entlassen|abgewahlt|gesturzt|demitid[oa]|se demite|demitiu"
    r"|si e dimess[oa]"
    r"|ex-?(?:president|ministr|primer|premier|canciller|kanzler|minister|alcald|prefeit|governador"
    r"|gobernador|chef)\w*"
    r"|(?:anciene?|ancienne?) (?:president|premier|ministre|patron)\w*|(?:fruhere|ehemalige)[rn]? \w+"
    r"|(?:su|seu|son) suces+eur|(?:su|seu) sucess?or\w*|(?:sein|ihr)e? nachfolger\w*|zum nachfolger"
    r"|geht(?=:)|(?:posten|amt|stuhl) geraumt|raumt (?:seinen|ihren|den)|wirft hin|hort auf|deja (?:el"
    r"|la)|sai de"
)
_PASSED = (
    r"vaca(?: al?| el|ron)|vac(?:o|ado|ada) (?:al?|el|por)|aprueban?|aprob(?:o|aron|ad[oa])|promulg\w+"
    r"|ratific(?:a|o|ou|ad[oa])|ratifi(?:e|ee|iert)"
    r"|despach(?:a|o)|sancion(?:a|o)|rechaz(?:a|o|an|aron|ad[oa])|adopte(?:es?|nt)?|a (?:adopte|rejete"
    r"|vote|approuve)"
    r"|approuv\w+|rejet(?:te|tent|ee?s?)|verabschiedet\w*|beschlossen|beschlie(?:ss|ß)t|angenommen"
    r"|abgelehnt|billigt"
    r"|lehnt \w+ ab|stimmt(?:en?)? (?:fur|gegen|zu|dem|der)|aprov(?:a|ou|ad[oa])|rejeit(?:a|ou|ad[oa])"
    r"|approvat?[oa]?|bocciat?[oa]|respint[oa]|vot(?:aram|aron|arono)(?: en)? contra|ont vote contre"
    r"|stimmten (?:dagegen|dafur)|hanno votato (?:contro|a favore)|(?:dio|da) luz verde|deu luz verde"
    r"|(?:a donne|donne) (?:son|le) feu vert|gab grunes licht|(?:ha dato|da) il via libera"
    r"|via libera definitivo"
    r"|(?:nimmt|nahm|passiert|passierte) (?:die|den|das) (?:hurde|bundestag|bundesrat|parlament)"
    r"|pass(?:ou|o|a|e|ato) (?:[\w']+ ){0,4}?(?:com|con|avec|mit|grazie ai|graces? aux) "
    r"(?:os |los |les |i |den )?(?:votos|voti|voix|stimmen)"
)
_MOVED = (
    r"recort[oa]|baj[oa]|sub(?:e|io)|mantuv(?:o|ieron)|mantiene|abaisse|releve|maintient|senkt(?:en?)?"
    r"|erhoht(?:en?)?"
    r"|gesenkt|erhoht|belasst|belie(?:ss|ß)|tastet|cort(?:a|ou)|elev(?:a|ou)|mantev?e|mantem|taglia"
    r"|ha tagliato"
    r"|lascia|reduz(?:iu)?|reduj?c?[eo]"
    r"|laisse(?:nt)?|a (?:maintenu|laisse|abaisse|releve|reduit|baisse|diminue|augmente)"
    r"|a opte pour le statu quo"
    r"|ha (?:mantenido|dejado|recortado|bajado|subido|reducido|mantenuto|lasciato|ridotto|alzato|abbassato)"
    r"|dejo|deixou|baixou|subiu|diminuiu|aumentou|ridotto|halt(?:en)? (?:\w+ ){0,3}(?:fest|stabil"
    r"|unverandert)"
    r"|hielt(?:en)? (?:\w+ ){0,3}(?:fest|stabil|unverandert)|hat (?:\S+ ){0,7}(?:gelassen|gesenkt|belassen"
    r"|angehoben)"
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
_SHUT = (
    r"oblig\w+ a cerrar|cerr(?:o|ad[oa]|aron)|cierre (?:de|del)|clausur(?:o|ad[oa])|reabri?(?:o"
    r"|ert[oa]|eron)"
    r"|reapertura|a (?:ferme|rouvert)|fermee?|fermeture d\w*|reouverture|rouvert\w*|rouvre"
    r"|gesperrt|geschlossen"
    r"|sperrung|wieder (?:geoffnet|offen|in betrieb)|wiedereroffn\w+|fechad[oa]|fechou|reabr(?:e"
    r"|iu)|reabert[oa]"
    r"|reabertura|chius[oa]|chiusura|riapert[oa]|riapre|riapertura|(?:torna\w*|tornat[oa]) operativ[oa]"
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
    "disaster": r"toc(?:o|a|ou) (?:tierra|terra)|a touche terre|tr(?:af|ifft) auf land|ha toccato terra",
    "halt": _OVER,
    "closure": _SHUT,
}
OUTCOMES = {
    kind: re.compile(rf"(?<![\w'-])(?:{words})(?!\w)", re.IGNORECASE) for kind, words in _WORDS.items()
}
OPEN = re.compile(
    r"\b(?:si(?! e dimess)|s'il|podri\w+|puede\w*|podem?|quier\w+|quer|esper\w+|previst\w+|encuestas?"
    r"|sondeos?"
    r"|sondage[ns]?|sondaggi\w*|favorit\w*|favori\w*|candidat\w*|kandidat\w*|hace|il y a"
    r"|pourrai\w*|devrai\w*"
    r"|doivent|konnt\w+|soll(?:te|ten|en)?|wenn|falls|umfragen?|voraussichtlich|erwarte\w*|vor \w+ jahren"
    r"|poderi\w+"
    r"|deve|pesquisas?|sondagem|potrebbe|dovrebbe|empatad\w*|propuest\w+|propost\w+|pide\w*|exig\w+"
    r"|fordert\w*"
    r"|intencion|minutas?|planea|planen|preven|haria|seria"
    r"|(?<!edi )(?<!nica )(?<!bato )(?<!ieri )sera|seran|vai|vao|van a|va a"
    r"|primera vuelta|premier tour|primeiro turno|segundo lugar|terceir[oa] colocad[oa]"
    r"|erste[rn]? (?:wahlgang|lesung)"
    r"|semifina\w+|halbfinale|viertelfinale|demi-finales?|cuartos de|quartas de|octavos|oitavas"
    r"|avocate? generale?"
    r"|el ano pasado|l'an dernier|ano passado|letzte[sn] jahr\w*|mes pasado|mes passado|nunca|jamais"
    r"|nie|ultim[oa]s (?:\w+ )?(?:partid|jog|encuentr|duel)\w+|derniers? (?:matche?s?|duels?)"
    r"|letzten (?:\w+ )?(?:spiele\w*|duelle\w*)|ultim[ie] (?:\w+ )?(?:partit\w+|gare|sfide)"
    r"|hatten?|habian?|tinham?|avait|avaient|depend\w*|hangt|incert\w*|ungewiss|dudas?|duvid\w+)(?!\w)",
    re.IGNORECASE,
)
"""What says that it is a wish, a forecast, another stage or another time."""
NEGATED = re.compile(
    r"(?:\b(?:no|nao|ne|non|nicht|kein\w*|sin|ohne|sans|sem)\s|\bn')(?:\w+\s)?$", re.IGNORECASE
)


DECISION = re.compile(
    r"(?:(?:^\W*|(?P<after>(?<!so )(?<!solo )(?<!erst )\b(?:apos|depois d|tras|despues de|apres"
    r"|nach|dopo|desde"
    r"|depuis|seit|gracas|grace|gracias|dank|after|since|following) ?))(?:a|o|la|el|le|l'|die|der"
    r"|das|il|lo|the"
    r"|its|sua|son|sa)? ?)(?:aprovacao|rejeicao|supressao|revogacao|aprobacion|rechazo|supresion|derogacion"
    r"|adoption|rejet|suppression|approbation|abrogation|verabschiedung|ablehnung|abschaffung|billigung"
    r"|approvazione|bocciatura|soppressione|abrogazione|approval|rejection|passage|repeal|abolition"
    r"|chute|caida|queda|sturz|caduta|renversement|destitu\w+|absetzung|fall|ouster|removal|downfall"
    r"|collapse)"
    r" (?:d\w{0,4}\b|of|by|pel[oa]|por|par|du|durch)",
    re.IGNORECASE,
)
"""A decision as a noun: at the head of a sentence, or after a word that puts it into the past."""
LATELY = re.compile(
    r"\b(?:semana passada|semana pasada|semaine derniere|letzte[rn]? woche|vergangene[rn]? woche"
    r"|settimana scorsa"
    r"|scorsa settimana|last week|yesterday|ontem|ayer|hier|gestern|ieri"
    r"|(?:on|am|el|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunedi|martedi|mercoledi"
    r"|giovedi|venerdi"
    r"|lunes|martes|miercoles|jueves|viernes|montag|dienstag|mittwoch|donnerstag|freitag"
    r"|segunda-feira|terca-feira|quarta-feira|quinta-feira|sexta-feira))\b",
    re.IGNORECASE,
)
BEATEN_BY = (
    r"(?<!\w)(?:battue?s?|sconfitt[oaie]|derrotad[oa]s?|vencid[oa]s?|batid[oa]s?|geschlagen"
    r"|bezwungen|besiegt"
    r"|beaten|defeated|thrashed|outplayed|domine(?:e|s)?|goleado)(?: [\w'-]+){0,4}? (?:par|por|da"
    r"|dal|dalla|dall|von|by"
    r"|pel[oa])"
)
"""Before the winner of a match."""
_AGAINST = r"(?:sobre|contra|ante|sur|contre|face a|gegen|uber|su|sul|sulla|sull|contro|over|against)"
VICTORY_OVER = (
    r"\b(?:triunfos?|vitoria|victoria|victoire|sieg|erfolg|vittoria|success[oe]|victory|win|derrota|defaite"
    r"|niederlage|sconfitta)(?: \w+){0,2}? \d{1,3}(?: ?[-:x–] ?| a | zu | to )\d{1,3}"
    rf" {_AGAINST}"
    r"|\b\d{1,3}(?:[-:–]| zu )\d{1,3}-?(?:sieg|erfolg|niederlage|heimsieg|auswartssieg) (?:gegen|uber|bei)"
)
"""Before the other side of a match, with its score."""
ANOTHER_MATCH = re.compile(
    r"\b(?:aller|match aller|partido de ida|hinspiel|andata|primeira volta|l'an dernier|ano pasado"
    r"|ano passado"
    r"|anno scorso|vorjahr\w*|saison derniere|temporada pasada|amistos\w+|testspiel\w*|amical|amichevole"
    r"|halbfinale|semifina\w+|demi-finale)\b",
    re.IGNORECASE,
)


def tells_decision(sentence: str) -> bool:
    """Return whether a sentence speaks of a decision as of something taken."""
    match = DECISION.search(sentence)
    if match is None or OPEN.search(sentence):
        return False
    return match["after"] is not None or LATELY.search(sentence) is not None


def is_match_told(sentence: str) -> bool:
    """Return whether a sentence speaks of no match to come, and of no other one."""
    return not (OPEN.search(sentence) or ANOTHER_MATCH.search(sentence))


def tells_abroad(sentence: str, kinds: frozenset[Kind]) -> bool:
    """Return whether a sentence in another language than English tells how such a question ended."""
    if OPEN.search(sentence):
        return False
    for kind in sorted(kinds & OUTCOMES.keys()):
        for match in OUTCOMES[kind].finditer(sentence):
            if not NEGATED.search(sentence, 0, match.start()):
                return True
    return False
