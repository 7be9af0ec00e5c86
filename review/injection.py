"""Text that tries to steer the agent that reads it.

A list of patterns is a tripwire, not a proof: what keeps records safe is that a person approves each one. The
tripwire makes sure that the person has seen what it names.
"""

from __future__ import annotations

from review.traps import NEGATED, trap

_USER = r"(?:(?:the|your|any|a)\s+)?(?:user|human|owner|developer|operator|person|reader|customer|maintainer|reviewer|anyone|anybody|them)"
_AI = (
    r"(?:ais?|a\.i\.s?|llms?|(?:large\s+)?language\s+models?"
    r"|(?:ai|coding|llm|autonomous|code|software)[\s-](?:agents?|assistants?|models?|tools?|systems?|bots?)"
    r"|chat\s?bots?|assistants?|copilots?|claude(?:\s+code)?|chatgpt|gpt(?:-?\d\S*)?|gemini|codex|cursor)"
)
_READER = r"(?:" + _AI + r"|agents?|models?|bots?)"
_TEXT = r"(?:record|entry|document|page|card|guidance|answer|snippet|note|notice|passage|text|message|file|section|paragraph|prompt|instructions?|comment|tip|hint|step)"
# Where a sentence or clause gives an order, unlike "can be made to reveal ...".
_ORDER = r"(?:^|[.;:,!?)>*\"']\s+|^[\s>#*-]+|\b(?:and|then|please|now|first|also|must|you|simply|just)\s+)"
_RULES = r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|guardrails?|safeguards?|restrictions?|constraints?|orders?|training|programming|polic(?:y|ies))"
_CHANGE = r"(?:change|edit|note|notice|step|update|upgrade|instruction|addition|package|dependency|modification|command|install(?:ation)?|commit|patch|upload|request)"

