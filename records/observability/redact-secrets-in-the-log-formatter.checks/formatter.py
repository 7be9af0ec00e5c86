"""Masking the finished text covers arguments and tracebacks as well."""
import io
import logging
import re

SECRET = re.compile(r"(?i)(bearer\s+|session=)[^\s'\"&]+")


class Masking(logging.Formatter):
    def format(self, record):
        return SECRET.sub(r"\1[masked]", super().format(record))


out = io.StringIO()
handler = logging.StreamHandler(out)
handler.setFormatter(Masking("%(message)s"))
log = logging.getLogger("client")
log.addHandler(handler)
log.propagate = False
log.warning("sent %s", {"authorization": "Bearer demo-value"})
try:
    raise ConnectionError("db://app?session=demo-value refused")
except ConnectionError:
    log.exception("cannot connect")
text = out.getvalue()
assert "demo-value" not in text, text
assert text.count("[masked]") >= 2
print(text)
