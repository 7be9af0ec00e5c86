"""A task kept in a set survives garbage collection and finishes."""
import asyncio
import gc
import weakref

done = []
background = set()
waiting = []


async def job():
    # Only this frame owns the future, and only the future knows the task.
    future = asyncio.get_running_loop().create_future()
    waiting.append(weakref.ref(future))
    await future
    done.append("finished")


async def main():
    task = asyncio.create_task(job())
    background.add(task)
    task.add_done_callback(background.discard)
    del task
    await asyncio.sleep(0)
    gc.collect()
    future = waiting.pop()()
    assert future is not None, "background task vanished before it finished"
    future.set_result(None)
    await asyncio.sleep(0.05)
    assert done == ["finished"]
    assert not background


asyncio.run(main())
