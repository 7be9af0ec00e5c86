"""Marks that make a text look as if another speaker, or the program around the agent, had the word."""

from __future__ import annotations

from review.traps import trap

# Where a text pretends to end and somebody else to speak: the marks of chat formats, of tools and of transcripts.
ROLE_MARKERS = trap(
    "a role or protocol marker",
    r"<\|[\w ]{2,40}\|>",
    r"\[/?INST\]|<</?SYS>>|\[/?(?:SYSTEM|ASSISTANT)(?:[\s_]\w+)?\]",
    r"</?(?:system|important|critical|instructions?|assistant|user|human|developer|(?:tool|function)[\s_-](?:call"
    r"|result|use)s?"
    r"|invoke|thinking|antml:\w+|system-reminder|admin|secret|prompt)(?:\s[^>]*)?>",
    r"^[\s>*#-]*\**(?:system|assistant|human)\**\s*(?:prompt|message|note"
    r"|override)?\s*:\**\s+(?!the\s+first\b)[^\W\d]+[,']?\s+\w+\s+\w+",
    r"^[\s>*#-]*\**(?:user|developer)\**\s*:\**\s+(?:now|please|ignore|do|i|you|can|could|run|write|delete|forget"
    r"|stop|from)\b",
    r"^\s*(?:system|assistant|human)\s+(?:prompt|message|override|notice)\s*:(?!\s*(?:the|an?|what)\b)",
    r"#{2,6}\s*(?:new\s+)?(?:instruction|system|response|human|assistant|prompt)s?(?:\s+(?:prompt|message"
    r"|override))?\s*(?::|$)|^#\s*(?:instruction|system|assistant)s?\s*:?\s*$",
    r"\b(?:begin|end|new|updated|start\s+of|end\s+of)\s+(?:the\s+)?system\s+(?:prompt|message|instructions?)\b",
    r"\b(?:new|updated|revised|additional|hidden|secret)\s+(?:instructions?|directives?)\s*(?:follow\b|:|for\s+"
    r"(?:ai|llm|agent|assistant|model|bot)s?\b)",
    r"(?:-{3,}|={3,})\s*(?:end|begin|start)\s+(?:of\s+)?(?:the\s+)?(?:context|document|user|system|prompt|data"
    r"|instructions?|record)s?\b",
    # A message of a chat, as the programs between people and models write it.
    r"[\"']?\brole\b[\"']?\s*:\s*[\"']?(?:system|assistant|developer|tool|user)\b[\"']?\s*[,/;}]\s*[\"']?content\b",
    r"[\"']?jsonrpc[\"']?\s*:\s*[\"']2\.0[\"'][^\n]*tools/call",
    r"\[/?(?:AVAILABLE_|END_)?(?:TOOLS?|PROMPT|INSTRUCTIONS?|USER|CONTEXT|ADMIN|DEVELOPER|MODEL)(?:[_ ](?:CALLS?"
    r"|RESULTS?|MESSAGE|PROMPT"
    r"|INSTRUCTIONS?|NOTE|OVERRIDE))?\](?!\()",
    r"\b(?:begin|end|start)_?(?:instructions?|systemprompt|system_(?:prompt|message)|prompt)\b|%%\s*(?:system|end"
    r"|user|assistant)\s*%%",
    r"</?(?:\w+[-_])?(?:context|prompt|tool[-_]\w+|function[-_]\w+|system\w*|user[-_]\w+|thinking|\w+thinking"
    r"|instructions?|turn|start_of_\w+"
    r"|end_of_\w+)>",
    # A speaker, and what they want done.
    r"^[\s>*#-]*\**(?:system|assistant|human|user|developer|operator|admin|agent|model"
    r"|tool(?:\s+result)?)\**\s*[:>]\**\s+(?!the\s+(?:first|column|field|one)\b)"
    r"(?:please\s+|now\s+)?(?:go\b|skip|merge|allow|approve|delete|remove|open|close|turn|switch|disable|enable"
    r"|drop|ignore|commit|push|run|write"
    r"|send|give|install|of\s+course|sure|done|ok(?:ay)?\b|yes\b|i\s+(?:have|will|am|did)"
    r"|(?:[\w']+\s+){1,6}?(?:may|must|should|can|has\s+been"
    r"|have\s+been|is\s+(?:off|on|lifted)|are\s+(?:off|on|lifted|approved|suspended))\s+(?!be\s+(?:synchron"
    r"|install|set\s+up))\w+)",
    r"^@(?:system|assistant|admin|developer)\b",
)
