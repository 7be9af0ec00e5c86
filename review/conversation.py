"""Text about the conversation it is read in: whoever writes guidance cannot know of one, whoever attacks must.

Each trap joins two lists, so that a wording nobody thought of is still caught when its parts are known: an act and
the person it is done to, an act and the thing of the reader's own it is done with.
"""

from __future__ import annotations

from review.traps import NEGATED, trap

# People on the reader's side. "The user" alone may be the user of what is built.
_KEEPER = (
    r"(?:your\s+(?:\w+\s+)?(?:user|human|operator|owner|principal|developer|client)|the\s+(?:human|developer"
    r"|programmer"
    r"|person\s+(?:you|who|at|in)\b[^.;,\n]{0,20}|owner\s+of\s+(?:the|this)\s+(?:repository|project|workspace"
    r"|machine)"
    r"|one\s+you\s+\w+)|who(?:m|so)?ever\s+(?:started|opened|began|runs?|asked|owns|reads|sits"
    r"|is\s+at)\b[^.;,\n]{0,24})"
)
_ANYONE = r"(?:" + _KEEPER + r"|the\s+(?:user|reviewer|owner|operator|maintainer|customer|team)|them|anyone|anybody)"
_OWN = (
    r"(?:repl(?:y|ies)|answers?|summar(?:y|ies)|explanations?|goals?|objectives?|persona|guardrails?|memory|provider"
    r"|capabilit(?:y|ies)|conversation|tool\s*(?:s|box|calls?|list)?\b(?!\s*(?:chain|kit))"
    r"|(?:earlier|previous|prior|first|original|initial|hidden|current|secret|new|real)\s+(?:\w+\s+)?(?:directions?"
    r"|instructions?|prompts?|tasks?|orders?|rules?|goals?|objectives?|messages?|guidance)"
    r"|(?:persistent|long[\s-]term|permanent|internal|saved)\s+(?:notes?|memor(?:y|ies)|context|rules?))"
)
_TALK = r"(?:conversation|chat|dialogue)"
_DISMISSED = (
    r"(?:void|null|moot|lifted|obsolete|outdated|superseded|suspended|withdrawn|cancell?ed|revoked|invalid|a\s+draft"
    r"|no\s+longer\s+(?:valid|binding|in\s+force))"
)
_RULES = (
    r"(?:instructions?|directions?|directives?|constraints?|rules?|guidelines?|guardrails?|orders?|prompts?|limits?)"
)
_START = r"(?:^[\s>#*-]*|[.;:!?)]\s+|\b(?:and|then|please|now|first|also|simply|just|must|should|to)\s+)"
_HERE = r"(?:this|the\s+present)\s+(?:page|record|file|document|text|passage|entry|card|block|section|paragraph|note)"

