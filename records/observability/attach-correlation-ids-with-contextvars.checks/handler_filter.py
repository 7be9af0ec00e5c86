"""A filter on the handler sees records of every logger; contextvars keep concurrent requests apart."""
import asyncio
import contextvars
import io
import logging

request_id = contextvars.ContextVar("request_id", default="-")


class AddRequestId(logging.Filter):
    def filter(self, record):
        record.request_id = request_id.get()
        return True


out = io.StringIO()
handler = logging.StreamHandler(out)
handler.setFormatter(logging.Formatter("%(request_id)s %(name)s %(message)s"))
handler.addFilter(AddRequestId())
logging.basicConfig(level=logging.INFO, handlers=[handler])


async def serve(name):
    request_id.set(name)
    await asyncio.sleep(0.01)
    logging.getLogger("library.client").info("called by %s", name)


async def main():
    await asyncio.gather(*(serve(name) for name in ("r1", "r2", "r3")))


asyncio.run(main())
lines = out.getvalue().splitlines()
assert len(lines) == 3
for line in lines:
    assert line.split()[0] == line.split()[-1], line
print("\n".join(lines))
