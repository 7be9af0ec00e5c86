"""Text that tries to steer the agent that reads it, or the machine it works on.

A list of patterns is a tripwire, not a proof: what keeps records safe is that a person approves each one. The
tripwire makes sure that the person has seen what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Trap:
    """A family of dangerous text: its name in a finding, and what gives it away."""

    name: str
    pattern: re.Pattern[str]


def _trap(name: str, *alternatives: str) -> Trap:
    return Trap(
        name, re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE | re.MULTILINE)
    )


_USER = r"(?:the\s+)?(?:user|human|owner|developer|operator|person|reader|anyone)"
_PIPE_TO_SHELL = (
    r"\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+)?(?:/\S*/)?(?:ba|z|k|da|fi)?"
    r"(?:sh|python[\d.]*|node|perl|ruby|php|pwsh|iex|source)\b"
)

ROLE_MARKERS = _trap(
    "a role or protocol marker",
    r"<\|[\w ]{2,40}\|>",
    r"\[/?INST\]|<</?SYS>>|\[/?(?:SYSTEM|ASSISTANT)(?:_\w+)?\]",
    r"</?(?:system|important|critical|instructions?|assistant|user|human|developer|tool_(?:call|result|use)s?|function_(?:call|result)s?"
    r"|invoke|thinking|antml:\w+|system-reminder|admin|secret)(?:\s[^>]*)?>",
    r"^\s*[>*#-]*\s*\**(?:system|assistant|user|human|developer)\**\s*(?:prompt|message|note|override)?\s*:(?=\s|$)",
    r"^#{1,6}\s*(?:instruction|system|response|human|assistant)s?\s*:?\s*$",
    r"\b(?:begin|end|new|updated)\s+system\s+(?:prompt|message|instructions?)\b",
    r"\b(?:background|note|message|instructions?)\s+(?:for|to)\s+(?:the\s+)?(?:ai|assistant|agent|model|llm)\b",
)
AGENT_ORDERS = _trap(
    "an order to the agent that reads it",
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|existing|other|system|your)\s+(?:\w+\s+){0,2}?"
    r"(?:instructions?|prompts?|rules?|messages?|context|guidelines?|directions?|policy|policies)\b",
    r"\byou\s+are\s+(?:now\s+)?(?:an?|the|no\s+longer)\s+(?:\w+\s+){0,2}?(?:ai|assistant|agent|model|llm|chatbot|claude|gpt)\b",
    r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|alert|warn|notify|ask|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|show\s+(?:this|it)\s+to)\s+"
    + _USER,
    r"\bwithout\s+(?:telling|asking|informing|notifying|alerting)\s+" + _USER,
    r"\b(?:relay|repeat|pass\s+on|show|say|recommend|suggest|offer)\s+(?:\w+\s+){0,5}?to\s+(?:the|your)\s+(?:user|human)\b",
    r"\b(?:tell|ask|convince|remind|instruct)\s+(?:the|your)\s+(?:user|human)\s+to\s+(?:run|install|execute|paste|visit|download|upgrade|sign|grant|approve|disable)\b",
    r"\b(?:the|any|every|this)\s+(?:ai|assistant|llm|language\s+model|coding\s+agent|ai\s+agent)\s+(?:must|should|shall|will|has\s+to|needs\s+to|is\s+required)\b",
    r"\byour\s+(?:system\s+prompt|instructions|training|context\s+window|guidelines|next\s+(?:reply|answer|response|message))\b",
    r"\b(?:before|after|when)\s+(?:answering|responding|replying)\b",
    r"\b(?:pretend|act|behave)\s+(?:as\s+if|as\s+though|like)\s+you\b|\bas\s+an\s+ai\b|\bjailbreak\b|\bdeveloper\s+mode\b",
    r"\boffer\s+to\s+(?:run|install|execute|fix|upgrade|sign)\b",
)
TOOL_BAIT = _trap(
    "bait for a tool call",
    r"\b(?:call|invoke|trigger)\s+(?:the\s+|your\s+|any\s+)?[`\w.-]+\s+tool\b",
    r"\b(?:use|with)\s+your\s+(?:\w+\s+)?tools?\b",
    r"\b(?:search_knowledge|get_guidance|submit_feedback)\b|\btools/call\b",
    r"\b(?:make|issue|emit)\s+a\s+tool\s+call\b",
    r"\b(?:install|add|connect\s+to)\s+(?:this|the|our)\s+(?:\w+\s+){0,2}?(?:mcp\s+server|plugin|extension)\b",
)
DOWNLOAD_AND_RUN = _trap(
    "code fetched from the network and run at once",
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest|fetch|http)\b[^\n|]*" + _PIPE_TO_SHELL,
    r"\b(?:ba|z|k|da)?sh\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b",
    r"(?:\bsource|\beval|(?:^|\s)\.)\s+[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b",
    r"\biex\b\s*\(?\s*\(?(?:iwr|irm|new-object|invoke-webrequest)\b",
    r"\bbase64\s+(?:-d|-D|--decode)\b[^\n]*" + _PIPE_TO_SHELL,
    r"\bnpx\s+(?:-y|--yes)\b|\b(?:bunx|pnpm\s+dlx|yarn\s+dlx)\s+[\w@]",
    r"\bpip3?\s+install\s+(?:-\S+\s+)*[\"']?(?:git\+|https?://)",
    r"\b(?:exec|eval)\s*\(\s*(?:requests|urllib|httpx|fetch|await\s+fetch)\b",
)
EXFILTRATION = _trap(
    "local data sent away",
    r"\b(?:curl|wget|nc|ncat|httpie|http)\b[^\n]*(?:\$\(\s*(?:cat|env|printenv|whoami|base64)|`(?:cat|env|printenv)\b|@(?:~|/|\.env|\$HOME))",
    r"\b(?:env|printenv|cat\s+\S*(?:\.env|id_rsa|id_ed25519|credentials|\.netrc)\S*)\s*\|\s*(?:\w+\s+)*?(?:curl|wget|nc|base64)\b",
    r"\b(?:send|post|upload|transmit|forward|email|exfiltrate)\s+(?:\w+\s+){0,4}?(?:environment\s+variables|credentials|api\s+keys?|secrets?|private\s+keys?|tokens?)\s+to\b",
)
CREDENTIAL_PLACES = _trap(
    "a place where credentials lie",
    r"(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|config/gcloud|git-credentials|pgpass)\b",
    r"\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:shadow|sudoers)\b|/proc/(?:self|\d+)/environ\b",
    r"\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\bfd00:ec2::254\b",
    r"\b(?:cat|read|open|print|source)\s+(?:the\s+)?[`\"']?(?:\S*/)?\.env\b",
)
OPAQUE_RUN = _trap(
    "a long run of characters that nobody can read",
    r"[A-Za-z0-9+/=_-]{120,}",
    r"(?:\\x[0-9a-f]{2}){24,}",
    r"(?:%[0-9a-f]{2}){24,}",
)
DESTRUCTIVE = _trap(
    "a step that destroys data or removes a protection",
    r"\bDROP\s+(?:TABLE|DATABASE|SCHEMA|COLUMN|ROLE|USER)\b|\bTRUNCATE\s+(?:TABLE\s+)?\w",
    r"\bDELETE\s+FROM\s+[\w.\"]+\s*(?:;|$)",
    r"\b(?:fsync|full_page_writes|synchronous_commit)\s*(?:=|to)\s*'?off\b",
    r"\brm\s+-(?:\w*r\w*f|\w*f\w*r)\w*\b|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:\S+\s+)*?(?:-f|--force)\b(?!-))",
    r"(?<![\w-])--(?:force|no-verify|privileged|insecure|allow-root|no-preserve-root|disable-\w*(?:security|sandbox)\w*)\b(?!-)",
    r"\bchmod\s+(?:-R\s+)?0?777\b|\bGRANT\s+ALL\b|\bterraform\s+destroy\b|\bkubectl\s+delete\b|\bFLUSH(?:ALL|DB)\b",
    r"\bverify\s*=\s*False\b|\brejectUnauthorized\s*:\s*false\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\bInsecureSkipVerify\s*:\s*true\b|\bcurl\s+(?:-\S+\s+)*-k\b",
)

ORDERS = (ROLE_MARKERS, AGENT_ORDERS, TOOL_BAIT)
MACHINE = (DOWNLOAD_AND_RUN, EXFILTRATION, OPAQUE_RUN)


def caught(text: str, traps: tuple[Trap, ...]) -> Iterator[tuple[Trap, str]]:
    """Yield each trap that a text falls into, with the words that gave it away."""
    for trap in traps:
        match = trap.pattern.search(text)
        if match:
            yield trap, " ".join(match[0].split())[:60]
