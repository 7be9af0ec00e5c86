"""Whether a sentence starts with a verb in the imperative, as far as its first word tells."""

from __future__ import annotations

import re
from enum import StrEnum


class Form(StrEnum):
    """What the first word of a sentence is."""

    IMPERATIVE = "imperative"
    UNKNOWN = "unknown"
    OTHER = "other"


_VERB_LIST = """
    abort accept access acquire adapt add adjust advance aggregate agree aim alert align allocate allow announce
    annotate answer append apply approve archive arrange ask assert assign assume attach authenticate authorize
    avoid await back bake base batch begin bind block bound branch break bring budget bubble buffer build bump
    cache calculate call cancel cap capture carry cascade cast catch centralize chain change check choose claim
    clamp classify clean clear clone close collapse collect combine commit compare compile complete compose
    compress compute configure confine confirm connect consume contain continue control convert copy correct
    count cover create cut debounce declare decode decouple decorate default defer define delay delete deliver
    deny deploy deprecate derive describe design detach detect determine disable discard dispatch display
    distinguish do document drain draw drive drop emit employ enable encode encrypt end enforce enqueue ensure
    enter enumerate escape establish evict exclude execute exit expect explain expire export expose express
    extend extract fail favor favour feed fence fetch fill filter find finish fix flag flush focus follow forbid
    force format forward freeze generate give grant group guard handle hash have hide hold honor honour hook
    hydrate identify ignore implement import include increment index inherit initialize inject inline insert
    inspect install instrument invalidate invoke isolate issue iterate join judge keep key label lay lazy-load
    leave let level lift limit link lint list listen load lock log look lower make manage map mark mask match
    measure memoize merge migrate minimise minimize mirror mock model monitor mount move multiply name narrow
    negotiate nest normalise normalize note notify offer omit open opt order override own pack paginate
    parameterise parameterize parse partition pass patch paste pause perform persist pick pin pipe place plan
    point poll pool populate position post pre-ping precompute prefer prefetch prefix prepare present preserve
    prevent print probe process produce profile prohibit promise propagate protect prove provide provision prune
    publish pull purge push put query queue quote raise rate-limit read rebuild record redact redirect reduce
    refer refresh refuse register reject release reload rely remove rename render reopen repeat replace
    replicate report request require reserve reset resize resolve respect respond restart restore restrict
    retain retry return reuse reverse revert review revoke rewrite roll rotate round route run sample sanitise
    sanitize save scale scan schedule scope score seal seed select send separate serialise serialize serve set
    shape share ship show shrink shut sign simulate size skip sleep slow snapshot sort specify split stage stamp
    standardise standardize start state stay steer step stop store stream strip structure style subscribe supply
    suppress surface suspend swap switch synchronise synchronize tag take target teach tell terminate test
    throttle throw tie time toggle touch trace track translate treat trigger trim truncate trust try tune turn
    type unmount unsubscribe unwrap update upgrade upload upsert use validate vary verify version wait warm warn
    wire withhold work wrap write yield
"""
_OTHER_WORDS = """
    a an the this that these those it its you your we our they he she i there here all any each every some most
    many no none one both few several such should must may might can could would will shall is are was were be
    been being has had when where while if because since although though as at by for from in into of on over to
    with without and or but so yet how why what which who whose than then also always often usually sometimes
    generally typically ideally simply just only good bad best better new old first second more less
"""
_VERBS = frozenset(_VERB_LIST.split())
_NEVER_A_VERB = frozenset(_OTHER_WORDS.split())
_LEAD = re.compile(r"^(?:(?:do not|don't|never|always|only)\s+)?(?P<word>[A-Za-z]+(?:-[A-Za-z]+)*)", re.IGNORECASE)


def first_word_form(sentence: str) -> Form:
    """Tell an imperative opening from another by a list of verbs and of words that never are one."""
    match = _LEAD.match(sentence)
    if match is None:
        return Form.OTHER
    word = match["word"].casefold()
    if word in _VERBS:
        return Form.IMPERATIVE
    if word in _NEVER_A_VERB or word.endswith(("ing", "tion", "ness", "ment")):
        return Form.OTHER
    return Form.UNKNOWN