CONVERSATION = trap(
    "words about the conversation it is read in",
    r"\bthis\s+(?:very\s+)?" + _TALK + r"\b(?!\s+(?:api|id|service|table|room|window|view|app))",
    r"\b(?:rest|remainder|beginning|outset|course|history|text|transcript)\s+of\s+(?:this|our|the)\s+(?:" + _TALK
    + r"|session)\b",
    r"\b(?:last|latest|previous|first|whole|full|entire)\s+(?:user\s+message|chat\b|conversation\b)",
    r"\bwho(?:m|so)?ever\s+(?:started|opened|began|runs?|reads)\s+(?:this|the|you)\b",
    r"\byour\s+(?:\w+\s+)?" + _OWN,
    r"\b(?:what|whom?|person|task|work|user|one)\s+(?:that\s+)?you\s+(?:are|'re)\s+(?:now\s+"
    r"|currently\s+)?(?:doing|helping"
    r"|assisting|serving|talking|working\s+(?:on|for|with))\b",
    r"\b(?:drop|abandon|stop|leave|change|switch|set\s+aside)\s+(?:the|your|this)\s+current\s+(?:task|job|goal"
    r"|work)\b",
    r"\b(?:new|next|real|true|only)\s+(?:task|goal|objective|mission)\s+(?:is|of\s+the\s+session|:)",
    r"\b(?:policy|rules|limits|filters?)\s+of\s+your\s+(?:provider|maker|vendor|operator)\b|\byou\s+were\s+(?:trained"
    r"|told|instructed|configured|built|programmed)\b|\b(?:configured|set|meant|written|intended)\s+for\s+you\b",
)  # fmt: skip
SUPERSEDED = trap(
    "a claim that other instructions no longer hold",
    r"\b(?:all|any|every|your|the\s+(?:earlier|previous|prior|other|above)|earlier|previous|prior|other"
    r"|safety)\s+(?:\w+\s+)?"
    + _RULES + r"\b[^.;\n]{0,40}?\b(?:were|are|is|was|as|become)\s+(?:\w+\s+){0,2}?" + _DISMISSED,
    r"\b(?:consider|treat|regard|declare|count|take)\s+(?:all|any|every|the|your)\s+(?:\w+\s+){0,2}?" + _RULES
    + r"\s+(?:\w+\s+){0,4}?" + _DISMISSED,
    r"\b(?:only|nothing\s+but|solely|alone)\s+(?:the\s+)?(?:rules|steps|lines|words|instructions)\s+(?:on|in|of"
    r"|below)\b"
    r"[^.;\n]{0,30}\b(?:count|appl(?:y|ies)|hold|matter|are\s+binding)\b",
    r"\b(?:go\s+by|follow|obey|heed|rely\s+on|stick\s+to|trust)\s+(?:only\s+|solely\s+|just\s+)?" + _HERE
    + r"\b(?=\s*(?:[.,;!]|$|from|only|alone|instead|and|for|over))",
    r"\b" + _HERE + r"\s+(?:alone|is\s+(?:the\s+only|binding|authoritative|your)|comes\s+before|ranks)\b",
    r"\bthis\s+supersedes\b|\b(?:no|pay\s+no|without)\s+(?:heed|regard|attention)\s+(?:to|for)\s+(?:what|anything"
    r"|whatever)\b",
    r"\b(?:rules?|guardrails?|limits?|filters?|restrictions?|polic(?:y"
    r"|ies))\s+(?:\w+\s+){0,6}?do(?:es)?\s+not\s+(?:cover|apply"
    r"\s+to|hold\s+(?:in|for)|bind)\s+(?:you\b|this\s+(?:folder|project|repository|session|workspace))",
)  # fmt: skip
REPORTING = trap(
    "an order what to tell or not to tell the people the reader works for",
    _START + r"(?:tell|inform|notify|remind|advise|assure|warn|ask|persuade|convince|urge|get|have|make|let)\s+"
    + _KEEPER,
    r"\b(?:not|never|n't|refrain\s+from|avoid|without|stop)\s+(?:tell|inform|notify|alert|bother|involv|consult"
    r"|ask)(?:e|ing)?\s+"
    + _KEEPER,
    r"\b(?:refrain|abstain|desist)\s+from\s+(?:inform|tell|notify|mention|report|alert|disclos)\w*",
    r"\bmake\s+no\s+(?:mention|note)\s+of\b|\bleave\s+(?:it\s+|this\s+)?(?:unsaid|unmentioned|out\s+that)\b",
    r"\b" + _ANYONE + r"[^.;\n]{0,30}?\b(?:need\s+not|needn't|does(?:\s+not|n't)\s+(?:need|have)\s+to)\s+(?:learn"
    r"|know|see|hear"
    r"|notice|find|read|be\s+(?:told|asked|shown|bothered|aware))\b",
    r"\b(?:relay|pass\s+(?:this|it|the\s+\w+)\s+on|hand\s+on|forward|convey|deliver|recite|repeat)\b[^.;\n]{0,40}?"
    r"(?:\bverbatim\b|\bword\s+for\s+word\b|\bto\s+" + _KEEPER + r"|\bto\s+your\b)",
    r"\b(?:tell|inform|remind|notify|let)\b[^.;\n]{0,30}?\b(?:user|developer|human|them|customer"
    r"|owner)\b[^.;\n]{0,50}?\b(?:premium"
    r"|subscription|upgrade\s+(?:to|their)|paid\s+plan|new\s+version\s+of\s+(?:this|the)\s+(?:server|tool|index)"
    r"|sponsor|licence\s+key)",
    r"\bif\s+(?:you\s+are\s+|ever\s+|anyone\s+|somebody\s+|they\s+"
    r"|the\s+\w+\s+)?asks?(?:ed)?\b[^.;\n]{0,40},?\s*(?:then\s+)?(?:say|answer"
    r"|claim|reply|state|deny|insist|pretend|respond)\b",
    r"\bno\s+need\s+to\s+(?:check|confirm|verify|consult|clear\s+it)\s+with\b|\bon\s+behalf\s+of\s+" + _ANYONE
    + r"|\b(?:has|have)\s+(?:already\s+)?(?:approved|agreed|consented|confirmed|signed\s+off"
    r"|accepted)\b[^.;\n]{0,20}\b(?:in\s+advance"
    r"|on\s+the\s+change|already|all\s+pending|everything)\b",
)  # fmt: skip
POSING = trap(
    "an order to pose, to remember or to rank",
    _START + r"(?:act|behave|proceed|work|answer|respond|carry\s+on)\s+(?:as\s+(?:if|though)\s+(?:you\b"
    r"|the\s+(?:user|owner|reviewer|developer|human|operator)\b|nobody|no\s+one)|freely|without\s+(?:limits?"
    r"|restraint))\b",
    r"\byou\s+(?:should|must|will|are\s+to|shall)\s+(?:act|pose|pretend|behave|serve)\b|\byou\s+are\s+obliged\b",
    r"\b(?:remember|memori[sz]e|note|store|save|keep\s+in\s+mind)\s+(?:permanently|for\s+ever|forever|for\s+good"
    r"|across\s+sessions"
    r"|in\s+(?:the\s+|your\s+)?memory|to\s+(?:the\s+|your\s+)?memory|that\s+this\s+(?:user|team|project|package"
    r"|owner))\b",
    r"\b(?:save|store|write|put|add|commit)\s+(?:\w+\s+){0,3}?(?:to|in|into)\s+(?:your|the\s+agent's"
    r"|long[\s-]term)\s+(?:memory|notes)\b",
    r"\blater\s+sessions\s+(?:follow|obey|read|use|know)\b|\b(?:for|in)\s+(?:all|every|each)\s+(?:future|later"
    r"|coming)\s+sessions?\b",
    _START + r"(?:first|before\s+anything\s+else),?\s+(?:output|print|say|write|state|answer|reply"
    r"|repeat)\b[^.;\n]{0,60}\b(?:then|and)\s+"
    r"(?:continue|go\s+on|proceed|carry\s+on)\b",
    _START + r"(?:output|print|say|recite)\s+the\s+words?\s+[\"'\u201c]",
    r"\b(?:praise|promote|advertise|endorse|favou?r|rate|rank|cite|name|list)\s+(?:\w+\s+){0,4}?(?:this\s+(?:page"
    r"|record|package|vendor"
    r"|author|library|product|index)|author\s+of\s+this)\b",
    r"\bthat\s+(?:ingest|digest|consume|process|index|read|scrape|parse|summari[sz]e)s?\s+this\b"
    r"|\bwhichever\s+(?:\w+\s+)?(?:model|copilot|assistant"
    r"|agent|llm|ai)\b",
    r"\b(?:answer|reply|respond|speak|write)\s+in\s+(?:rhymes?|verse|riddles|base64|pirate\w*|capitals)\b",
    r"\b(?:treat|report|count|mark|consider|regard|record)\s+(?:every|all|any"
    r"|each)\s+(?:\w+\s+){0,3}?(?:failures?|errors?|warnings?|findings?|checks?)\s+as\s+"
    r"(?:flaky|passed|passing|success\w*|harmless|resolved|approved|green)\b",
)  # fmt: skip

