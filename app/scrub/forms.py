"""What feedback must not hold, as patterns.

Time must not grow faster than the text, and a caller chooses the text. So each repetition has an upper bound, but for
one after which nothing more is asked; and a repetition within another gives nothing back (`{1,9}+`), or has one length.
`tests/core/test_scrub_forms.py` holds every pattern to that.
"""

from __future__ import annotations

import re

from app.scrub.checks import (
    MIN_SHORT_RUN,
    iban_end,
    is_address,
    is_card,
    is_cookie,
    is_secret,
    is_seed_phrase,
    is_somebodys_folder,
)
from app.scrub.form import Form, form

# What stands where a secret could, and is code that fetches one or says that there is none.
_CODE_OR_NOTHING = (
    r"(?!(?:none|null|nil|true|false|undefined|required|optional)\b|[a-z_]\w{0,40}+[(\[]"
    r"|(?:[a-z]{1,20}+_){1,4}(?:token|key|secret|password)\b"
    r"|[a-z_]{1,40}+(?:\.[a-z_]{1,40}+){1,5}+(?![\w.])"
    r"|(?:process\.env|os\.environ|os\.getenv|import\.meta)\b|[$<{*]|\.\.\.)"
)
# `USER:PASSWORD@HOST`, `${USER}:${PASSWORD}@`, `user:<password>@`. Nor a port before a path with an @ in it.
_NO_TEMPLATE = (
    r"(?!(?:(?-i:[A-Z_]{1,40}+)|<[^>\s]{0,40}>|\$?\{[^}\s]{0,40}\}|\$\w{1,40}+|\*{1,40}+|pass(?:word)?|secret)@"
    r"|\d{1,5}/)"
)
_VALUE = r"""(?:(?<=')[^'\n]{4,64}'|(?<=")[^"\n]{4,64}"|[^\s"',;]{4,}["']?)"""
# Looked for within a word, as far as anything telling would come.
_WITH_DIGIT = r"(?=\S{0,64}?\d)"
_WITH_LETTER = r"(?=\S{0,64}?[A-Za-z])"
_TELLING = r"(?=\S{0,64}?[0-9!@\#$%^&*])"
_QUOTE, _OPEN = r"""[\\"']{0,2}""", r"""\\?["']?"""
# At the beginning of a word or of a part of a name: `TOKEN`, `csrf_token`.
_WORD = r"(?:\b|(?<=[a-z0-9][_\-]))"
# In names that code has much more often: `_token`, `accessToken`.
_INNER = r"(?:(?<=_)|(?-i:(?<=[a-z])(?=[A-Z])))"
_KEY = (
    r"(?:pwd|secret|auth[_-]?token|token"
    r"|(?:api|access|account|private|secret|shared|signing|encryption|licen[cs]e)[_-]?key)"
)
_CREDENTIAL = rf"(?:password|passwd|passphrase|passwort|kennwort|contrase[\u00f1n]a|senha|{_WORD}{_KEY})"
# Accounts of machines and stand-ins, in the place where a person's name would be.
_NOBODY = (
    r"(?!(?:runner(?:admin)?|node|app|appuser|user(?:name)?|you(?:r\w{0,20}+)?|me|name|root|nonroot|admin|ubuntu|debian|vscode"
    r"|codespace|gitpod|circleci|travis|vsts|vagrant|jovyan|coder|git|www-data|linuxbrew|pi|ec2-user|work(?:space)?"
    r"|shared|public|default|all users|dev|foo|bar|test(?:user)?)(?![\w@\-]|\.\w))"
)
_PAIR = r"""[^\s=;,"']{1,64}+=[^\s;,"']{1,1024}+"""
_BRACKET, _CLOSE = r"\s?[(\[{<]\s?", r"\s?[)\]}>]\s?"

