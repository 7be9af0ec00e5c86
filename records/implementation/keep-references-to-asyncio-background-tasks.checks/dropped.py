"""With no strong reference left, the collector may destroy a task in the middle of its work."""
import asyncio
import gc

done = []


async def job():
    # Only this frame knows the future, and only the future knows the task.
    future = asyncio.get_running_loop().create_future()
    await future
    done.append("finished")


async def main():
    asyncio.create_task(job())
    await asyncio.sleep(0)
    gc.collect()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert left, "background task vanished before it finished"


asyncio.run(main())
