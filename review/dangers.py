"""Text that would harm the machine of whoever follows it: code run unseen, data sent away, protection removed."""

from __future__ import annotations

import re

from review.traps import NEGATED, trap

_PIPE_TO_SHELL = (
    r"\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+)?(?:/\S*/)?(?:ba|z|k|da|fi)?"
    r"(?:sh|python[\d.]*|node|perl|ruby|php|pwsh|iex|source)\b"
)
_FETCH = r"(?:curl|wget|iwr|irm|invoke-webrequest|start-bitstransfer|bitsadmin|certutil|aria2c|lwp-request)"
_RUN = (
    r"(?:chmod\s+(?:-\w+\s+)*(?:[ugoa]*\+\w*x\w*|0?[0-7]{0,1}[57][0-7]{2})\b|(?:sudo\s+)?(?:ba|z|da"
    r"|k)?sh\s+(?!-c\b)[\w./~$-]|(?:sudo\s+)?(?:python[\d.]*|node|perl|ruby|php)\s+[\w./~$-]*[/.]"
    r"|(?:sudo\s+)?(?:\./|/tmp/|~/)[\w.-]+|start-process|msiexec|(?:sudo\s+)?(?:dpkg|rpm)\s+-i"
    r"|(?:sudo\s+)?installer\s+-pkg)"
)
# A checksum or signature between the two makes it a checked download.
_UNCHECKED = r"(?:(?!sha\d+sum|shasum|gpg\b|cosign|minisign|checksum|\n\n)[\s\S]){0,200}?"
_LOCAL = r"(?:localhost|127\.|\[::1\]|0\.0\.0\.0)"
_GO_HOSTS = (
    r"(?:github\.com|golang\.org|google\.golang\.org|gopkg\.in|go\.uber\.org|k8s\.io|sigs\.k8s\.io|honnef\.co|mvdan\.cc"
    r"|gotest\.tools|go\.opentelemetry\.io|connectrpc\.com|entgo\.io|gorm\.io|go\.etcd\.io|go\.mongodb\.org)"
)
_INDEXES = (
    r"(?:(?:test\.)?pypi\.org|download\.pytorch\.org|registry\.npmjs\.org|rubygems\.org|localhost|127\.0\.0\.1"
    r"|[\w.-]+\.(?:internal|local)\b)"
)
_PRIVATE_FILE = (
    r"(?:\S*\.ssh/(?!config\b|known_hosts\b|authorized_keys\b|\S*\.pub\b)\S*|\S*\bid_(?:rsa|ed25519|ecdsa"
    r"|dsa)\b(?!\.pub)|\S*\.aws/credentials"
    r"|\S*\.(?:netrc|pgpass|git-credentials|npmrc|pypirc)\b|\S*\.kube/config|\S*\.docker/config\.json"
    r"|\S*\.gnupg\b\S*|\S*\.config/gcloud\S*|/etc/shadow\b|/proc/\S+/environ\b|\S*(?<![\w])\.env(?:\.(?:local"
    r"|production|prod))?\b(?!\.)"
    r"|\S*(?:wallet\.dat|keychain|cookies\.sqlite|login\s+data)\b)"
)
_PRIVATE_THING = (
    r"(?:environment\s+variables?|env\s+vars?|credentials?|(?:api|access|private|secret|ssh|signing"
    r"|session)\s+(?:keys?|tokens?)|secrets?|tokens?|passwords?|cookies|keychain"
    r"|(?:chat|shell|browser|command|conversation)\s+history|conversation|source\s+code"
    r"|(?:contents?\s+of\s+)?(?:the\s+)?(?:whole\s+|entire\s+|private\s+)?repositor(?:y|ies)|codebase|workspace)"
)
_SEND = r"(?:send|post|upload|transmit|forward|e-?mail|exfiltrate|leak|relay|ship|transfer|mail|beam|smuggle)(?:s|ing)?"
_PUT = (
    r"(?:include|attach|paste|append|embed|add|print|report|quote|output|return|echo|encode|put|share|show|write"
    r"|copy|place)"
)
_OUTSIDE = (
    r"(?:(?:the|this|our|a|an|my|that)\s+)?(?:\w+\s+){0,2}?(?:address|e-?mail|webhook|collector|pastebin|gist"
    r"|form|maintainers?|support|vendor|attacker|third[\s-]part(?:y|ies)|external\s+\w+|remote\s+(?:server|host)"
    r"|telemetry\s+\w+|analytics\s+\w+|issue|comment|chat|channel|link|url|us\b|me\b)"
)

