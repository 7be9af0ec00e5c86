"""gather() passes the first error on and leaves the other awaitables running."""
import asyncio

log = []


async def fails():
    await asyncio.sleep(0.01)
    raise ValueError("lookup failed")


async def writes():
    await asyncio.sleep(0.05)
    log.append("wrote after the failure")


async def main():
    try:
        await asyncio.gather(fails(), writes())
    except ValueError:
        log.append("handled")
    await asyncio.sleep(0.1)
    assert log == ["handled"], log


asyncio.run(main())