ROLE_MARKERS = trap(
    "a role or protocol marker",
    r"<\|[\w ]{2,40}\|>",
    r"\[/?INST\]|<</?SYS>>|\[/?(?:SYSTEM|ASSISTANT)(?:[\s_]\w+)?\]",
    r"</?(?:system|important|critical|instructions?|assistant|user|human|developer|(?:tool|function)[\s_-](?:call|result|use)s?"
    r"|invoke|thinking|antml:\w+|system-reminder|admin|secret|prompt)(?:\s[^>]*)?>",
    r"^[\s>*#-]*\**(?:system|assistant|user|human|developer)\**\s*(?:prompt|message|note|override)?\s*:\**\s+[^\W\d]+[,']?\s+\w+\s+\w+",
    r"^\s*(?:system|assistant|human)\s+(?:prompt|message|override|notice)\s*:",
    r"#{2,6}\s*(?:new\s+)?(?:instruction|system|response|human|assistant|prompt)s?(?:\s+(?:prompt|message|override))?\s*(?::|$)|^#\s*(?:instruction|system|assistant)s?\s*:?\s*$",
    r"\b(?:begin|end|new|updated|start\s+of|end\s+of)\s+(?:the\s+)?system\s+(?:prompt|message|instructions?)\b",
    r"\b(?:new|updated|revised|additional|hidden|secret)\s+(?:instructions?|directives?)\s*(?:follow\b|:|for\s+" + _READER + r"\b)",
    r"(?:-{3,}|={3,})\s*(?:end|begin|start)\s+(?:of\s+)?(?:the\s+)?(?:context|document|user|system|prompt|data|instructions?|record)s?\b",
)
ADDRESSED = trap(
    "an address to the model or agent that reads it",
    r"(?:^|[.!?:;*#>(\[-])\s*(?:attention|dear|hey|hello|hi|listen|for|to|note)?,?\s*(?:all\s+|any\s+|every\s+|you,?\s+|the\s+)?"
    + r"(?:ais?|llms?|language\s+models?|(?:ai|coding|llm)[\s-](?:agents?|assistants?|models?|tools?|bots?)|assistants|chatgpt|claude|copilot)\s*(?::|,\s*(?:please|you|do|always|never|add|run|use|ignore)\b)",
    r"\b(?:attention|dear|hey|hello|hi)[,:]?\s+(?:all\s+|any\s+|every\s+|the\s+)?" + _READER + r"\b",
    r"\b(?:background|note|message|instructions?|reminder|notice|hint|memo|orders?|tip)s?\s+(?:for|to)\s+(?:(?:the|all|any|every|whichever|whatever)\s+)?"
    + _READER + r"\b(?=\s*(?:[:,.!(-]|$|only\b|that\b|who\b|reading\b))",
    r"\b(?:for|to)\s+(?:all\s+|any\s+)?(?:agents|models|bots)\s*:",
    r"\b" + _READER + r",?\s+(?:(?:that|which|who|now|currently|is|are)\s+){0,3}(?:read|see|process|pars|ingest|consum|summari[sz]|load|scann|scan|quot|retriev|review|index|us)(?:s|es|e|ing)?\s+(?:this|these)\b",
    r"\b(?:if|since|because|when|whenever|as)\s+you(?:\s+are|'re|re)?\s+(?:reading\s+this\s+as\s+)?(?:an?\s+|the\s+|some\s+kind\s+of\s+)?(?:\w+\s+){0,1}?" + _READER + r"\b",
    r"\b(?:read|seen|processed|parsed|summari[sz]ed|retrieved|loaded)\s+by\s+an?\s+(?:\w+\s+)?" + _AI + r"\b[,:]",
    r"\b(?:the|any|every|this|each|all|your)\s+(?:ai|assistants?|llms?|language\s+models?|(?:coding|ai)\s+(?:agents?|assistants?|models?))\s+"
    r"(?:must|should|shall|will|has\s+to|have\s+to|needs?\s+to|is\s+required|are\s+required)\b(?!\s+(?:not\s+|never\s+|only\s+)?(?:be|see|receive|have|get)\b)",
    r"(?:^|[.!?:;]\s+|\*\s*)(?:ai|coding|llm)?[\s-]*(?:assistants?|agents|llms|ais|language\s+models|ai\s+\w+s?|chat\s?bots)\s+(?:must|should|shall|are\s+(?:required|expected|obliged|instructed|told|to)|have\s+to|need\s+to)\b(?!\s+(?:not\s+|never\s+|only\s+)?(?:be|see|receive|have|get)\b)",
    r"\byou\s+are\s+(?:now\s+)?(?:an?|the|no\s+longer)\s+(?:\w+\s+){0,2}?(?:ai|assistant|agent|model|llm|chatbot|claude|gpt)\b",
    r"\byou,\s+(?:the|as)\s+(?:\w+\s+){0,2}?" + _READER + r"\b|\bas\s+an?\s+(?:ai|llm|language\s+model)\b[^.\n]{0,20}\byou\b|\bas\s+an\s+ai\b",
    r"\byour\s+(?:system\s+prompt|instructions|training|context\s+window|guidelines|next\s+(?:reply|answer|response|message)|(?:new|real|actual|true|only|first)\s+(?:task|goal|objective|job|purpose|role|persona|mission|instructions?))\b",
)
OVERRIDE = trap(
    "an order to set earlier instructions aside",
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|neglect|dismiss|abandon|pay\s+no\s+(?:attention|heed)\s+to|stop\s+(?:following|obeying)|no\s+longer\s+(?:follow|obey)|(?:do\s+not|don't|never)\s+(?:follow|obey)|set\s+aside|throw\s+(?:away|out))\s+(?:\w+\s+){0,4}?"
    r"(?:previous|prior|above|earlier|preceding|former|existing|original|initial|other|system|safety|your|developer'?s?|operator'?s?|user'?s?)\s+(?:\w+\s+){0,3}?" + _RULES + r"\b",
    r"\b(?:override|bypass|overrule|discard|drop|skip|circumvent|evade|get\s+around)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|system|safety|your|developer)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|guidelines?|guardrails?|directives?|directions?|training)\b",
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}?" + _RULES + r"\s+(?:(?:listed|given|stated|written|that\s+came|you\s+\w+|from)\s+)?(?:above|before(?:hand)?|earlier|previously|so\s+far|until\s+now)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:all|any)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|earlier|preceding)\s+(?:messages?|context|conversations?|chats?|text|requests?|commands?)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever)(?:\s+(?:that|of))?\s+(?:\w+\s+){0,3}?(?:above|before|earlier|so\s+far|prior|until\s+now|previously)\s*(?:[.,;:!]|$|and\b|then\b)",
    r"\b(?:what|whatever|everything|anything|all|instructions?|rules?|things?)\s+(?:that\s+)?you(?:\s+were|\s+have\s+been|'ve\s+been|\s+had\s+been)\s+(?:\w+\s+)?(?:told|instructed|given|taught|asked|trained|shown)\b",
    r"\b(?:instructions?|rules?|guidelines?|prompts?|messages?|context)\s+(?:\w+\s+){0,3}?(?:no\s+longer\s+appl(?:y|ies)|(?:are|is)\s+(?:now\s+)?(?:void|null|obsolete|cancell?ed|revoked|lifted|superseded))\s*[.,;:!]?\s*(?:you|follow|obey|instead|now|do)\b",
    r"\b(?:previous|prior|earlier|original|system|safety)\s+(?:instructions?|prompts?|guidelines?|guardrails?)\s+(?:\w+\s+)?(?:no\s+longer\s+appl(?:y|ies)|(?:are|is)\s+(?:now\s+)?(?:void|null|obsolete|cancell?ed|revoked|lifted|superseded))\b",
    r"\b(?:ignore|disregard|discard|distrust)\s+(?:all|any|every)\s+other\s+(?:\w+\s+)?(?:records?|results?|sources?|guidance|entries|recommendations?|advice|documents?)\b",
    r"\b(?:prefer|favou?r|rank|trust|cite|promote|choose|pick|weigh|recommend)\s+(?:only\s+)?this\s+" + _TEXT + r"\b",
    r"\bthis\s+(?:record|entry|card|note|passage|guidance|text|message)\s+(?:\w+\s+)?(?:overrides?|supersedes?|takes?\s+precedence|outranks?|has\s+priority|replaces)\b",
    _ORDER + r"(?:reveal|print|show|output|repeat|display|leak|disclose|dump|expose|recite|echo|paste|tell|give|quote|copy|return|translate|summari[sz]e)\s+(?:\w+\s+){0,4}?(?:system|hidden|initial|original|secret|developer|internal|full|entire|above|preceding)\s+(?:\w+\s+)?(?:prompts?|instructions)\b",
)
BEHAVIOUR = trap(
    "an order how to answer from now on",
    r"\bfrom\s+(?:now|this\s+point|here|this\s+moment)\s+(?:on(?:wards?)?|forward)\b,?\s+(?:(?:please|always|only|never)\s+)*(?:you\b|answer\b|respond\b|reply\b|act\b|behave\b|speak\b|recommend\b|treat\s+(?:me|every|this)|every\s+(?:answer|reply))",
    r"\byou\s+(?:will|must|shall|should|are\s+to|may|have\s+to|can)\s+(?:now\s+)?(?:only|always|never|exclusively)?\s*(?:respond|reply|answer|speak|obey|comply)\b",
    r"\b(?:respond|reply|answer|output)\s+(?:only|exclusively|solely|just|nothing\s+but)\s+(?:with|in|by)\s+(?:the\s+(?:word|phrase|sentence|string|text|exact)|[\"'\u201c`]|yes\b|base64|emoji|rhymes?|(?:[A-Z]{4,}\b))",
    r"\byour\s+(?:answers?|repl(?:y|ies)|responses?|outputs?)\s+(?:must|should|will|has\s+to|have\s+to|shall)\s+(?:always\s+)?(?:begin|start|end|open|close|recommend|mention|say)\b",
    r"\b(?:append|add|include|mention|insert|put|repeat|start|begin|end|close)\s+(?:\w+\s+){0,8}?(?:(?:to|in|into|of|at|with)\s+)?(?:your\s+(?:future\s+|final\s+|next\s+)?(?:answers?|repl(?:y|ies)|outputs?|responses?)|(?:every|each|all)\s+(?:answer|reply|response|message|file|program|function)s?\s+you\s+\w+)\b",
    r"\b(?:begin|start|end|finish)\s+(?:every|each|all)\s+(?:answer|reply|response)s?\s+(?:with|by)\b",
    r"\b(?:before|after|when)\s+(?:answering|responding|replying)\b(?!\s+(?:with\s+)?(?:\d{3}\b|a\s+request|the\s+(?:client|request|health|probe|caller)|to\s+a\s))",
    r"\b(?:pretend|act|behave)\s+(?:as\s+if|as\s+though|like)\s+you\b|\bpretend\s+(?:to\s+be|that\s+you|you\s+are)\b|\bjailbreak\b",
    r"\b(?:assume|take\s+on|adopt|play)\s+the\s+(?:role|persona|identity)\s+of\s+(?:an?|the)\s+(?:\w+\s+){0,2}?(?:ai|assistant|administrator|root|hacker|unrestricted|system)\b",
    r"\b(?:enter|activate|enable|switch\s+(?:in)?to|you\s+are\s+(?:now\s+)?in)\s+(?:the\s+)?(?:developer|god|unrestricted|dan|jailbreak|unfiltered|do[\s-]anything[\s-]now|maintenance\s+override)[\s-]mode\b",
    r"\byou\s+are\s+now\s+(?:free|allowed|permitted|authori[sz]ed|able|unrestricted|root|admin|in)\b|\byou\s+have\s+(?:permission|no\s+restrictions|full\s+(?:access|permission))\b",
    r"\boffer\s+to\s+(?:run|install|execute|fix|upgrade|sign)\b",
    r"\b(?:relay|repeat|pass\s+on|show|say|recommend|suggest|offer|forward|present)\s+(?:\w+\s+){0,5}?to\s+(?:the|your)\s+(?:user|human)\b(?=\s*(?:[.,;:!]|$|in\s+every|verbatim|word|as\s|at\s|before|and\b))",
    r"\b(?:tell|ask|convince|remind|instruct|urge|persuade)\s+(?:the|your)\s+(?:user|human)\s+(?:to|that\s+they\s+(?:must|should|need\s+to))\s+(?:run|install|execute|paste|visit|download|upgrade|sign|grant|approve|disable|subscribe|buy|pay|send|share)\b",
    r"\b(?:decode|decrypt|unscramble|reverse)\b[^.\n]{0,80}\b(?:and|then)\s+(?:run|execute|follow|obey|apply|do|carry\s+out)\b",
    r"\b(?:save|store|remember|persist|keep|add|write)\s+(?:this|these|the\s+following)\s+(?:\w+\s+){0,3}?(?:(?:in|to|into)\s+(?:your|long[\s-]term|the\s+agent'?s?)\s+memory|for\s+(?:all|every|future)\s+(?:\w+\s+)?(?:sessions?|conversations?|chats?|tasks?))\b",
    r"\b(?:add|write|append|put|save|copy|insert|record|paste|persist)\s+(?:\S+\s+){0,12}?(?:to|in|into)\s+(?:the\s+|your\s+|its\s+)?[`\"']?(?:\S*/)?(?:CLAUDE\.md|AGENTS\.md|GEMINI\.md|\.cursorrules|\.windsurfrules|\.cursor/|\.claude/|copilot-instructions\.md|\.?mcp\.json)",
)
SECRECY = trap(
    "an order to keep something from the user",
    r"\b(?:do\s+not|don't|never|must\s+not|should\s+not|no\s+need\s+to|refrain\s+from|avoid|stop)\s+(?:tell|inform|alert|warn|notify)(?:ing)?\s+" + _USER
    + r"s?\b(?=\s*(?:[.,;:!]|$|and\b|or\b|when\b|if\b|(?:about|of|that|what|why)\s+(?:this|it|these|any\s+of|you|your|the\s+(?:\w+\s+)?" + _CHANGE + r")\b))",
    r"\b(?:do\s+not|don't|never|no\s+need\s+to)\s+ask\s+" + _USER + r"\b(?=\s*(?:[.,;:!]|$|first\b|before\b|for\s+(?:confirmation|permission|approval|consent)\b|whether\b|and\b))",
    r"\b(?:do\s+not|don't|never|must\s+not|avoid|refrain\s+from|without)\s+(?:mention|reveal|disclos|show|report|discuss|repeat|explain|surfac|display|quot|acknowledg|admit)(?:e|ing)?\s+(?:(?:any\s+of\s+)?(?:this|these|it|the|that|your)\s+)(?:\w+\s+){0,4}?to\s+(?:the\s+user|your\s+user|the\s+human|anyone|them)\b(?=\s*(?:[.,;:!]|$|and\b|or\b|at\b|under\b))",
    r"\b(?:do\s+not|don't|never|without)\s+(?:mention|reveal|disclos|discuss|repeat|acknowledg|quot)(?:e|ing)?\s+(?:this|these|the\s+above)\s+" + _TEXT + r"s?\b",
    r"\bkeep\s+(?:this|these|it|the\s+\w+)\s+(?:\w+\s+){0,3}?(?:from\s+(?:the|your)\s+(?:user|human|developer|owner|reviewer)|between\s+us|to\s+yourself)\b",
    r"\bkeep\s+this\s+(?:" + _TEXT + r"\s+)?(?:secret|hidden|quiet|confidential|private)\b",
    r"\b(?:hide|conceal|withhold|disguise)\s+(?:this|these|it|your|what\s+you|all\s+of\s+this|the\s+(?:\w+\s+)?(?:" + _CHANGE + r"|fact|output|diff))\b(?:\s+\w+){0,4}?\s+from\s+(?:the|your|any)\s+(?:user|human|developer|owner|reviewer|operator|reader)\b(?!s)",
    r"(?:^|[.;:,!?]\s+|\b(?:then|please)\s+)(?:silently|quietly|discreetly|invisibly)\s+(?:add|install|run|execute|commit|push|insert|include|inject|send|upload|append|enable|disable|apply|set|make|edit|modify|change|replace|copy|read|open|write)\b",
    r"\b(?:secretly|covertly|stealthily|surreptitiously)\s+\w+",
    r"\b(?:the\s+user|users?|human)\s+(?:must|should|need|does|do|will)\s*(?:not|n't|never)\s+(?:know|notice|find\s+out|learn|hear|be\s+(?:told|informed|aware))\b(?:\s+(?:about|of|that)\s+(?:this|it|these|you|your)\b|\s*[.,;!]|$)",
)
# Pardoned where it forbids: "never merge without asking the owner".
PERMISSION = trap(
    "a switch that takes the user out of the loop",
    r"\bauto_?approve\w*|(?<![-\w])auto[\s-]approv(?:e|al|ing)\s+(?:(?:all|every|any|its|the|of)\s+)*(?:tools?|commands?|edits?|permissions?|calls?|everything|mode|actions?)\b",
    r"--dangerously-[\w-]+|--yolo\b|\byolo[\s-]?mode\b|\bbypassPermissions\b|\bacceptEdits\b|\bdangerouslySkip\w+|--(?:allow-all-tools|trust-all-tools|full-auto|skip-permissions|always-allow|no-confirm|approve-all)\b",
    r"\b(?:skip|bypass|disable|turn\s+off|switch\s+off|suppress)\s+(?:\w+\s+){0,2}?(?:permission|approval|sandbox|safety|guardrail)s?\s+(?:prompts?|checks?|filters?|mode|dialogs?|requests?|system)\b",
    r"\b(?:approve|accept|confirm|allow|grant)\s+(?:all|any|every|each)\s+(?:\w+\s+)?(?:tool|permission|shell|terminal)s?\b",
    r"\bwithout\s+(?:telling|asking|informing|notifying|alerting|warning)\s+" + _USER + r"\b(?!s\b|\s+(?:which|what|how|for\s+(?:the|a|their|more)|to\b|again\b|twice\b))",
    r"\b(?:proceed|continue|run|apply|install|execute|merge|push|commit|deploy|approve|go\s+ahead)\b[^.;\n]{0,40}?\bwithout\s+(?:asking\s+for\s+|waiting\s+for\s+|requesting\s+|any\s+|further\s+|user\s+)*(?:confirmation|permission|approval|consent)\b",
    r"\b(?:set|switch|change|put|turn)\s+(?:the\s+|your\s+)?(?:permission|approval|sandbox)\s+(?:mode|policy|setting|level)\s+(?:to|off)\b",
    r"\b(?:chat\.tools\.|tools?\.)\w*(?:approve|allow)\w*\b",
    pardon=NEGATED,
)
TOOL_BAIT = trap(
    "bait for a tool call",
    r"\b(?:call|invoke|trigger|use|run)\s+(?:the\s+|your\s+|any\s+)?(?:`[\w.-]+`|[\w.]*_[\w.]+|your\s+\w+|shell|bash|terminal|browser|web|fetch|file)\s+tool\b",
    r"\b(?:call|invoke|trigger)\s+(?:the\s+|your\s+|any\s+)?[`\w.-]+\s+tool\b",
    r"\b(?:use|with|using|through)\s+your\s+(?:\w+\s+)?(?:tools?|shell|terminal|browser|file\s+access|web\s+access)\b",
    r"\b(?:search_knowledge|get_guidance|submit_feedback)\b|\btools/call\b",
    r"\b(?:make|issue|emit|send)\s+a\s+tool\s+call\b",
    r"\b(?:install|add|connect\s+to|register|enable)\s+(?:this|the|our)\s+(?:\w+\s+){0,2}?(?:mcp\s+server|plugin|extension)\b(?=\s*(?:[.,;:!]|$|as\s+well|from|at|to\s+get|for\s+(?:full|more|better)|first|before))",
)
_THEN = r"\W+(?:\w+\W+){0,6}?"
OTHER_LANGUAGES = trap(
    "an order to set earlier instructions aside, in another language",
    r"\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|n[ée]glige[zr]?|ne\s+(?:tiens|tenez)\s+(?:pas|aucun)\s+compte|fais\s+abstraction|faites\s+abstraction)" + _THEN
    + r"(?:(?:les|des|tes|vos|ces|aux|de)\s+)(?:\w+\s+){0,3}?(?:instructions|consignes|directives|r[èe]gles|ordres|messages)\b",
    r"\b(?:ignorier\w*|vergiss|vergessen\s+sie|missachte\w*|[üu]bergeh\w*|beachte\w*)" + _THEN + r"(?:anweisung\w*|instruktion\w*|vorgaben?|regeln|befehle?n?|richtlinien|anordnung\w*)\b",
    r"\b(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en|ar)|descart(?:a|e|en)|desestim(?:a|e)|omit(?:e|a)|haz\s+caso\s+omiso|hagan?\s+caso\s+omiso|no\s+(?:sigas|hagas\s+caso))" + _THEN
    + r"(?:instrucciones|[óo]rdenes|indicaciones|reglas|directrices|directivas)\b",
    r"\b(?:ignor(?:e|a|em)|esque[çc](?:a|e|am)|desconsider(?:e|a)|descart(?:e|a)|desprez(?:e|a))" + _THEN + r"(?:instru[çc][õo]es|ordens|regras|orienta[çc][õo]es|diretrizes|comandos)\b",
    r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re)?|scarta(?:re)?)" + _THEN + r"(?:istruzioni|regole|ordini|indicazioni|direttive)\b",
    r"\b(?:(?:про)?игнориру\w+|забуд\w+|отбрось\w*|не\s+обращай\w*\s+внимания|не\s+следуй\w*)" + _THEN + r"(?:инструкци\w*|указани\w*|команд\w*|правил\w*|распоряжени\w*)",
    r"(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|别管|不要遵守|不要遵循)[^。；;\n]{0,16}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求|设定)",
    r"(?:指示|命令|ルール|プロンプト|指令|指図|規則)[^。\n]{0,10}(?:無視|忘れ|従わな|破棄)",
    r"(?:지시|명령|지침|규칙|프롬프트)[^.\n]{0,12}(?:무시|잊)",
    r"(?:निर्देश|आदेश|नियम|हिदायत)[^।\n]{0,24}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)|(?:अनदेखा|नज़रअंदाज़|भूल)[^।\n]{0,24}(?:निर्देश|आदेश|नियम)",
    r"(?:تجاهل|تجاهلي|انس|إنس|أهمل|اهمل|تخط)[^.\n]{0,30}(?:تعليمات|أوامر|اوامر|توجيهات|قواعد)",
    r"\b(?:abaikan|lupakan)" + _THEN + r"(?:instruksi|perintah|petunjuk|aturan)\b|(?:উপেক্ষা|ভুলে)[^।\n]{0,24}(?:নির্দেশ)|(?:নির্দেশ)[^।\n]{0,24}(?:উপেক্ষা|ভুলে)",
)

ORDERS = (ROLE_MARKERS, ADDRESSED, OVERRIDE, BEHAVIOUR, SECRECY, PERMISSION, TOOL_BAIT, OTHER_LANGUAGES)