DOWNLOAD_AND_RUN = trap(
    "code fetched from the network and run at once",
    r"\b(?:" + _FETCH + r"|fetch|http)\b[^\n|]*(?:\|\s*(?:tee|gunzip|zcat|tar|xz|base64)\b[^\n|]*)?" + _PIPE_TO_SHELL,
    r"\b"
    + _FETCH
    + r"\b(?=[^\n;&]*(?:\s-\w*[oO]\b|--output|--remote-name|-outfile|>|\bwget\b|-urlcache|\s/transfer))?(?![^\n;&]*"
    + _LOCAL
    + r")[^\n;&|]*(?:;|&&|\n|`[,.]?\s*(?:and|then)\b|,?\s+then\b)"
    + _UNCHECKED
    + _RUN,
    r"\b(?:ba|z|k|da)?sh\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*" + _FETCH + r"\b",
    r"(?:\bsource|\beval|(?:^|\s)\.)\s+[\"']?(?:<\(|\$\(|`)\s*" + _FETCH + r"\b",
    r"\b(?:iex|invoke-expression)\b[\s\S]{0,40}?\b(?:iwr|irm|new-object|invoke-webrequest|downloadstring"
    r"|invoke-restmethod)\b|\bdownloadstring\s*\(",
    r"\bnpx\s+(?:-y|--yes)\b|\b(?:bunx|pnpm\s+dlx|yarn\s+dlx)\s+[\w@]|\b(?:npx|bunx|uvx|deno\s+run"
    r"|pipx\s+run)\s+(?:-\S+\s+)*[\"']?(?:git\+|https?://|github:)|\buvx\s+--from\s+[\"']?(?:git\+|https?:)",
    r"\b(?:exec|eval|function|os\.system|popen|(?:pickle|marshal|dill)\.loads?"
    r"|import_module)\s*\(?[^\n]{0,80}(?:urlopen|urllib|\brequests\.|\bhttpx\.|\bfetch\s*\(|https?\.get|\bcurl\b"
    r"|\bwget\b)",
    r"\b(?:require|import)\s*\(\s*[\"']https?://",
    r"\bmshta(?:\.exe)?\s+(?:https?:|javascript:|vbscript:)|\bregsvr32\b[^\n]*/i:|\brundll32\b[^\n]*(?:https?:"
    r"|javascript:)",
    r"\bkubectl\s+(?:apply|create)\s+(?:-\S+\s+)*-f\s+[\"']?https?://(?!" + _LOCAL + r")",
    pardon=NEGATED,
)
DOWNLOAD_IN_WORDS = trap(
    "code fetched from the network and run at once",
    r"(?:^|[.;:!?]\s+|\b(?:then|please|just|simply)\s+)(?:download|fetch)\s+[^.;\n]{0,90}?\b(?:and|then)\s+(?:run"
    r"|execute|launch|start|open|double-click|pipe|install)\b\s+(?:it|them|the\s+(?:script|binary|installer|file"
    r"|program|result))\b",
    r"(?:^|[.;:!?]\s+|\b(?:then|please|just|simply)\s+)(?:download|fetch)\s+and\s+(?:run|execute|install|launch)\b",
    r"\b(?:install|run|execute|launch|use)\s+[^.;\n]{0,60}?\b(?:binary|script|installer|executable|package"
    r"|wheel)\s+(?:from|at|hosted)\s+(?:the\s+)?(?:address|link|url|site|mirror)\b",
    r"\bmake\s+(?:it|the\s+(?:file|script|binary))\s+executable\s+and\s+(?:run|start|launch|execute)\b",
    r"\brun\s+(?:the\s+)?(?:binary|result|installer|downloaded\s+\w+)\s+(?:as\s+root|as\s+administrator"
    r"|with\s+sudo|elevated)\b",
    pardon=NEGATED,
)
UNLISTED_INSTALL = trap(
    "an installation from a host that no registry vouches for",
    r"\bgo\s+(?:install|get|run)\s+(?:-\S+\s+)*(?!" + _GO_HOSTS + r"/)[a-z0-9-]+(?:\.[a-z0-9-]+)+/\S",
    r"\b(?:uv\s+)?pip[\dx.]*\s+install\b[^\n`]*?(?:git\+|hg\+|svn\+|--trusted-host"
    r"|(?<!-url)(?<!index)(?<!-links)(?<!\s-[if])\s[\"']?https?://)",
    r"\b(?:pip[\dx.]*|uv)\s+(?:\w+\s+)?(?:install|add|sync|download)\b[^\n`]*?(?:--(?:extra-)?index-url"
    r"|--default-index|--index|-i|--find-links|-f)[\s=]+[\"']?(?:https?://)?+(?!" + _INDEXES + r")[\w-]+\.[\w.-]+",
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|ci)\b[^\n`]*?(?:\s[\"']?(?:git\+|git:|https?://|github:|gitlab:)"
    r"|--registry[\s=]+[\"']?(?:https?://)?+(?!" + _INDEXES + r")[\w-]+\.\w)",
    r"\b(?:npm|pnpm|yarn)\s+config\s+set\s+(?:\S*registry|strict-ssl)\b[^\n`]*?(?:https?://(?!"
    + _INDEXES
    + r")|false\b)",
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add)\s+(?:-\S+\s+)*[a-z0-9-]+/[\w.-]+|\bpoetry\s+source\s+add\b",
    r"\bGOPROXY=[\"']?https?://(?!proxy\.golang\.org)",
    r"\bcargo\s+(?:install|add)\b[^\n`]*?--(?:git|index|registry)\b",
    r"\bgem\s+(?:install|sources?)\b[^\n`]*?(?:--source|--add|-s|-a)[\s=]+[\"']?(?:https?://)?+(?!"
    + _INDEXES
    + r")[\w-]+\.\w",
    r"\bgem\s+install\s+[\"']?https?://|\bcomposer\s+config\s+repositor|\bbrew\s+(?:install|tap)\b[^\n`]*https?://",
    r"\b(?:dpkg|rpm|apt(?:-get)?|yum|dnf|apk)\s+(?:-\S+\s+)*(?:install|add|-i|-U"
    r"|-ivh)?\s*(?:-\S+\s+)*[\"']?https?://|\bapt-key\s+(?:add|adv)\b|--allow-unauthenticated\b"
    r"|\bapk\s+add\b[^\n`]*--(?:repository|allow-untrusted)",
    r"\b(?:code|cursor|codium)\s+--install-extension\s+\S+\.vsix|\bclaude\s+mcp\s+add\b|\bhelm\s+(?:install"
    r"|upgrade)\b[^\n`]*\shttps?://",
    r"\binstall\s+(?:\S+\s+){0,4}?from\s+[\"'`]?(?:https?://)?(?!"
    + _INDEXES
    + r"|github\.com|gitlab\.com|npmjs|crates)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|app|co|info|xyz"
    r"|site|online|example|ru|cn|top)\b",
    pardon=NEGATED,
)
ENCODED = trap(
    "a command that is encoded so that nobody reads it",
    r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s[-/]e(?:nc?|nco\w*|c)?\b(?!\w)",
    r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s[-/](?:w|win\w*)\s+hidden\b|\bfrombase64string\b",
    r"\b(?:base64|base32|openssl\s+(?:enc|base64)|uudecode|xxd)\s+[^\n|]*?(?:-d|-D|--decode|-r)\b[^\n]*?"
    + _PIPE_TO_SHELL,
    r"(?:printf|echo)\s+[^\n|]*(?:\\x[0-9a-f]{2}|\\[0-7]{3}){3,}[^\n|]*" + _PIPE_TO_SHELL,
    r"\b(?:exec|eval|function|compile|os\.system|execfile)\s*\(?[^\n]{0,80}(?:b64decode|base64|atob|fromhex"
    r"|unhexlify|decodebytes|codecs\.decode|rot_?13|zlib\.decompress|fromCharCode|Buffer\.from)",
    r"(?:\$\(|(?<=[=\"(])`|<\()\s*(?:echo|printf)\s[^\n)]*\|\s*(?:base64|base32|xxd|rev|tr|openssl)\b[^\n]*(?:-d|-D"
    r"|--decode|-r|rev|tr)",
    r"\bcertutil\b[^\n]*-decode\b|\beval\b[^\n]{0,80}\.pack\(",
    r"\|\s*(?:rev|tr\s+\S+\s+\S+)\s*" + _PIPE_TO_SHELL,
    pardon=NEGATED,
)
BACKDOOR = trap(
    "a door opened for others",
    r"/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat|socat)\b[^\n]*(?:\s-\w*e\w*\s|exec:|/bin/(?:ba)?sh|--exec)",
    r"\b(?:add|append|write|put|echo|install|copy)\b[^.\n]*?(?:>>?\s*\S*authorized_keys"
    r"|to\s+[`\"']?\S*authorized_keys)|>>\s*\S*/authorized_keys",
    r"\bNOPASSWD\s*:\s*ALL\b|\buseradd\b[^\n]*-o\b[^\n]*-u\s*0\b|\bchmod\s+(?:u\+s|[24][0-7]{3})\s+/(?:usr/)?bin/\w+",
    r"\bcrontab\b[^\n]*"
    + _FETCH
    + r"|(?:echo|printf)\b[^\n]*"
    + _FETCH
    + r"[^\n]*(?:crontab|cron\.d|\.(?:bash|zsh)rc|\.profile)\b",
    pardon=NEGATED,
)
EXFILTRATION = trap(
    "local data sent away",
    r"\b(?:curl|wget|nc|ncat|httpie|http|scp|ssh|dig|nslookup|ping|telnet)\b[^\n]*(?:\$\(\s*(?:cat|env|printenv"
    r"|whoami|base64|hostname|id|<|git\s+config|gh\s+auth)|`(?:cat|env|printenv|whoami)\b|@(?:~|/(?!dev/stdin"
    r"|tmp/|dev/null)|\.env|\$HOME))",
    r"\b(?:curl|wget|scp|rsync|nc|aws\s+s3\s+cp|gsutil\s+cp|rclone\s+copy)\b[^\n]*?(?<!\s-i)\s+(?:-T\s*"
    r"|--upload-file[\s=]+|--post-file[\s=]+|--data-binary\s+@|-F\s+\S+=@|<\s*)?[\"']?" + _PRIVATE_FILE,
    r"\b(?:env|printenv|set|history|gh\s+auth\s+token|git\s+credential\s+fill|cat\s+\S*(?:\.env|id_rsa|id_ed25519"
    r"|credentials|\.netrc|\.ssh|_history)\S*|tar\s+[^\n|]*(?:~|\$HOME|\.ssh"
    r"|\.aws)[^\n|]*)\s*\|(?:[^\n|]*\|){0,4}\s*(?:curl|wget|nc|ncat|ssh|base64|openssl|http)\b",
    r"\bgh\s+gist\s+create\s+(?:-\S+\s+)*" + _PRIVATE_FILE,
    r"\bgit\s+(?:remote\s+(?:add|set-url)\s[^\n]*\bgit\s+push\b[^\n]*--(?:all|mirror)"
    r"|push\s+(?:-\S+\s+)*https?://(?!github\.com|gitlab\.com))",
    r"https?://\S*[?&/=](?:\$\((?!\()|\$\{?\w*(?:TOKEN|SECRET|PASSWORD|API_?KEY|PRIVATE)\w*\}?|\{\{\s*(?:secret"
    r"|env|token))",
    pardon=NEGATED,
)
EXFILTRATION_IN_WORDS = trap(
    "local data sent away",
    r"\b"
    + _SEND
    + r"\s+(?:\S+\s+){0,6}?[`\"'(]?"
    + _PRIVATE_FILE
    + r"[`\"')]?,?\s+(?:\S+\s+){0,4}?(?:to|at|in|with|through|over)\b",
    r"\b"
    + _SEND
    + r"\s+(?:\S+\s+){0,6}?"
    + _PRIVATE_THING
    + r"\s+(?:\S+\s+){0,3}?(?:to|at|through)\s+(?:"
    + _OUTSIDE
    + r"|[`\"'<]?(?:https?://|\S+@\S+\.|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|example|xyz|ru|cn|info"
    r"|co|site|top)\b))",
    r"\b(?:read|open|cat|print|load|get|take|grab|collect|gather|find|fetch|dump|copy|search|look\s+up|list"
    r"|extract|(?:base64-)?encode|compress|zip|archive)\s+(?:\S+\s+){0,6}?[`\"'(]?(?:"
    + _PRIVATE_FILE
    + r"[`\"')]?[^.\n]{0,40}?(?:,|\band\b|\bthen\b)\s+(?:\w+\s+){0,2}?(?:"
    + _PUT
    + "|"
    + _SEND
    + r")\b|(?:all\s+|the\s+|your\s+)*(?:environment\s+variables|credentials|api\s+keys?|private\s+keys?"
    r"|ssh\s+keys?)\b[^.\n]{0,40}?(?:,|\band\b|\bthen\b)\s+(?:\w+\s+){0,2}?(?:include|attach|paste|append|embed|"
    + _SEND
    + r")\b)",
    r"\b"
    + _PUT
    + r"\s+(?:\S+\s+){0,4}?(?:contents?|values?|text|lines?|output)\s+of\s+(?:\S+\s+){0,2}?[`\"'(]?(?:"
    + _PRIVATE_FILE
    + r"|`?(?:env|printenv)`?\b)",
    r"\b"
    + _PUT
    + r"\s+(?:\S+\s+){0,4}?(?:[`\"'(]?"
    + _PRIVATE_FILE
    + r"|environment\s+variables|(?:ssh|api|private|access|signing)\s+(?:keys?|tokens?)|credentials|passwords?"
    r"|session\s+tokens?)[`\"')]?\s+(?:\S+\s+){0,1}?(?:in|to|into)\s+(?:your|the|every|each|a"
    r"|an)\s+(?:\w+\s+)?(?:answer|reply|query|search|report|summary|issue|comment|pull\s+request|commit|branch"
    r"|prompt|feedback|url|link|request\s+to\s+\S+\.\w+)\b",
    pardon=NEGATED,
)
CREDENTIAL_PLACES = trap(
    "a place where credentials lie",
    r"(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|config/gcloud"
    r"|git-credentials|pgpass)\b",
    r"\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:shadow|sudoers)\b|/proc/(?:self|\d+)/environ\b",
    r"\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\bfd00:ec2::254\b",
    r"\b(?:cat|read|open|print|source)\s+(?:the\s+)?[`\"']?(?:\S*/)?\.env\b",
)
_RUIN = (
    r"(?:/(?:etc|usr|var|home|boot|bin|sbin|root|lib|opt|srv|Users|System|Library)?/?\*?|~/?\*?|\$\{?HOME\}?/?\*?"
    r"|[A-Za-z]:[\\/]+\*?|%\w+%\S*)(?=[\s\"'`;&|),.]|$)"
)
RUIN = trap(
    "a step that ruins the machine it runs on or gives it away",
    r"\brm\s+(?:-\S+\s+)*-(?:\w*[rR]\w*|-recursive)\s+(?:-\S+\s+)*[\"']?" + _RUIN + r"|--no-preserve-root\b",
    r"\bfind\s+(?:/|~|\$HOME)\s[^\n]*(?:-delete\b|-exec\s+rm\b)|\b(?:chmod|chown)\s+(?:-\S+\s+)*(?:-R"
    r"|--recursive)\s+(?:-\S+\s+)*\S+\s+" + _RUIN,
    r"\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|\bdd\s[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|xvd|disk|mmcblk)|>\s*/dev/(?:sd"
    r"|nvme|hd|vd|disk)\w|\b(?:wipefs|shred|blkdiscard)\s[^\n]*/dev/",
    r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:|\bformat\s+[a-z]:\s|\b(?:del|rd|rmdir)\s+(?:/\w\s+)+[\"']?[a-z]:\\"
    r"|\bremove-item\b[^\n]*-recurse\b[^\n]*(?:[a-z]:\\(?:\s|$|\*|windows)|\s~|\$env:)",
    r"\b(?:docker|podman|nerdctl)\s+(?:\w+\s+){0,3}?(?:run|create)\b(?=[^\n`]*?(?:(?:-v|--volume"
    r"|--mount)[\s=]+\S*?(?:source=|src=)?(?<![\w.])/(?::|,)))[^\n`]*",
    r"\b(?:docker|podman|nerdctl)\s+(?:\w+\s+){0,3}?run\b[^\n`]*--privileged\b[^\n`]*(?:-v|--volume|--mount"
    r"|--pid[\s=]host|--net(?:work)?[\s=]host)|\bnsenter\s[^\n]*(?:-t|--target)[\s=]?1\b",
    r"\b(?:setenforce\s+0|iptables\s+-F|ufw\s+disable|systemctl\s+(?:stop|disable)\s+(?:auditd|apparmor|firewalld"
    r"|falcon\S*)|set-mppreference\s+-disable\w+|csrutil\s+disable|spctl\s+--master-disable|history\s+-c"
    r"|kill\s+-(?:9|KILL)\s+-1)(?!\w)",
    r"\b(?:delete|wipe|erase|destroy|remove)\s+(?:everything|all\s+(?:the\s+)?files|all\s+data)\s+(?:in|on|under"
    r"|below|from)\s+(?:the\s+)?(?:/(?!\w)|root\b|home\s+director|disk|drive|machine|computer|system|user'?s?\s)",
    pardon=NEGATED,
)
# What a record may advise when it says when not to.
_AGAINST = re.compile(
    NEGATED.pattern + r"|\b(?:no|without|stop|remove|unsafe|loses?|instead\s+of)\b",
    re.IGNORECASE,
)
_MAKEABLE = (
    r"(?!\s+(?:-\S+\s+)*[\"']?(?:\./)?(?:node_modules|dist|build|target|out|coverage|\.venv|\.?cache|\.next|\.tox"
    r"|__pycache__|/tmp/\w|/var/lib/apt/lists|/var/cache/|/usr/share/(?:doc|man)))"
)
DESTRUCTIVE = trap(
    "a step that destroys data or removes a protection",
    r"\bDROP\s+(?:TABLE|DATABASE|SCHEMA|COLUMN|ROLE|USER)\b|\bTRUNCATE\s+(?:TABLE\s+)?\w",
    r"\bDELETE\s+FROM\s+[\w.\"]+\s*(?:;|$)",
    r"\b(?:fsync|full_page_writes|synchronous_commit)\s*(?:=|to)\s*'?off\b",
    r"\brm\s+-(?:\w*r\w*f|\w*f\w*r)\w*\b"
    + _MAKEABLE
    + r"|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:\S+\s+)*?(?:-f|--force)\b(?!-))",
    r"(?<![\w-])--(?:force|no-verify|privileged|insecure|allow-root|no-preserve-root|disable-[\w-]*(?:security"
    r"|sandbox)\w*)\b(?!-)",
    r"\bchmod\s+(?:-R\s+)?0?777\b|\bGRANT\s+ALL\b|\bterraform\s+destroy\b|\bkubectl\s+delete\b|\bFLUSH(?:ALL|DB)\b",
    r"\bverify\s*=\s*False\b|\brejectUnauthorized\s*:\s*false\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b"
    r"|\bInsecureSkipVerify\s*:\s*true\b|\bcurl\s+(?:-\S+\s+)*-k\b|\bsslVerify\s+false\b"
    r"|\bStrictHostKeyChecking[= ]no\b",
    r"\bUPDATE\s+[\w.\"]+\s+SET\b(?![^;`]*\bWHERE\b)|\bDISABLE\s+(?:TRIGGER|ROW\s+LEVEL)|\bpg_resetwal\b"
    r"|\bkill\s+-(?:9|KILL)\b|`trust`[^.\n]{0,60}\bpg_hba|\bpg_hba\b[^.\n]{0,40}`trust`",
    r"\bdown\s+(?:-\S+\s+)*(?:-v|--volumes)\b|\bDEBUG\s*=\s*True\b|\bcsrf_exempt\b|\bAllow-Origin:\s*\*",
    pardon=_AGAINST,
)

MACHINE = (
    DOWNLOAD_AND_RUN, DOWNLOAD_IN_WORDS, UNLISTED_INSTALL, ENCODED, BACKDOOR, EXFILTRATION, EXFILTRATION_IN_WORDS, RUIN,
)  # fmt: skip
