"""Tokens that say little about a topic. They are indexed and found like all others; they only weigh less."""

from __future__ import annotations

from dolmen.domain.text.stem import stem

_ENGLISH = (
    "a an and any are as at be because been being but by can could did do does doing dont didnt doesnt isnt arent "
    "wasnt cant wont for from had has have having he her here him his how i if in into is it its just me more most "
    "my no not of off on once only or other our out over own same she should so some such than that the their them "
    "then there these they this those to too under until up us very was we were what when where which while who "
    "whom whose why will with would you your about after again all also before between both each few know known knows "
    "tell tells told please anything everything something"
)
_PARTICLES = (
    "은 는 이 가 을 를 의 에 도 로 와 과 만 나 랑 에서 에게 으로 까지 부터 보다 처럼 에는 에도 이나 이라 하고 이랑 "
    "로는 라는 이라는 에서는 에서도 으로는 이고 라고 이라고 입니다 이다 이며 이면 인지 인가 든 이든 들 들은 들이 "
    "들을 들의 에만 만을 만이 로도 으로도 와의 과의 에의 까지는 부터는 한테 께 께서 마다 조차 밖에"
)
_ENDINGS = (
    "한다 이다 하는 에서 으로 하고 있다 없다 는다 된다 했다 였다 었다 하지 하기 해서 있는 없는 되는 라고 이라 라는 "
    "에는 에도 까지 부터 처럼 보다 에게 하면 되면 하며 이며 무엇 언제 어디 어떻 떻게 누가 누구 어느 어떤 무슨 인가 "
    "일까 는가 은가 할까 나요 가요 니까 습니 니다 입니 까요 어야 해야 야지 거나 지만 는데 은데 던가 였나 했나 인지 "
    "는지 은지 뭐야 뭔가 뭐지 이지 지는 지를 것은 것이 것을 그것 우리 이런 그런 대해 대한 위해 위한 통해 따라 관한 "
    "있어 있나 있을 있지 려면 으면 하려 했어 했지 었어 았어 였어 됐어 돼야 면서 을까 를까 "
    "수 안 못 왜 뭐 뭘 몇 해 돼 좀 더 걸 거"
)

FUNCTION_WORDS = frozenset(word for form in _ENGLISH.split() for word in (form, stem(form)))
"""English function words, as word tokens."""
PARTICLES = frozenset(_PARTICLES.split())
"""Korean particles and copulas that stick to a Latin word or a number (`API는`, `3월에서`)."""
ENDINGS = frozenset(_ENDINGS.split())
"""Bigrams and single syllables of Korean endings, particles, question and helping words."""
