"""Entering the client runs the lifespan handler, so request.state is filled."""
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
with TestClient(app) as client:
    response = client.get("/")
assert response.text == "pool-1", response.text
