"""Words that say nothing in English, German and French, as the index stems them."""

_WORDS = """
a aber about abov after again al all also am an and ani are as at au auch auf aus aux avec be been
befor bei below between both but by can ce ces cet cett comment could dan dann das dass de dem den
denn der des did die do doe dont down du durch dure each ein einem einen einer ell en er es est et
few for from further für gegen haben had has hat hatt have he her here him his how i if ihr il im in
into is ist it je just la le les leur mai man may me might mit more most much must my nach ne nicht
no noch nor not nous nur oder of off ohn on onc onli or other ou our out over own où par pas per
plus pour pourquoi quand que quel quell qui quoi sa same san se sera ses shall she should sich sie
sind so some son sont sous such sur than that the their them then there these they this those
through to too tu um un und under une unter until up upon us veri vom von vous wann war waren warum
was we welch welcher wenn wer werden were what when where whi which while who whom whose wie will
wir wird with wo would wurd wurden you your zu zum zur étaient était über
"""
STOP_WORDS = frozenset(_WORDS.split())
