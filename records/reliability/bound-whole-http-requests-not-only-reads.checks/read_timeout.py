"""timeout=0.5 bounds each wait for bytes, so the call below takes three times as long and succeeds."""
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
began = time.monotonic()
with httpx.Client(timeout=0.5, trust_env=False) as client:
    client.get(url)
took = time.monotonic() - began
assert took < 1, f"timeout=0.5 but the request took {took:.1f} s"
