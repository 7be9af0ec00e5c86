"""Operations without a database: arguments are checked by the real contract, answers have its shapes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from app.arguments import parse_arguments
from app.operations import OPERATIONS


def answer_offline(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Answer as an empty knowledge base would."""
    parse_arguments(OPERATIONS[name].request, arguments)
    if name == "search_knowledge":
        return {
            "query_summary": "any topic",
            "results": [],
            "retrieval": {
                "mode": "no_match",
                "degraded": False,
                "total_candidates": 0,
                "technology_filter_fallback": False,
                "truncated": False,
                "tokens_used": 60,
                "dropped": [],
            },
            "suggestions": ["Describe the decision in a sentence."],
        }
    if name == "get_guidance":
        return {"results": [], "missing": list(arguments["ids"])}
    return {"accepted": True, "id": str(uuid.uuid4()), "message": "Recorded."}
