"""What countries, institutions, prizes and things are called in other languages. Pure.

The words bear no accents; those after an English name are Spanish, French, German, Portuguese and Italian.
"""

import re
from collections.abc import Iterable

_NAMES = """
Brazil: Brasil Bresil Brasilien Brasile
Germany: Alemania Allemagne Deutschland Alemanha Germania
France: Francia Frankreich Franca
Spain: Espana Espagne Spanien Espanha Spagna
Italy: Italia Italie Italien
Japan: Japon Japao Giappone
Poland: Polonia Pologne Polen
Turkey: Turquia Turquie Turkei Turchia
Mexico: Mexique Mexiko Messico
Netherlands: Holanda Hollande Niederlande Paises_Bajos Pays-Bas Paesi_Bassi
Switzerland: Suiza Suisse Schweiz Suica Svizzera
Austria: Autriche Osterreich
Hungary: Hungria Hongrie Ungarn Ungheria
Greece: Grecia Grece Griechenland
Sweden: Suecia Suede Schweden Svezia
Norway: Noruega Norvege Norwegen Norvegia
Denmark: Dinamarca Danemark Danimarca
Finland: Finlandia Finlande Finnland
Russia: Rusia Russie Russland
Ukraine: Ucrania Ucraina
United States: Estados_Unidos Etats-Unis EE.UU. Stati_Uniti
United Kingdom: Reino_Unido Royaume-Uni Grossbritannien Regno_Unito
Argentina: Argentine Argentinien
Colombia: Colombie Kolumbien
Chile: Chili Cile
Peru: Perou
Canada: Kanada
Egypt: Egipto Egypte Agypten Egito Egitto
South Korea: Corea_del_Sur Coree_du_Sud Sudkorea Coreia_do_Sul Corea_del_Sud
Morocco: Marruecos Maroc Marokko Marrocos Marocco
Belgium: Belgica Belgique Belgien Belgio
Ireland: Irlanda Irlande Irland
French: France Francia Frankreich Franca francais francaise frances francesa francese
French: franzosische franzosischen Frankreichs
German: Germany Alemania Allemagne Deutschland Alemanha Germania aleman alemana allemand
German: allemande deutsche deutschen alemao alema tedesco tedesca
Italian: Italy Italia Italie Italien italiano italiana italien italienne italienische italienischen
Spanish: Spain Espana Espagne Spanien Espanha Spagna espanol espanola espagnol espagnole
Spanish: spanische spanischen espanhol espanhola spagnolo spagnola
British: Britain britanico britanica britannique britische britischen britannico britannica
Brazilian: Brazil Brasil Bresil Brasilien Brasile brasileno brasilena bresilien bresilienne
Brazilian: brasilianische brasileiro brasileira brasiliano brasiliana
Portuguese: Portugal portugues portuguesa portugais portugaise portugiesische portoghese
Japanese: Japan japones japonesa japonais japonaise japanische giapponese
French: Elysee Matignon Paris
German: Kanzleramt Berlin
Italian: Palazzo_Chigi Quirinale
Spanish: Moncloa Madrid
Brazilian: Planalto
British: Downing_Street Westminster
United Kingdom: Downing_Street Westminster
United States: White_House Capitol_Hill Washington
Senate: senators senateurs senadores senatori
Parliament: lawmakers MPs parlamentarier parlementaires parlamentarios
Congress: lawmakers Congreso Congresso Congres Kongress
National Assembly: deputies deputes diputados deputati
Bundestag: Abgeordnete Abgeordneten
House of Commons: MPs
Senate: Senat Senado Senato chambre_haute camara_alta
Supreme Court: Tribunal_Supremo Corte_Suprema Cour_supreme Oberstes_Gericht Supremo_Tribunal Cassazione
Constitutional Court: Tribunal_Constitucional Corte_Constitucional Conseil_constitutionnel
Constitutional Court: Bundesverfassungsgericht Corte_costituzionale
Chamber of Deputies: Camara_de_Diputados Camara_dos_Deputados Chambre_des_deputes Abgeordnetenkammer
Chamber of Deputies: Camera_dei_deputati
Copom: Banco_Central
Selic: juros
Banxico: Banco_de_Mexico
National Assembly: Asamblea_Nacional Assemblee_nationale Nationalversammlung
National Assembly: Assembleia_Nacional Assemblea_nazionale
Venice: Venecia Venise Venedig Veneza Venezia
Milan: Milano Mailand
Naples: Napoli Neapel Napoles
Turin: Torino
Lisbon: Lisboa Lisbonne Lissabon Lisbona
Marseille: Marsella Marsiglia Marselha
Paris: Parigi
Brussels: Bruselas Bruxelles Brussel Bruxelas
Warsaw: Varsovia Varsovie Warschau Varsavia
London: Londres Londra
Munich: Munchen Monaco_di_Baviera
Vienna: Viena Vienne Wien
Rome: Roma Rom
Barcelona: Barca Barcelone Barcellona
Bayern Munich: Bayern
European Central Bank: BCE EZB
Federal Reserve: Reserva_Federal Reserve_federale
Bank of England: Banco_de_Inglaterra Banque_d'Angleterre Bank_von_England Banco_da_Inglaterra
Bank of Japan: Banco_de_Japon Banque_du_Japon Bank_von_Japan Banco_do_Japao
Swiss National Bank: SNB BNS Nationalbank Banca_nazionale_svizzera Banque_nationale_suisse
Swiss National Bank: Banco_Nacional_Suizo
European Union: UE EU Union_Europea Union_europeenne
Bundestag: Parlament
Budget: Presupuesto Presupuestos Orcamento Haushalt Bundeshaushalt Bilancio loi_de_finances
Nobel Prize: Nobelpreis Nobel
Golden Lion: Leon_de_Oro Lion_d'or Lowen Leao_de_Ouro Leone_d'oro
Golden Bear: Oso_de_Oro Ours_d'or Baren Urso_de_Ouro Orso_d'oro
Palme d'Or: Palma_de_Oro Palma_de_Ouro Palma_d'oro Goldene_Palme Goldenen_Palme Croisette
World Cup: Mundial Coupe_du_monde Weltmeisterschaft Copa_do_Mundo Mondiale
Champions League: Liga_de_Campeones Ligue_des_champions Liga_dos_Campeoes
"""
EXONYMS = dict[str, list[str]]()
"""By an English name in small letters, its names abroad."""
for _line in _NAMES.strip().splitlines():
    _name, _ways = _line.split(": ")
    EXONYMS.setdefault(_name.casefold(), []).extend(way.replace("_", " ") for way in _ways.split())

