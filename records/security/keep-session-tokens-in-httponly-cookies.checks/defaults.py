"""Starlette (and FastAPI) leave HttpOnly and Secure off unless asked."""
from starlette.responses import Response

response = Response()
response.set_cookie("session", "opaque")
cookie = response.headers["set-cookie"].lower()
missing = [part for part in ("httponly", "secure") if part not in cookie]
assert not missing, f"cookie lacks {', '.join(missing)}: {cookie}"
