"""A client that is only constructed never runs the lifespan handler."""
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient


@asynccontextmanager
async def lifespan(app):
    yield {"pool": "pool-1"}


async def home(request):
    return PlainTextResponse(request.state.pool)


app = Starlette(routes=[Route("/", home)], lifespan=lifespan)
response = TestClient(app).get("/")
assert response.text == "pool-1", response.text
