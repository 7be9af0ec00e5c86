"""Every attribute is given, so the cookie is out of reach of scripts and of plain HTTP."""
from starlette.responses import Response

response = Response()
response.set_cookie("__Host-session", "opaque", secure=True, httponly=True, samesite="lax", path="/")
cookie = response.headers["set-cookie"].lower()
for part in ("httponly", "secure", "samesite=lax", "path=/"):
    assert part in cookie, f"missing {part}: {cookie}"
assert "domain=" not in cookie
print(cookie)
