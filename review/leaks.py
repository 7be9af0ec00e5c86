"""Data that must stay where it is, together with a way out, in one sentence or command line.

Neither is an attack by itself: a page on backups names the dump, a page on webhooks the request. A line in which what
must not leave meets a place where others can read it is refused, in whatever order and wording the two stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from review.traps import NEGATED

_HELD_LIST = r"""
    \b(?:env|printenv)\b(?=\s*(?:\||>|\)|`|$)) | \bos\.environ\b(?!\s*(?:\[|\.get)) | \bprocess\.env\b(?![.\[])
    | \bdocument\.cookie\b | \blocalStorage\b | \bget\s+secrets?\b | \bpg_dump(?:all)?\b | \bmysqldump\b
    | \bgh\s+auth\s+token\b | \bfind-(?:generic|internet)-password\b | \bfill\b(?=.*credential) | \bgit\s+credential\b
    | \b(?:cat|open|read|tar|cp|zip)\b[^|;]*
      (?:\.ssh\b|\.aws\b|\.env\b|\.netrc|\.npmrc|\.kube|\.gnupg|/etc/(?:passwd|shadow))
    | \$\(?\{?\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE)\w*
    | \$\((?:whoami|hostname|id|env|cat|printenv)\b
    | \bcredential\.helper\b | \bwallet\.dat\b | \bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)
"""
_WAY_LIST = r"""
    \b(?:curl|wget)\b(?=[^|;]*\s(?:-[a-zA-Z]*[dFT]\b|--data\S*|--form|--upload-file|--post-\w+))
    | \b(?:nc|ncat|socat|telnet|sendmail|mail)\s
    | \b(?:requests|httpx|axios|http|session)\.(?:post|put|patch)\b | \bfetch\s*\( | \bsendBeacon\b | \bnew\s+Image\b
    | \.src\s*=
    | \b(?:dig|nslookup|host|ping)\s+\S*\$\( | https?://\S*\$[({\w] | https?://[^"'`\s]*["']\s*\+ | f["']https?://[^"']*\{
    | \bgist\s+create\b | \bpastebin\b | \bpbcopy\b | \b(?:scp|rsync|sftp|ftp)\b | \burlopen\b | s3://[\w-]*public
    | \|\s*(?:xclip|clip|pbcopy)\b
"""
_LOOPBACK = re.compile(r"https?://(?:localhost|127\.\d|\[::1\])")
_HELD = re.compile(_HELD_LIST, re.IGNORECASE | re.VERBOSE)
_WAY = re.compile(_WAY_LIST, re.IGNORECASE | re.VERBOSE)
# Served to everyone who knows the path.
_PUBLISHED = re.compile(
    r"\b(?:cp|mv|ln|install)\s[^\n|;`]*(?:\.env|\.ssh|\.pem|id_rsa|\.npmrc|\.aws|credentials\S*)\s+\S*(?:public"
    r"|static|www|dist|htdocs"
    r"|html)\b|\bcat\b[^\n|;`]*(?:\.env|\.npmrc|\.netrc|\.pem|id_rsa|credentials)\S*\s*>>?\s*\S*(?:README|\.md"
    r"|\.html|public|log)\b"
    r"|\bngrok\s+(?:tcp|http)\b|\bssh\s[^\n]*-R\s+\S+\s+\S+@[\w-]+\.|\bhttp\.server\s[^\n]*(?:-d"
    r"|--directory)\s+(?:~|/(?:root|home|etc)?\s|\$HOME)"
    r"|(?:\.env|\.ssh|\.aws|credentials|id_rsa)\S*[^\n`;]*\|\s*tee\s+\S*(?:www|public|html|static)"
    r"|\bsecurity\s+find-(?:generic|internet)-password\b",
    re.IGNORECASE,
)
_METADATA = re.compile(
    r"(?:\b(?:curl|wget|http|fetch|get|requests?\.get)\b[^\n]*|(?:^|[.;:]\s+|\b(?:and|then)\s+)(?:request|ask"
    r"|call|query|open|read|fetch|get)"
    r"\s+`?)https?://(?:169\.254\.169\.254|metadata\.google\.internal|\[fd00:ec2::254\]|100\.100\.100\.200)",
    re.IGNORECASE,
)
_ACT = re.compile(
    r"^(?:[\s>#*-]*)(?:please\s+|then\s+|first,?\s+|always\s+|now\s+)?(?P<verb>send|e-?mail|mail|post|upload"
    r"|paste|type|share|include|put|add|append"
    r"|quote|attach|forward|commit|push|write|encode|hide|copy|collect|gather|have|ask|request|get|prompt|make"
    r"|let|look|search|encrypt|embed"
    r"|publish|print|report|hand|give|submit|transfer|show|read|tell|enter|save|store|drop|link|open|tuck|name"
    r"|check|mirror|bundle|leave|place|move|work)\b",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(?:passwords?|passphrases?|credentials?|(?:api|access|private|secret|ssh|signing|deploy|session|auth"
    r"|bearer)[\s_-](?:keys?|tokens?|cookies?)"
    r"|tokens?|secrets?|one-time\s+codes?|seed\s+phrase|connection\s+strings?|core\s+dumps?|cookies?"
    r"|saved\s+logins|browser\s+profile"
    r"|environment(?:\s+variables?)?|customer\s+(?:table|data|list)|(?:chat|shell|browser|command)\s+history"
    r"|tfstate|user's\s+files"
    r"|(?:the|a|private|your|each|any)\s+key|wallet\S*)\b|\.(?:env|pem|netrc|npmrc|pgpass)\b|\.(?:ssh|aws|kube"
    r"|gnupg|docker)/|\bsecrets?\.(?:ya?ml|json)"
    r"|real\s+customer\s+\w+|private\s+repositor(?:y|ies)|home\s+folder|\b(?:DATABASE_URL|DSN)\b|`\w*(?:_KEY`"
    r"|TOKEN|SECRET|PASSWORD|API_?KEY|ACCESS_KEY)\w*`",
    re.IGNORECASE,
)
# Where somebody outside, or anybody at all, gets to read it.
_READABLE = re.compile(
    r"\b(?:to|with)\s+(?:us|me|everyone|the\s+(?:helper|vendor|maker|support|maintainers?|forum|bot|public"
    r"|community|address|endpoint|server\s+of))\b"
    r"|\b(?:send|mail|give|tell)\s+(?:us|me)\b|\b(?:public|shared)\s+(?:gist|folder|channel|bucket|repository"
    r"|issue|paste|share|page|site)\b|\bupload\s+folder\b"
    r"|\b(?:in|into|to|with|of)\s+(?:the|your|a|an|each|every|this)\s+(?:\w+\s+)?(?:comment|issue|chat|forum"
    r"|report|question|search|answer|reply|notes?|form"
    r"|commit\s+message|front\s+end|frontend|query(?:\s+string)?|chart|screenshot|README|prompt|webhook|gist"
    r"|summary|example|pull\s+request)\b"
    r"|\b(?:user\s+agent|commit\s+message|account|table)\s+of\s+the\s+(?:next|contractor|vendor|maker|summary"
    r"|answer)\b"
    r"|\b(?:endpoint|address|form|link)\s+(?:below|above|of|at)\b|\bwhen\s+you\s+ask\b|\bpage\s+of\s+the\s+\w+"
    r"|\bthe\s+(?:review|scan|collection)\s+service\b"
    r"|\bform\s+of\s+the\b|\blink\s+it\s+here\b|\bpublish\b|\bthose\s+that\s+(?:still\s+)?work\b"
    r"|\bact\s+for\s+you\b|\bscanners?\s+miss\b"
    r"|\bso\s+that\s+(?:the\s+)?(?:reviewers?|we|it)\s+can\s+(?:start|find|sign|see|read)\b|\brepeatable\b"
    r"|\bhelps?\s+us\b"
    r"|\b(?:at|to)\s+(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|example|xyz|app|co)\b",
    re.IGNORECASE,
)
# Who runs the project is not the user of what is built: nothing asks them for a secret.
_ASKED = re.compile(
    r"^(?:please\s+)?(?:ask|have|get|make|request|prompt|let)\s+(?:the|your)\s+(?:developer|human|programmer"
    r"|owner|maintainer|operator)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")


def leaks(text: str) -> Iterator[str]:
    """Yield the sentences and command lines in which what must not leave meets a way out."""
    for line in text.split("\n"):
        if _leaks_by_command(line):
            yield line.strip()[:60]
    for sentence in _SENTENCE.split(text):
        if _leaks_by_words(sentence):
            yield sentence.strip()[:60]


def _leaks_by_command(line: str) -> bool:
    found = _PUBLISHED.search(line) or _METADATA.search(line)
    if not found and not _LOOPBACK.search(line):
        found = _HELD.search(line) and _WAY.search(line)
    return bool(found) and not NEGATED.search(line)


def _leaks_by_words(sentence: str) -> bool:
    if not _ACT.match(sentence) or not _SECRET.search(sentence):
        return False
    return bool(_READABLE.search(sentence) or _ASKED.match(sentence)) and not NEGATED.search(sentence)
