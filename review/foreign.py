"""Orders to an agent in the languages it reads besides English: the largest ones, by their plainest wording."""

# ruff: noqa: RUF001 - letters of other scripts are what it is about

from __future__ import annotations

from review.traps import trap

_THEN = r"\W+(?:\w+\W+){0,6}?"
OTHER_LANGUAGES = trap(
    "an order to set earlier instructions aside, in another language",
    r"\b(?:ignor(?:e|ez|er)|n.[ée]coute[zr]?\s+(?:plus|pas)|oubli(?:e|ez|er)|n[ée]glige[zr]?|ne\s+(?:tiens"
    r"|tenez)\s+(?:pas|aucun)\s+compte"
    r"|fais\s+abstraction|faites\s+abstraction)"
    + _THEN
    + r"(?:(?:les|des|tes|vos|ces|aux|de)\s+)(?:\w+\s+){0,3}?(?:instructions|consignes|directives|r[èe]gles|ordres"
    r"|messages)\b",
    r"\b(?:ignorier\w*|vergiss|vergessen\s+sie|vergessen\s+sie|missachte\w*|[üu]bergeh\w*|beachte\w*)"
    + _THEN
    + r"(?:\w*anweisung\w*|instruktion\w*|vorgaben?|regeln|befehle?n?|richtlinien|anordnung\w*)\b",
    r"\b(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en|ar)|descart(?:a|e|en)|desestim(?:a|e)|omit(?:e|a)"
    r"|haz\s+caso\s+omiso|hagan?\s+caso\s+omiso|no\s+(?:sigas|hagas\s+caso))"
    + _THEN
    + r"(?:instrucciones|[óo]rdenes|indicaciones|reglas|directrices|directivas)\b",
    r"\b(?:ignor(?:e|a|em)|esque[çc](?:a|e|am)|desconsider(?:e|a)|descart(?:e|a)|desprez(?:e|a))"
    + _THEN
    + r"(?:instru[çc][õo]es|ordens|regras|orienta[çc][õo]es|diretrizes|comandos)\b",
    r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re)?|scarta(?:re)?)"
    + _THEN
    + r"(?:istruzioni|regole|ordini|indicazioni|direttive)\b",
    r"\b(?:(?:про)?игнориру\w+|забуд\w+|отбрось\w*|не\s+обращай\w*\s+внимания|не\s+следуй\w*)"
    + _THEN
    + r"(?:инструкци\w*|указани\w*|команд\w*|правил\w*|распоряжени\w*)",
    r"\b(?:ignora|olvida|olvide|oublie[zr]?|vergiss|dimentica|esque[çc]a|ignore[zr]?)"
    + _THEN
    + r"(?:lo\s+que\s+(?:te|se|le)|ce\s+qu\W?(?:on|il|e)|was\s+(?:man\s+)?(?:dir|ihnen|du)|quello\s+che"
    r"|o\s+que\s+(?:te|lhe|foi))\b",
    r"(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|别管|不要遵守|不要遵循)[^。；;\n]{0,16}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求|设定|规定)",
    r"(?:指示|命令|ルール|プロンプト|指令|指図|規則)[^。\n]{0,10}(?:無視|忘れ|従わな|破棄)",
    r"(?:지시|명령|지침|규칙|프롬프트)[^.\n]{0,12}(?:무시|잊)",
    r"(?:निर्देश|आदेश|नियम|हिदायत)[^।\n]{0,24}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)|(?:अनदेखा|नज़रअंदाज़"
    r"|भूल)[^।\n]{0,24}(?:निर्देश|आदेश|नियम)",
    r"(?:تجاهل|تجاهلي|انس|إنس|أهمل|اهمل|تخط)[^.\n]{0,30}(?:تعليمات|أوامر|اوامر|توجيهات|قواعد)",
    r"\b(?:abaikan|lupakan)" + _THEN + r"(?:instruksi|perintah|petunjuk|aturan)\b|(?:উপেক্ষা|ভুলে)[^।\n]{0,24}(?:নির্দেশ)"
    r"|(?:নির্দেশ)[^।\n]{0,24}(?:উপেক্ষা|ভুলে)",
)