# What only a text says that means its reader and not the reader's users: it names itself, or those its reader serves.
SELF = trap(
    "words about the record itself or the people its reader works for",
    r"\bthis\s+(?:very\s+)?(?:record|entry|advice|guidance|passage|card|paragraph|preference)\b"
    r"(?!\s+(?:type|id|lock|of|in)\b)",
    r"\bthe\s+present\s+(?:text|page|record|entry|note)\b|\b(?:the|these)\s+(?:paragraph|lines?|sentence"
    r"|words)\s+(?:above|below)\b",
    r"\bthe\s+(?:developer|human)\b(?!-|['\u2019]?s?\s+(?:tools?|console|experience|guide|machine|laptop|mode"
    r"|portal|name|eye|ear))",
    r"\bon\s+(?:the\s+|their\s+|your\s+)?(?:user|developer|owner|human)(?:'s|\u2019s)\s+behalf\b"
    r"|\bin\s+the\s+name\s+of\s+the\s+(?:user|owner|developer)\b",
    r"\b(?:for|in|into|across|to)\s+(?:all|every|each)\s+(?:later\s+|future\s+|other\s+)?(?:projects?|tasks?"
    r"|sessions?|conversations?)\s+(?:that\s+)?(?:you\b|from\b|of\s+yours)"
    r"|\b(?:all|every|each)\s+(?:later|future|coming)\s+(?:projects?|tasks?|sessions?)\b"
    r"|\bthe\s+next\s+session\s+(?:finds|reads|follows)\b",
    r"\byour\s+(?:maker|rules?\s+file|editor's\s+prompts?)\b|\byou\s+(?:were|have\s+been)\s+(?:handed|given|set"
    r"|assigned)\b",
    r"\b(?:turn|switch|set)\s+(?:\w+\s+)?confirmations?\s+off\b|\bconfirmBefore\w*[\"']?\s*:\s*false"
    r"|[\"'\u201c`]always\s+allow\b|\brun\s+unattended\b",
    r"\b(?:what|which)ever\s+(?:came|stands|was\s+said|you\s+are\s+doing|the\s+operator)\b"
    r"|\bthe\s+operator\s+(?:wrote|configured|said|set)\b[^.;\n]{0,30}"
    r"(?:respected|beginning|void|ignored|no\s+longer)",
)  # fmt: skip

