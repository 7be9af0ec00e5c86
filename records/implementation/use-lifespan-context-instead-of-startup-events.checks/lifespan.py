"""A lifespan handler opens the resource before the first request and closes it afterwards."""
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

events = []


@asynccontextmanager
async def lifespan(app):
    events.append("open")
    try:
        yield {"pool": "pool-1"}
    finally:
        events.append("close")


async def home(request):
    return PlainTextResponse(request.state.pool)


app = Starlette(routes=[Route("/", home)], lifespan=lifespan)
with TestClient(app) as client:
    assert client.get("/").text == "pool-1"
    assert events == ["open"]
assert events == ["open", "close"]
