"""A deadline round the whole call ends a trickling response in time."""
import asyncio
import socket
import threading
import time

try:
    import httpx
except ImportError:
    import httpx2 as httpx


def trickle(listener):
    """Answer one request with a byte every 0.1 s: each read is quick, the whole is not."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n")
        for _ in range(15):
            time.sleep(0.1)
            try:
                connection.sendall(b".")
            except OSError:
                return


listener = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
threading.Thread(target=trickle, args=(listener,), daemon=True).start()


async def main():
    async with httpx.AsyncClient(timeout=httpx.Timeout(0.5), trust_env=False) as client:
        async with asyncio.timeout(0.7):
            await client.get(url)


began = time.monotonic()
try:
    asyncio.run(main())
except TimeoutError:
    took = time.monotonic() - began
    assert took < 1.2, took
    print(f"given up after {took:.1f} s")
else:
    raise AssertionError("the deadline did not hold")
