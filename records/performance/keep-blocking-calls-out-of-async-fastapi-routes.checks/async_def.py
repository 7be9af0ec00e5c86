import asyncio
import time

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.responses import PlainTextResponse

async def report(request):
    time.sleep(0.4)
    return PlainTextResponse("done")

app = Starlette(routes=[Route("/", report)])


async def call():
    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        pass

    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": [],
             "http_version": "1.1", "scheme": "http", "server": ("test", 80), "client": ("test", 1), "root_path": ""}
    await app(scope, receive, send)


async def main():
    start = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(4)))
    took = time.perf_counter() - start
    assert took < 1.2, f"requests ran one after another: {took:.1f} s"


asyncio.run(main())