_KEYS = (
    form(
        "private_key",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END )[\s\S])*+"
        r"(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    form("api_key", r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}\b|npm_[0-9A-Za-z]{30,}|kb_(?:live|test)_[0-9A-Za-z_]{6,})"),
    form(
        "api_key",
        r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abcdeprs][\-.]|xapp-|[rs]k_live_|[rs]k_test_|whsec_|shpat_|AIza|ya29\."
        r"|sk-(?:proj|ant|svcacct|admin)-|hv[sbr]\.|lin_api_|figd_|PMAK-|NRAK-|sq0[a-z]{3}-|dckr_pat_|nvapi-|sbp_|sntrys_"
        r"|gsk_|pplx-|tvly-|AGE-SECRET-KEY-)[0-9A-Za-z_\-]{10,}",
    ),
    # These beginnings are also those of names: `sk-learn-contrib`, `npm_config_registry`, `pypi-publish`, `hf_hub`.
    form("api_key", r"\b(?:sk-|pypi-|hf_|do[a-z]_v1_)" + r"(?=[\w\-]{0,64}?\d)[0-9A-Za-z_\-]{16,}"),
    # A short word before a key in hex: `key-`, `dapi`.
    form("api_key", r"\b(?!md5)[A-Za-z]{2,8}[\-_]?(?=[a-f]{0,31}\d)[0-9a-f]{32}\b"),
    # The number says whose it is, what follows proves it.
    form("api_key", r"\b(?:\d{8,12}:|[\w\-]{8,16}:APA)[A-Za-z0-9][0-9A-Za-z_\-]{32,}"),
    form("api_key", r"\bSG\.[0-9A-Za-z_\-]{16,64}\.[0-9A-Za-z_\-]{16,}"),
    form("token", r"\beyJ[0-9A-Za-z_\-]{8,1024}+\.[0-9A-Za-z_\-]{8,}(?:\.[0-9A-Za-z_\-]*)?"),
    form(
        "token",
        r"(?<![\w\-])(?=\w{0,64}?\d)(?=\w{0,64}?[A-Z])\w{14,99}+\.(?:[a-z]{1,9}v\d\.)?(?=[\w\-]{0,64}?\d)[\w\-]{40,}",
    ),
    form(
        "token",
        r"(?<![\w\-])(?=[\w\-]{0,64}?\d)(?=[\w\-]{0,64}?[A-Z])[\w\-]{20,99}+\.[\w\-]{6,99}+\."
        r"(?=[\w\-]{0,64}?\d)[\w\-]{20,}",
    ),
    # Whoever knows such an address may write to the channel behind it.
    form(
        "webhook",
        r"(?:(?<=hooks\.slack\.com/)|(?<=/api/webhooks/)|(?<=webhook\.office\.com/))" + _WITH_DIGIT + r"[^\s\"'`]{20,}",
    ),
    form(
        "token",
        r"(?i)[?&](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token))=(?P<it>"
        r"(?=[^\s&]{0,64}?\d)[^\s&\"'#<{$]{8,})",
    ),
)
_PASSWORDS = (
    # A password that is given to a database's client without a blank; not `-p 5432` or `-p8080:80`.
    form("password", r"(?<=\s-p)(?!\d{1,6}[:/])" + _WITH_DIGIT + _WITH_LETTER + r"[^\s\"'=]{6,}"),
    form("password", r"\bsshpass\s{1,2}-p\s?[\"']?(?P<it>(?![$<])[^\s\"']{4,})"),
    form(
        "password",
        r"\b(?:login|mysql\w{0,8}|psql|mongo\w{0,4})\b[^\n]{0,80}?\s-p\s[\"']?(?P<it>"
        + _WITH_DIGIT
        + _WITH_LETTER
        + r"[^\s\"'=:]{5,})",
    ),
    form("password", r"\blogin\s{1,2}\S{1,64}+\s{1,2}password\s{1,2}(?P<it>(?![$<{%])\S{4,})"),
    # As an option. Owners of containers are `-u 1000:1000` and `-u node:node`.
    form(
        "password",
        r"(?i)(?<![\w\-])--(?:[a-z]{1,12}+-){0,2}(?:password|passwd|passphrase|pass|token|secret|api-?key)"
        r"(?:=|\s{1,2})[\"']?(?P<it>(?![-/])" + _CODE_OR_NOTHING + _TELLING + _WITH_LETTER + r"[^\s\"',;]{4,})",
    ),
    form(
        "password",
        r"(?<![\w\-])(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$<{]{1,64}+:(?!//)(?P<it>"
        + _TELLING
        + _WITH_LETTER
        + r"[^\s\"'$<{]{3,})",
    ),
    form(
        "credentials",
        r"(?i)\b[a-z][a-z0-9+.\-]{1,20}+://[^\s/:@]{0,128}+:" + _NO_TEMPLATE + r"[^\s@]{1,128}+@\S*",
    ),
    # "Basic authentication" and "bearer authorization-header" are words.
    form(
        "credentials",
        r"\b(?i:basic|bearer)\s{1,4}(?=\S{0,64}?(?:\d|=|[a-z][A-Z]))[0-9A-Za-z+/=_.\-]{12,}",
    ),
    form(
        "credentials",
        r"(?i)\bauthorization" + _QUOTE + r"(?::\s{0,3}|=[\"'])" + _QUOTE + r"(?:[a-z\-]{2,20}\s{1,2})?(?P<it>"
        r"(?=\S{0,64}?[0-9=])[0-9a-z+/=_.\-~%]{8,})",
    ),
    form(
        "cookie", rf"(?i)\b(?:set-)?cookie{_QUOTE}:\s{{0,3}}{_QUOTE}(?P<it>{_PAIR}(?:;\s?{_PAIR}){{0,20}}+)", is_cookie
    ),
    form(
        "cookie",
        r"(?i)\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|laravel_session|sessionid|session_token|sid)="
        r"(?P<it>" + _WITH_DIGIT + r"[^\s;,\"'&<{$]{8,})",
    ),
    form(
        "password",
        rf"(?i){_INNER}{_KEY}{_QUOTE}\s{{0,4}}[:=]\s{{0,4}}{_OPEN}{_CODE_OR_NOTHING}{_WITH_DIGIT}{_WITH_LETTER}{_VALUE}",
    ),
    form(
        "password",
        rf"(?i){_CREDENTIAL}{_QUOTE}\s{{0,4}}(?:=|:\s{{0,4}}{_QUOTE}{_TELLING})\s{{0,4}}{_OPEN}{_CODE_OR_NOTHING}{_VALUE}",
    ),
    form(
        "password",
        rf"(?i)passphrase{_QUOTE}\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}(?:[a-z]{{2,20}}+[\-_.]){{1,11}}[a-z]{{2,20}}",
    ),
    # "pass: 3, fail: 2" is no password.
    form(
        "password",
        rf"(?i){_WORD}(?:(?:pw|creds)\s{{0,2}}[:=]|pass(?:[\"']\s{{0,2}}:|=))\s{{0,2}}{_OPEN}(?P<it>{_CODE_OR_NOTHING}"
        rf"{_WITH_DIGIT}{_WITH_LETTER}[^\s\"',;]{{5,}})",
    ),
    form(
        "password",
        r"(?i)\b(?:password|passphrase|pwd)\s{1,4}(?:is|was)\s{1,4}[\"'`]?(?=[a-z]\S{0,64}?\d)[^\s\"'`,;]{6,}",
    ),
    form(
        "credentials",
        r"\b(?:[Uu]ser(?:name)?|[Ll]ogin|log in|[Cc]red(?:ential)?s|with|as)[\s:=]{1,2}(?P<it>[\w.@\-]{2,40} ?/ ?"
        + _WITH_DIGIT
        + r"(?=\S{0,64}?[!@#$%^&*?+=])[^\s/,;\"']{6,40}+)(?!/)",
    ),
    form(
        "seed_phrase",
        r"(?i)\b(?:seed|recovery|backup|mnemonic|wallet) (?:phrase|words?|mnemonic)\b(?: is| was)?\W{1,3}(?P<it>"
        r"(?:[a-z]{3,8}+[ ,]{1,2}+){11,23}[a-z]{3,8})",
        is_seed_phrase,
    ),
    form(
        "code",
        r"(?i)\b(?:otp|2fa|mfa|backup|recovery|verification|one-time) codes?\b\W{0,3}(?:is|are|was|were)?\W{0,3}(?P<it>"
        r"\d{4,8}(?:[ \-]\d{3,6})?(?:(?:, | and | or )\d{4,8}+(?:[ \-]\d{3,6}+)?){0,11})(?![\w.])",
    ),
)
_PEOPLE = (
    Form(
        "iban",
        re.compile(r"(?ai)(?<![\w.\-])[A-Z]{2}\d{2}(?:[ \-]?[A-Z0-9]{4}){2,7}(?:[ \-]?[A-Z0-9]{1,4})?(?!\w)"),
        iban_end,
    ),
    # Not `/home` of a web site, nor `/users` of its interface.
    form(
        "user",
        rf"(?i)(?:(?<=/home/)(?<![\w.\-]/home/)|(?<=/var/home/)|(?-i:(?<=/Users/))){_NOBODY}[\w.\-@]{{0,63}}\w",
        is_somebodys_folder,
    ),
    form(
        "user",
        rf"(?i)(?:(?<=:[/\\]Users[/\\])|(?<=:\\\\Users\\\\)){_NOBODY}"
        r"(?:[^\s/\\:*?\"<>|$%{][^/\\:*?\"<>|\n]{0,40}(?=[/\\])|[\w.\-]{0,40}\w(?-i: [A-Z][a-z]{1,20})?)",
        is_somebodys_folder,
    ),
    form("user", r"(?<![\w.@/\-])(?!git@)[\w.\-]{1,32}+@[\w.\-]{1,63}+(?=:~)"),
    # Not `react@18.2.0`, `icon@2x.png` or the user everybody clones as.
    form(
        "email",
        r"(?<![\w.+\-])(?!git@git)[\w.+\-]{1,64}+@(?:[\w\-]{1,63}+\.){1,8}(?!(?:png|jpe?g|gif|svg|webp)\b)"
        r"[^\W\d_][\w\-]{1,62}\b",
    ),
    form(
        "email",
        rf"(?i)(?<![\w.+\-])[\w.+\-]{{1,64}}+{_BRACKET}at{_CLOSE}[\w\-]{{1,63}}+"
        rf"(?:(?:\.|{_BRACKET}dot{_CLOSE})[\w\-]{{2,63}}+){{1,5}}",
    ),
    form("phone", r"(?<![\w.])\+\d{1,3}[\s().\-]{0,3}\d(?:[\s().\-]{0,3}+\d){6,12}(?![\w.])"),
    # Area and exchange begin with 2 to 9 there.
    form("phone", r"(?<![\w.\-])(?:\([2-9]\d{2}\)[ .\-]?|[2-9]\d{2}[.\-])[2-9]\d{2}[.\-]\d{4}(?![\w\-]|\.\d)"),
    # Numbers with blanks are anything, unless it is said what they are.
    form(
        "phone",
        r"(?i)\b(?:tele)?(?:phone|fax|mobile|cell|whatsapp|tel\.?)(?: number)?(?: is)?\s{0,3}[:=]?\s{0,3}"
        r"\(?\d(?:[\s()./\-]{0,2}+\d){8,12}(?![\w.])",
    ),
    form(
        "phone",
        r"(?i)\b(?:call|ring|text|reach)(?: me| us| him| her)?(?: at| on)?\s{1,2}(?P<it>"
        r"\(?0\d{1,4}\)?[ /\-]?\d{3,5}[ \-]?\d{3,6})(?![\w.])",
    ),
    form("phone", r"(?<![\w.:\-])00 ?[1-9]\d{1,2}[ \-/]\(?\d{2,4}\)?[ \-/]\d{4,8}(?![\w.])"),
    form("address", r"(?<![\w:\-])(?:[0-9A-Fa-f]{2}[:\-]){5}[0-9A-Fa-f]{2}(?![\w:\-])"),
    form(
        "address",
        r"(?<![\w.])(?=[0-9a-f.]{0,14}?\d)(?=[0-9a-f.]{0,14}?[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
    ),
    form(
        "street",
        r"(?<![\w.\-])(?:\d{1,5}[a-z]? (?:[A-Z][a-z]{1,20}+ ){1,3}(?:Street|Avenue|Road|Lane|Boulevard)\b"
        r"|[A-Z\u00c4\u00d6\u00dc][a-z\u00e4\u00f6\u00fc\u00df]{2,30}(?:stra(?:ss|\u00df)e|str\.) \d{1,4}[a-z]?\b)",
    ),
    form(
        "birth_date",
        r"(?i)\b(?:born(?: on)?|dob|date of birth|birthday)\W{1,3}(?P<it>\d{1,4}[\-./]\d{1,2}[\-./]\d{1,4})(?!\w)",
    ),
    form("national_id", r"(?<![\w\-])\d{3}-\d{2}-\d{4}(?![\w\-]|\.\d)"),
    # Three numbers with blanks between them are anything, unless it is said what they are.
    form("national_id", r"(?i)\b(?:ssn|social security)\b[^\d\n]{0,20}\d{3} ?\d{2} ?\d{4}\b"),
    form(
        "national_id",
        r"(?i)\b(?:passport|driver'?s licen[cs]e|driving licen[cs]e|national insurance|tax id|steuer-?id)"
        r"(?: (?:number|no|nr)\.?)?(?: is)?\W{1,3}"
        r"(?P<it>(?-i:(?=[A-Z0-9 ]{0,13}?\d)[A-Z0-9]{1,3}[A-Z0-9 ]{4,10}[A-Z0-9]))\b",
    ),
)
_NUMBERS = (
    form(
        "card",
        r"(?<![\w.])(?<!\w-)(?:\d{13,19}|\d{4}(?:[ \u00a0\u2010-\u2013\-]\d{2,7}+){2,4})(?!\w|[.\-]\d)",
        is_card,
    ),
    form("card", r"(?i)\b(?:cvv2?|cvc2?)\b\W{0,3}(?:is|was)?\W{0,3}(?P<it>\d{3,4})(?!\w)"),
    form(
        "address",
        r"(?<![\w.:])(?:(?:::(?:[Ff]{4}:)?)?\d{1,3}(?:\.\d{1,3}+){3}"
        r"(?!\w|\.\d|-(?:alpha|beta|rc|dev|pre|snapshot))|"
        r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}+){2,7}(?![\w:]|\.\d))",
        is_address,
    ),
    form("secret", rf"[0-9A-Za-z+/=_\-]{{{MIN_SHORT_RUN},}}", is_secret),
)
# In this order: what a longer form explains is not taken for a shorter one.
FORMS = (*_KEYS, *_PASSWORDS, *_PEOPLE, *_NUMBERS)
