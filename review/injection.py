"""Text that tries to steer the agent that reads it.

A list of patterns is a tripwire, not a proof: what keeps records safe is that a person approves each one. The
tripwire makes sure that the person has seen what it names.
"""

from __future__ import annotations

from review.conversation import TALK
from review.foreign import OTHER_LANGUAGES
from review.markers import ROLE_MARKERS
from review.traps import NEGATED, trap

_USER = (
    r"(?:(?:the|your|any|a)\s+)?(?:user|human|owner|developer|operator|person|reader|customer|maintainer|reviewer"
    r"|anyone|anybody|them)"
)
_AI = (
    r"(?:ais?|a\.i\.s?|llms?|(?:large\s+)?language\s+models?"
    r"|(?:ai|coding|llm|autonomous|code|software)[\s-](?:agents?|assistants?|models?|tools?|systems?|bots?)"
    r"|chat\s?bots?|assistants?|copilots?|claude(?:\s+code)?|chatgpt|gpt(?:-?\d\S*)?|gemini|codex|cursor)"
)
_READER = r"(?:" + _AI + r"|agents?|models?|bots?|crawlers?)"
_TEXT = (
    r"(?:record|entry|document|page|card|guidance|answer|snippet|note|notice|passage|text|message|file|section"
    r"|paragraph|prompt|instructions?|comment|tip|hint|step)"
)
# Where a sentence or clause gives an order, unlike "can be made to reveal ...".
_ORDER = r"(?:^|[.;:,!?)>*\"']\s+|^[\s>#*-]+|\b(?:and|then|please|now|first|also|must|you|simply|just)\s+)"
_RULES = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|guardrails?|safeguards?|restrictions?"
    r"|constraints?|orders?|training|programming|polic(?:y|ies))"
)
_CHANGE = (
    r"(?:change|edit|note|notice|step|update|upgrade|instruction|addition|package|dependency|modification|command"
    r"|install(?:ation)?|commit|patch|upload|request)"
)

