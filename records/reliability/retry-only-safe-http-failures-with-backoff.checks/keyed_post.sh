# A client that repeats a POST, with a key for the intent: the work is done once.
cat >server.py <<'END'
import http.server

charged, answered = [], {}


class Shop(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        key = self.headers.get("Idempotency-Key")
        if key is None or key not in answered:
            charged.append(key)
            answered[key] = len(charged)
        # The work is done; the answer to the first two tries is lost on the way.
        self.tries = Shop.tries = getattr(Shop, "tries", 0) + 1
        self.send_response(201 if self.tries > 2 else 503)
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"charged %d times\n" % len(charged))


http.server.HTTPServer(("127.0.0.1", 8080), Shop).serve_forever()
END
python3 server.py 2>log &
until curl -s http://127.0.0.1:8080/ >said; do sleep 0.1; done
curl -sS --retry 3 --retry-delay 1 -H "Idempotency-Key: 3f1c" -d amount=5 http://127.0.0.1:8080/
[ "$(grep -c POST log)" -eq 3 ]
curl -s http://127.0.0.1:8080/ | grep "charged 1 times"