_WORDS = (
    (r"pension\w*", r"renten?\w*|pension\w*|pensoes|pensao|retraites?|previdencia"),
    (r"budget", r"presupuest\w+|orcament\w+|haushalt\w*|etat|bilancio|finanziaria|manovra"),
    (
        r"parliament|assembly|senate|congress",
        r"parlament\w*|parlement|asamblea|assemblee|assembleia|senat\w*",
    ),
    (r"airport", r"aeropuerto|aeroport\w*|flughafen|scalo|pistas?"),
    (
        r"elections?",
        r"eleccion\w*|elections?|wahl(?:en)?|eleic\w+|elezion\w*|ballottaggio|ballottage|stichwahl",
    ),
    (r"turnout", r"participaci?[oa]\w*|wahlbeteiligung|affluenza|comparecimento|abst\w+|asten\w+"),
    (r"rates?|bps|funds", r"rates?|zins\w*|leitzins\w*|taux|tasas?|tipos|juros|selic|tass[oi]"),
    (r"strike", r"huelga|greve|streik\w*|sciopero"),
    (r"president|presidential", r"president\w*|prasident\w*|presiden[cz]\w+"),
    (r"eruption", r"erupcion|ausbruch|erupcao|eruzione|ceniza|cendres?|asche|cinzas?|cenere"),
    (r"bill|law|act|reform", r"ley|loi|gesetz\w*|lei|legge|reform\w*"),
    (r"temperature", r"temperatur\w*|grados|degres|grad|graus|gradi"),
    (r"gold", r"oro|or|ouro"),
    (r"silver", r"plata|argent|silber|prata|argento"),
    (r"oil|crude", r"petroleo|petrole|rohol|olpreis\w*|petrolio|greggio|crudo"),
    (r"hurricane", r"huracan|ouragan|hurrikan|furacao|uragano"),
)
_ABROAD = [(re.compile(words, re.IGNORECASE), ways) for words, ways in _WORDS]


def names_abroad(ways: Iterable[str]) -> list[str]:
    """Return what is named in these English ways in other languages.

    >>> names_abroad(["Germany"])[2]
    'Deutschland'
    """
    abroad = []
    for way in ways:
        text = way.casefold()
        for name, exonyms in EXONYMS.items():
            # one word counts at the end only, several anywhere
            if f" {text}".endswith(f" {name}") or (" " in name and name in text):
                abroad += exonyms
    return abroad


def words_abroad(question: str) -> list[str]:
    """Return patterns of the words of a question in other languages, one for each of its things."""
    question_words = set(re.findall(r"[a-z]+", question.casefold()))
    return [
        rf"\b(?:{foreign_words})\b"
        for english, foreign_words in _ABROAD
        if any(map(english.fullmatch, question_words))
    ]