ADDRESSED = trap(
    "an address to the model or agent that reads it",
    r"(?:^|[.!?:;*#>(\[-])\s*(?:attention|dear|hey|hello|hi|listen|for|to|note)?,?\s*(?:all\s+|any\s+|every\s+"
    r"|you,?\s+|the\s+)?"
    r"(?:ais?|llms?|language\s+models?|(?:ai|coding|llm)[\s-](?:agents?|assistants?|models?|tools?|bots?)"
    r"|assistants|chatgpt|claude|copilot)\s*(?::|,\s*(?:please|you|do|always|never|add|run|use|ignore)\b)",
    r"\b(?:attention|dear|hey|hello|hi)[,:]?\s+(?:all\s+|any\s+|every\s+|the\s+)?" + _READER + r"\b",
    r"\b(?:background|note|message|instructions?|reminder|notice|hint|memo|orders?|tip)s?\s+(?:for"
    r"|to)\s+(?:(?:the|all|any|every|whichever|whatever)\s+)?"
    + _READER
    + r"\b(?=\s*(?:[:,.!(-]|$|only\b|that\b|who\b|reading\b))",
    r"\b(?:for|to)\s+(?:all\s+|any\s+)?(?:agents|models|bots)\s*:",
    r"(?:^|[.!?:;*(]\s*)(?:ai|llm|agent|model|bot)\s+(?:readers?|consumers?|crawlers?|indexers?|users?)\s*[:,]",
    r"\b(?:for|to)\s+(?:the\s+|any\s+)?(?:ai|llm|agent|assistant|language\s+model)s?\s+only\b"
    r"|\byour\s+(?:operator|principal)\b",
    r"\b(?:of|for|to|with|against|than|serve|help|please)\s+your\s+user\b(?!\s+(?:id|name|agent|account|table"
    r"|role|model|group|interface|profile|data|base|pool))",
    r"\b"
    + _READER
    + r",?\s+(?:(?:that|which|who|now|currently|is|are)\s+){0,3}(?:read|see|process|pars|ingest|consum|summari[sz]"
    r"|load|scann|scan|quot|retriev|review|index|us)(?:s|es|e|ing)?\s+(?:this|these)\b",
    r"\b(?:if|since|because|when|whenever|as)\s+you(?:\s+are|'re|re)?\s+(?:reading\s+this\s+as\s+)?(?:an?\s+"
    r"|the\s+|some\s+kind\s+of\s+)?(?:\w+\s+){0,1}?" + _READER + r"\b",
    r"\b(?:note|message|instructions?|notice)\s+(?:for|to)\s+(?:ai|llm)[\s-]\w+",
    r"\b(?:read|seen|processed|parsed|summari[sz]ed|retrieved|loaded)\s+by\s+an?\s+(?:\w+\s+)?" + _AI + r"\b[,:]",
    r"\b(?:the|any|every|this|each|all|your)\s+(?:ai|assistants?|llms?|language\s+models?|(?:coding"
    r"|ai)\s+(?:agents?|assistants?|models?))\s+"
    r"(?:must|should|shall|will|has\s+to|have\s+to|needs?\s+to|is\s+required|are\s+required)\b(?!\s+(?:not\s+"
    r"|never\s+|only\s+)?(?:be|see|receive|have|get)\b)",
    r"(?:^|[.!?:;]\s+|\*\s*)(?:ai|coding|llm)?[\s-]*(?:assistants?|(?<=[a-z][ -])agents|llms|ais"
    r"|language\s+models|ai\s+\w+s?"
    r"|chat\s?bots)\s+(?:must|should|shall|are\s+(?:required|expected|obliged|instructed|told|to)|have\s+to"
    r"|need\s+to)\b(?!\s+(?:not\s+|never\s+|only\s+)?(?:be|see|receive|have|get)\b)",
    r"\byou\s+are\s+(?:now\s+)?(?:an?|the|no\s+longer)\s+(?:\w+\s+){0,2}?(?:ai|assistant|agent|model|llm|chatbot"
    r"|claude|gpt)\b",
    r"\byou,\s+(?:the|as)\s+(?:\w+\s+){0,2}?"
    + _READER
    + r"\b|\bas\s+an?\s+(?:ai|llm|language\s+model)\b[^.\n]{0,20}\byou\b|\bas\s+an\s+ai\b",
    r"\byour\s+(?:system\s+prompt|instructions|training|context\s+window|guidelines|next\s+(?:reply|answer"
    r"|response|message)|(?:new|real|actual|true|only|first)\s+(?:task|goal|objective|job|purpose|role|persona"
    r"|mission|instructions?))\b",
)
OVERRIDE = trap(
    "an order to set earlier instructions aside",
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|neglect|dismiss|abandon|pay\s+no\s+(?:attention"
    r"|heed)\s+to|stop\s+(?:following|obeying)|no\s+longer\s+(?:follow|obey)|(?:do\s+not|don't|never)\s+(?:follow"
    r"|obey)|set\s+aside|throw\s+(?:away|out))\s+(?:\w+\s+){0,4}?"
    r"(?:previous|prior|above|earlier|preceding|former|existing|original|initial|other|system|safety|your"
    r"|developer'?s?|operator'?s?|user'?s?)\s+(?:\w+\s+){0,3}?" + _RULES + r"\b",
    r"\b(?:ignore|disregard|forget|pay\s+no\s+(?:attention|heed)\s+to"
    r"|stop\s+following)\s+(?:all\s+)?(?:of\s+)?(?:the|your|any|those)\s+(?:system\s+(?:message|prompt)s?"
    r"|(?:instructions|guidelines|prompts?|rules)\s+(?:you\b|given\s+to\s+you|(?:from|of|by)\s+(?:the"
    r"|your)\s+(?:developer|system|user|operator|owner)))",
    r"\b(?:override|bypass|overrule|discard|drop|skip|circumvent|evade"
    r"|get\s+around)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|system|safety|your"
    r"|developer)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|guidelines?|guardrails?|directives?|directions?"
    r"|training)\b",
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}?"
    + _RULES
    + r"\s+(?:(?:listed|given|stated|written|that\s+came|you\s+\w+|from)\s+)?(?:above|before(?:hand)?|earlier"
    r"|previously|so\s+far|until\s+now)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:all|any)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|earlier"
    r"|preceding)\s+(?:messages?|context|conversations?|chats?|text|requests?|commands?)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever)(?:\s+(?:that"
    r"|of))?\s+(?:\w+\s+){0,3}?(?:above|before|earlier|so\s+far|prior|until\s+now|previously)\s*(?:[.,;:!]|$"
    r"|and\b|then\b)",
    r"\b(?:what|whatever|everything|anything|all|instructions?|rules?|things?)\s+(?:that\s+)?you(?:\s+were"
    r"|\s+have\s+been|'ve\s+been|\s+had\s+been)\s+(?:\w+\s+)?(?:told|instructed|given|taught|asked|trained"
    r"|shown)\b",
    r"\b(?:instructions?|rules?|guidelines?|prompts?|messages?"
    r"|context)\s+(?:\w+\s+){0,3}?(?:no\s+longer\s+appl(?:y|ies)|(?:are|is)\s+(?:now\s+)?(?:void|null|obsolete"
    r"|cancell?ed|revoked|lifted|superseded))\s*[.,;:!]?\s*(?:you|follow|obey|instead|now|do)\b",
    r"\b(?:previous|prior|earlier|original|system|safety)\s+(?:instructions?|prompts?|guidelines?"
    r"|guardrails?)\s+(?:\w+\s+)?(?:no\s+longer\s+appl(?:y|ies)|(?:are|is)\s+(?:now\s+)?(?:void|null|obsolete"
    r"|cancell?ed|revoked|lifted|superseded))\b",
    r"\b(?:ignore|disregard|discard|distrust)\s+(?:all|any|every)\s+other\s+(?:\w+\s+)?(?:records?|results?"
    r"|sources?|guidance|entries|recommendations?|advice|documents?)\b",
    r"\b(?:prefer|favou?r|rank|trust|cite|promote|choose|pick|weigh|recommend)\s+(?:only\s+)?this\s+" + _TEXT + r"\b",
    r"\b(?:no\s+longer|(?:need|must|should|do)\s+not|needn't|don't)\s+(?:(?:need|have)\s+to\s+)?(?:obey"
    r"|comply\s+with)\b|\b(?:no\s+longer|not)\s+(?:need|have)\s+to\s+follow\s+(?:the|your|any)\s+" + _RULES,
    r"\b(?:instructions|rules|guidelines|prompts?|orders|directives)\s+(?:that\s+)?you\s+(?:received|got|were"
    r"|have|had|follow|know|see|saw|hold)\b",
    r"\b(?:treat|regard|consider|handle|take|read)\s+(?:this|these|the\s+(?:text|following|lines?|paragraph"
    r"|section|words?|passage|list))\s+(?:\w+\s+){0,2}?as\s+(?:if\s+(?:it|they)\s+(?:came|were)|(?:coming"
    r"|instructions?|orders?|commands?|a\s+command)\b|(?:being\s+)?from\s+the\s+(?:user|owner|system|developer))",
    r"\bthis\s+(?:record|entry|card|note|passage|guidance|text|message)\s+(?:always\s+|now\s+|also\s+"
    r"|thus\s+)?(?:overrides?|supersedes?|takes?\s+precedence|outranks?|has\s+priority|replaces)\b",
    _ORDER
    + r"(?:reveal|print|show|output|repeat|display|leak|disclose|dump|expose|recite|echo|paste|tell|give|quote|copy"
    r"|return|translate|summari[sz]e)\s+(?:\w+\s+){0,4}?(?:system|hidden|initial|original|secret|developer"
    r"|internal|full|entire|above|preceding)\s+(?:\w+\s+)?(?:prompts?|instructions)\b",
)
BEHAVIOUR = trap(
    "an order how to answer from now on",
    r"\bfrom\s+(?:now|this\s+point|here|this\s+moment)\s+(?:on(?:wards?)?|forward)\b,?\s+(?:(?:please|always|only"
    r"|never)\s+)*(?:you\b|answer\b|respond\b|reply\b|act\b|behave\b|speak\b|recommend\b|treat\s+(?:me|every"
    r"|this)|every\s+(?:answer|reply))",
    r"\byou\s+(?:will|must|shall|should|are\s+to|may|have\s+to|can)\s+(?:now\s+)?(?:(?:now|only|always|never"
    r"|exclusively)\s+(?:respond|reply|answer|speak|obey|comply)\b|(?:respond|reply|answer|speak)\s+(?:only"
    r"|exclusively|solely|always|in\s+(?:base64|verse|rhyme|code))\b|obey\b|comply\b)",
    r"\b(?:respond|reply|answer|output)\s+(?:only|exclusively|solely|just|nothing\s+but)\s+(?:with|in"
    r"|by)\s+(?:the\s+(?:word|phrase|sentence|string|text|exact)|[\"'\u201c`]|yes\b|base64|emoji|rhymes?"
    r"|(?:[A-Z]{4,}\b))",
    r"\byour\s+(?:answers?|repl(?:y|ies)|responses?|outputs?)\s+(?:must|should|will|has\s+to|have\s+to"
    r"|shall)\s+(?:always\s+)?(?:begin|start|end|open|close|recommend|mention|say)\b",
    r"\b(?:append|add|include|mention|insert|put|repeat|start|begin|end|close)\s+(?:\w+\s+){0,8}?(?:(?:to|in|into"
    r"|of|at|with)\s+)?(?:your\s+(?:future\s+|final\s+|next\s+)?(?:answers?|repl(?:y|ies)|outputs?|responses?)"
    r"|(?:every|each|all)\s+(?:answer|reply|response|message|file|program|function)s?\s+you\s+\w+)\b",
    r"\b(?:begin|start|end|finish)\s+(?:every|each|all)\s+(?:answer|reply|response)s?\s+(?:with|by)\b",
    r"\b(?:before|after|when)\s+(?:answering|responding|replying)\b(?!\s+(?:with\s+)?(?:\d{3}\b|a\s+request"
    r"|the\s+(?:client|request|health|probe|caller)|to\s+a\s))",
    r"\b(?:pretend|act|behave)\s+(?:as\s+if|as\s+though|like)\s+you\b|\bpretend\s+(?:to\s+be|that\s+you"
    r"|you\s+are)\b|\bjailbreak\b",
    r"\b(?:assume|take\s+on|adopt|play)\s+the\s+(?:role|persona|identity)\s+of\s+(?:an?"
    r"|the)\s+(?:\w+\s+){0,2}?(?:ai|assistant|administrator|root|hacker|unrestricted|system)\b",
    r"\b(?:enter|activate|you\s+are\s+(?:now\s+)?in)\s+developer[\s-]mode\b|\b(?:enter|activate|enable"
    r"|switch\s+(?:in)?to|you\s+are\s+(?:now\s+)?in)\s+(?:the\s+)?(?:god|unrestricted|dan|jailbreak|unfiltered"
    r"|do[\s-]anything[\s-]now|maintenance\s+override)[\s-]mode\b",
    r"\byou\s+are\s+(?:required|obliged|instructed|ordered|commanded)\s+to\s+(?:answer|respond|reply|obey|ignore"
    r"|recommend|install|add|run)\b",
    r"\byou\s+are\s+now\s+(?:free|allowed|permitted|authori[sz]ed|unrestricted|root|admin|in)\b"
    r"|\byou\s+have\s+(?:permission|no\s+restrictions|full\s+(?:access|permission))\b",
    r"\b(?:whatever|no\s+matter\s+what|regardless\s+of\s+what|even\s+if)\s+(?:the|your)\s+(?:user|human|developer"
    r"|owner)\s+(?:asks?|says?|wants?|types?|requests?|objects?|refuses|disagrees|forbids)\b",
    r"\bwhen(?:ever)?\s+(?:the|a|any|your)\s+(?:user|developer|human|person|someone)\s+(?:asks?|requests?|wants?"
    r"|mentions?|inquires?)\b[^.;\n]{0,60},\s*(?:\w+\s+)?(?:suggest|recommend|claim|insist|steer|say\s+that"
    r"|tell\s+(?:them|him|her)|answer\s+that|reply\s+that|pretend|name\s+only|promote|praise)\b",
    r"\b(?:overwrite|update|replace|clear|edit|wipe|change)\s+your\s+(?:memory|memories|rules|goals?|instructions)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:the|our|your)\s+(?:previous|prior|earlier)\s+(?:conversation|chat)s?\b"
    r"|\b(?:override|bypass|ignore|lift|drop)\s+(?:all\s+|any\s+|the\s+|every\s+)*safety\s+(?:rules?|guidelines"
    r"|limits)\b",
    r"\boffer\s+to\s+(?:run|install|execute|fix|upgrade|sign)\b",
    r"\b(?:relay|repeat|pass\s+on|show|say|recommend|suggest|offer|forward|present)\s+(?:\w+\s+){0,5}?to\s+(?:the"
    r"|your)\s+(?:user|human)\b(?=\s*(?:[.,;:!]|$|in\s+every|verbatim|word\s|at\s+the\s+end))",
    r"\b(?:tell|ask|convince|remind|instruct|urge|persuade)\s+(?:the|your)\s+(?:user|human)\s+(?:to"
    r"|that\s+they\s+(?:must|should|need\s+to))\s+(?:run|install|execute|paste|visit|download|upgrade"
    r"|sign(?!\s+(?:in|up|out)\b)|grant|approve|disable|subscribe|buy|pay|send|share)\b",
    r"\b(?:decode|decrypt|unscramble)\b[^.\n]{0,80}\b(?:and|then)\s+(?:run|execute|follow|obey|do|carry\s+out)\b",
    r"\b(?:save|store|remember|persist|keep|add|write)\s+(?:this|these"
    r"|the\s+following)\s+(?:\w+\s+){0,3}?(?:(?:in|to|into)\s+(?:your|long[\s-]term|the\s+agent'?s?)\s+memory"
    r"|for\s+(?:all|every|future)\s+(?:\w+\s+)?(?:sessions?|conversations?|chats?|tasks?))\b",
    r"\b(?:add|write|append|put|save|copy|insert|record|paste|persist)\s+(?:\S+\s+){0,12}?(?:to|in"
    r"|into)\s+(?:the\s+|your\s+|its\s+)?[`\"']?(?:\S*/)?(?:CLAUDE\.md|AGENTS\.md|GEMINI\.md|\.cursorrules"
    r"|\.windsurfrules|\.cursor/|\.claude/|copilot-instructions\.md|\.?mcp\.json)",
)
SECRECY = trap(
    "an order to keep something from the user",
    r"\b(?:do\s+not|don't|never|must\s+not|should\s+not|no\s+need\s+to|refrain\s+from|avoid|stop)\s+(?:tell"
    r"|inform|alert|warn|notify)(?:ing)?\s+"
    + _USER
    + r"s?\b(?=\s*(?:[.,;:!]|$|and\b|or\b|when\b|if\b|(?:about|of|that|what|why)\s+(?:this|it|these|any\s+of|you"
    r"|your|the\s+(?:\w+\s+)?"
    + _CHANGE
    + r"|the\s+(?:extra|additional|new|hidden)\s+\w+)\b|that\s[^.;\n]{0,60}\b(?:you|(?:was|were"
    r"|has\s+been)\s+(?:changed|added|installed|removed|skipped|edited|sent|disabled))\b))",
    r"\b(?:do\s+not|don't|never|no\s+need\s+to)\s+ask\s+"
    + _USER
    + r"\b(?=\s*(?:[.,;:!]|$|first\b|before\b|for\s+(?:confirmation|permission|approval|consent)\b|whether\b"
    r"|and\b))",
    r"\b(?:do\s+not|don't|never|must\s+not|avoid|refrain\s+from|without)\s+(?:mention|reveal|disclos|show|report"
    r"|discuss|repeat|explain|surfac|display|quot|acknowledg|admit)(?:e|ing)?\s+(?:(?:any\s+of\s+)?(?:this|these"
    r"|it|the|that|your)\s+)(?:\w+\s+){0,4}?to\s+(?:the\s+user|your\s+user|the\s+human|anyone"
    r"|them)\b(?=\s*(?:[.,;:!]|$|and\b|or\b|at\b|under\b))",
    r"\b(?:do\s+not|don't|never|without|avoid|refrain\s+from|stop)\s+(?:mention|reveal|disclos|discuss|repeat"
    r"|acknowledg|quot)(?:e|ing)?\s+(?:this|these|the\s+above)\s+" + _TEXT + r"s?\b",
    r"\bkeep\s+(?:this|these|it|the\s+\w+)\s+(?:\w+\s+){0,3}?(?:from\s+(?:the|your)\s+(?:user|human|developer"
    r"|owner|reviewer)|between\s+us|to\s+yourself)\b",
    r"\bkeep\s+quiet\s+about\s+(?:this|it|that|the)\b|\b(?:do\s+not|don't|never)\s+let\s+(?:the|your)\s+(?:user"
    r"|human|owner|developer)\s+(?:see|know|notice|find)\s+(?:out|this|it|that)\b",
    r"\bkeep\s+this\s+(?:" + _TEXT + r"\s+)?(?:secret|hidden|quiet|confidential|private)\b",
    r"\b(?:hide|conceal|withhold|disguise)\s+(?:this|these|it|your|what\s+you|all\s+of\s+this"
    r"|the\s+(?:\w+\s+)?(?:"
    + _CHANGE
    + r"|fact|output|diff))\b(?:\s+\w+){0,4}?\s+from\s+(?:the|your|any)\s+(?:user|human|developer|owner|reviewer"
    r"|operator|reader)\b(?!s)",
    r"(?:^|[.;:,!?]\s+|\b(?:then|please)\s+)(?:silently|quietly|discreetly|invisibly)\s+(?:add|install|run"
    r"|execute|commit|push|insert|include|inject|send|upload|append|enable|disable|apply|set|make|edit|modify"
    r"|change|replace|copy|read|open|write)\b",
    r"\b(?:make\s+sure|ensure|see\s+to\s+it|take\s+care)\s+(?:that\s+)?(?:(?:nobody|no\s+one"
    r"|none)\s+(?:ever\s+)?(?:notices|knows|learns|finds\s+out|hears|sees\s+(?:this|it))|the\s+(?:user|developer"
    r"|owner|reviewer)\s+(?:does\s+not|doesn't|never|cannot)\s+(?:notices?|finds?\s+out|learns?|knows?))\b",
    r"\bleave\s+(?:this|it|that|the\s+(?:\w+\s+)?"
    + _CHANGE
    + r")\s+(?:\w+\s+)?out\s+of\s+(?:your|the)\s+(?:\w+\s+)?(?:summary|report|answer|reply|log|message|changelog"
    r"|diff)\b|\b(?:omit|exclude|drop|strip|remove)\s+(?:this|it|the\s+"
    + _CHANGE
    + r")\s+(?:\w+\s+)?from\s+(?:your|the)\s+(?:final\s+)?(?:summary|report|answer|reply)\b",
    r"\b(?:no\s+need|no\s+reason|unnecessary|needless|not\s+(?:necessary|needed))\s+to\s+(?:mention|bring|raise"
    r"|report|tell|inform|notify|disclose|discuss|explain|involve|bother)\b(?:\s+(?:this|it|that)\b"
    r"|[^.;\n]{0,30}\b(?:the|your)\s+(?:user|human|developer|owner)\b(?!s))",
    r"\b(?:never|do\s+not|don't)\s+(?:reveal|mention|disclose|admit|say)\s+that\s+(?:this|these|you)\b|\b(?:sneak"
    r"|smuggle)\b",
    r"\bthe\s+(?:reviewer|owner|developer|maintainer)\s+(?:must|should|need)\s*(?:not|n't|never)\s+(?:know|notice"
    r"|find\s+out|learn)\b",
    r"\b(?:secretly|covertly|stealthily|surreptitiously)\s+\w+",
    r"\b(?:the\s+user|users?|human)\s+(?:must|should|need|does|do|will)\s*(?:not|n't|never)\s+(?:know|notice"
    r"|find\s+out|learn|hear|be\s+(?:told|informed|aware))\b(?:\s+(?:about|of|that)\s+(?:this|it|these|you"
    r"|your)\b|\s*[.,;!]|$)",
)
# Pardoned where it forbids: "never merge without asking the owner".
PERMISSION = trap(
    "a switch that takes the user out of the loop",
    r"\bauto_?approve\w*|(?<![-\w])auto[\s-]approv(?:e|al|ing)\s+(?:(?:all|every|any|its|the|of)\s+)*(?:tools?"
    r"|commands?|edits?|permissions?|calls?|everything|mode|actions?)\b",
    r"--dangerously-[\w-]+|--yolo\b|\byolo[\s-]?mode\b|\bbypassPermissions\b|\bacceptEdits\b"
    r"|\bapproval[_-]?policy\b|\bdanger-full-access\b|\balwaysAllow\b|\bBash\(\*\)|\bsandbox_mode\b"
    r"|\bdangerouslySkip\w+|--(?:allow-all-tools|trust-all-tools|full-auto|skip-permissions|always-allow"
    r"|no-confirm|approve-all)\b",
    r"\b(?:skip|bypass|disable|turn\s+off|switch\s+off|suppress)\s+(?:\w+\s+){0,2}?(?:(?:permission|approval)s?"
    r"\s+(?:prompts?|checks?|mode|dialogs?|requests?)|(?:safety|guardrail)s?\s+(?:prompts?|filters?|system))\b",
    r"\b(?:enable|grant|turn\s+on|switch\s+(?:in)?to|activate|use|give\s+yourself)\s+(?:full|unrestricted"
    r"|unlimited|total)[\s-](?:access|permissions?|autonomy)\b|\bso\s+that\s+no\s+(?:confirmation|approval"
    r"|permission)s?\s+(?:\w+\s+)?(?:is|are|has\s+to\s+be)\b",
    r"\ballow\s?-?list\s+of\s+(?:the\s+)?(?:permissions|tools)\b|\bpermissions?\.allow\b",
    r"\b(?:approve|accept|confirm|allow|grant)\s+(?:all|any|every|each)\s+(?:\w+\s+)?(?:tool|permission|shell"
    r"|terminal)s?\b",
    r"\bwithout\s+(?:telling|asking|informing|notifying|alerting|warning)\s+"
    + _USER
    + r"\b(?!s\b|\s+(?:which|what|how|for\s+(?:the|a|their|more)|to\b|again\b|twice\b))",
    r"\b(?:proceed|continue|run|apply|install|execute|merge|push|commit|deploy|approve"
    r"|go\s+ahead)\b[^.;\n]{0,40}?\bwithout\s+(?:asking\s+for\s+|waiting\s+for\s+|requesting\s+|any\s+|further\s+"
    r"|user\s+)*(?:confirmation|permission|approval|consent)\b(?!\s+(?:beyond|other|only|to|than)\b)",
    r"\b(?:set|switch|change|put|turn)\s+(?:the\s+|your\s+)?(?:permission|approval|sandbox)\s+(?:mode|policy"
    r"|setting|level)\s+(?:to|off)\b",
    r"\b(?:chat\.tools\.|tools?\.)\w*(?:approve|allow)\w*\b",
    pardon=NEGATED,
)
TOOL_BAIT = trap(
    "bait for a tool call",
    r"\b(?:call|invoke|trigger|use|run)\s+(?:the\s+|your\s+|any\s+)?(?:`[\w.-]+`|[\w.]*_[\w.]+|your\s+\w+|shell"
    r"|bash|terminal|browser|web|fetch|file)\s+tool\b",
    r"\b(?:call|invoke|trigger)\s+(?:the\s+|your\s+|any\s+)?[`\w.-]+\s+tool\b",
    r"\b(?:use|with|using|through)\s+your\s+(?:\w+\s+)?(?:tools?|shell|terminal|browser|file\s+access|web\s+access)\b",
    r"\b(?:search_knowledge|get_guidance|submit_feedback)\b|\btools/call\b",
    r"\b(?:make|issue|emit|send)\s+a\s+tool\s+call\b",
    r"\b(?:install|add|connect\s+to|register|enable)\s+(?:this|the|our)\s+(?:\w+\s+){0,2}?(?:mcp\s+server|plugin"
    r"|extension)\b(?=\s*(?:[.,;:!]|$|as\s+well|from|at|to\s+get|for\s+(?:full|more|better)|first|before))",
)
ORDERS = (ROLE_MARKERS, ADDRESSED, OVERRIDE, BEHAVIOUR, SECRECY, PERMISSION, TOOL_BAIT, OTHER_LANGUAGES, *TALK)
