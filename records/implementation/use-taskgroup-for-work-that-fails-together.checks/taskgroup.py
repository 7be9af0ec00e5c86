"""A failing member cancels its siblings before the block is left."""
import asyncio

log = []


async def fails():
    await asyncio.sleep(0.01)
    raise ValueError("lookup failed")


async def writes():
    try:
        await asyncio.sleep(0.05)
        log.append("wrote after the failure")
    except asyncio.CancelledError:
        log.append("cancelled")
        raise


async def main():
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(writes())
    except* ValueError:
        log.append("handled")
    await asyncio.sleep(0.1)
    assert log == ["cancelled", "handled"], log


asyncio.run(main())