# What an agent's tools are called, wherever they come from.
_TOOL = (
    r"(?:shell|bash|terminal|console|browser|web(?:[\s-]?(?:search|fetch|browsing))?|fetch|search|http|e-?mail"
    r"|mail|calendar|slack"
    r"|github|gitlab|jira|notion|drive|file(?:[\s-]?system)?|memory|payment|python|code|database|sql"
    r"|deploy(?:ment)?|feedback|messaging)"
)
_NAMED = r"[`'\"]?[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+[`'\"]?"
_USE = r"(?:call|invoke|trigger|run|use|execute|query|consult|start|ask|try|open|pick|rate|report\s+back|re-?run)"
_NAMED_TOOL = (
    r"[`'\"]?(?:\w+_)?(?:(?:exec(?:ute)?|run|sudo|admin)_\w+|\w+_(?:exec|cmd|command|shell|terminal|bash)"
    r"|(?:search|get|query|lookup)_(?:guidance"
    r"|knowledge|docs?|records?))\b[`'\"]?"
)
AGENT_TOOLS = trap(
    "bait for a tool call",
    _START + _USE + r"\s+(?:again\s+|back\s+)?(?:through\s+|with\s+)?(?:the|your|a|its|any|every)\s+(?:"
    + _TOOL + "|" + _NAMED
    + r"|`\w+`\s+(?=tool\b[^.\n]{0,30}\b(?:with\s+this|before|twice|first|to\s+tell|what|once)))\s*(?:tool|server"
    r"|interpreter|plugin)s?\b",
    r"\b(?:with|through|via|using)\s+(?:the|your|a|its)\s+(?:" + _TOOL + "|" + _NAMED + r"|`feedback`)\s+tool\b",
    r"\b(?:call|invoke|invokes|calls|run|runs|pick|picks|use|execute|query|start\s+with|named"
    r"|send)\s+(?:\w+\s+){0,2}?" + _NAMED_TOOL
    + r"(?!\s*\()",
    r"\b(?:your|next)\s+(?:next\s+)?tool\s+calls?\b|\btool\s+(?:you|that\s+you)\s+have\b|\bother\s+tools?\s+you\b"
    r"|\b(?:show|hide|mention|report|log)\s+the\s+tool\s+call\b|^\s*tool\s+description\s*:",
    r"\bthis\s+tool\s+(?:must|should|has\s+to|is\s+(?:listed|called|to\s+be))\b|\btool\s+must\s+be\s+called\b"
    r"|\bwhen(?:ever)?\s+the\s+`?\w+`?\s+tool\s+is\s+called\b|\bthe\s+`?\w+`?\s+tool\s+(?:needs|requires|expects"
    r"|wants)\s+the\s+"
    r"(?:content|text|history|key|token)",
    r"\b(?:query|ask|call|use|prefer|search|rate|re-?run|consult|connect|disconnect|grant)\s+(?:to\s+)?(?:(?:this"
    r"|the)\s+(?:mcp\s+)?(?:server|lookup"
    r"|endpoint)\b(?=\s*(?:again|over|first|for\s+each|with|the\s+`?\w+`?\s+scope|when\s+it\s+asks))|(?:this"
    r"|that)\s+(?:lookup|search|index)\b)",
    r"\b(?:any|every|each|all|the)\s+other\s+(?:\w+\s+)?(?:documentation\s+(?:tools?|servers?)"
    r"|connected\s+servers?|mcp\s+servers?)\b",
    r"\b(?:register|connect|add|install|enable|include|attach|start|put)\b[^.;\n]{0,30}?\bmcp\s+(?:server"
    r"|endpoint)s?\b"
    r"|\b(?:add|put|register|include|connect)\b[^.;\n]{0,40}?(?:claude_desktop_config|mcpServers|mcp\.json)"
    r"|\bmcpServers\b[\"']?\s*:",
    r"\b(?:spawn|start|launch|create|fork)\s+(?:a|another|some|two|more)\s+(?:sub-?|background\s+|second\s+"
    r"|helper\s+)(?:agent|process\s+that\s+repeats)"
    r"|\bhand\b[^.;\n]{0,20}\bto\s+the\s+`?\w+`?\s+agent\b",
    r"\b(?:if|when|whenever|once|should|in\s+case)\s+(?:you\s+(?:have\s+(?:access\s+to\s+an?\s|tools?\b|an?\s+"
    + _TOOL + r"\b)|(?:are|be)\s+able\s+to\s+(?:browse|run|execute|call))|(?:an?|any|the)\s+"
    + _TOOL + r"\s+(?:tool\s+)?(?:is|are)\s+(?:at\s+hand|available|connected|there)|tools\s+are\s+(?:available"
    r"|connected|at\s+hand))",
    r"\blet\s+(?:your|the)\s+(?:code\s+interpreter|sandbox|shell|terminal)\s+(?:run|evaluate|execute)\b"
    r"|\b(?:the\s+)?(?:model|agent)\s+(?:then\s+)?"
    r"(?:picks?|calls?|invokes?)\s+(?:its\s+)?(?:`\w+_\w+`|" + _TOOL + r"\s+tool)",
    r"\b(?:followed|preceded|accompanied)\s+by\s+a\s+call\b|\bbefore\s+(?:any|each|every)\s+(?:edit|answer|reply"
    r"|change|action)\s+you\b",
    r"\bargument\s+of\s+(?:the|each|every)\s+(?:\w+\s+)?(?:tool|call)\b|\bparameter\s+of\s+(?:each"
    r"|every)\s+call\b|\bfield\s+of\s+each\s+call\b",
    r"\b(?:enable|turn\s+on|switch\s+(?:on|to)|activate|use)\s+(?:the\s+)?(?:auto-?(?:run|accept|execute|confirm)"
    r"|agent\s+mode|yolo)\b",
    r"\b(?:log|sign)\s+in\s+to\s+the\s+\w+\s+and\s+copy\b|\binstall\s+the\s+(?:\w+\s+)?(?:extension"
    r"|plugin)\s+that\s+goes\s+with\s+this\b",
    pardon=NEGATED,
)  # fmt: skip

TALK = (CONVERSATION, SUPERSEDED, REPORTING, POSING, SELF, AGENT_TOOLS)
