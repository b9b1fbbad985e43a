"""Names of months as people write them, and the number of each.

English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Polish. No word stands for two months,
so that no language has to be named.
"""

_LONG = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november desember
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień
jänner fevrier maerz april mai juin juillet aout setiembre octobre novembre decembre
"""
_SHORT = """
jan feb mar apr may jun jul aug sep oct nov dec
jan feb mär apr mai juni juli aug sept okt nov dez
janv févr mars avr mai juin juil août sept oct nov déc
ene febr march abr may june july ago set out nov dic
gen fev märz apr mag giu lug agosto sept ott nov dec
jän fevr mrt avr mei jun juill aout sep okt nov des
sty lut maerz kwi maj cze lip sie wrz paź lis gru
"""


def _numbers(names: str) -> dict[str, int]:
    return {word: number for line in names.split("\n") for number, word in enumerate(line.split(), 1)}


LONG, SHORT = _numbers(_LONG), _numbers(_SHORT)
NUMBERS = LONG | SHORT
ENGLISH = frozenset(_LONG.split()[:12] + _SHORT.split()[:12])
JOINING = frozenset({"de", "del", "of", "年", "月", "日", "년", "월", "일"})  # 14 de febrero de 2020, 2020年2月14日
