"""A filter that rewrites record.msg misses what arrives in the arguments."""
import io
import logging
import re

SECRET = re.compile(r"(?i)(bearer\s+|session=)[^\s'\"&]+")


class MaskMessage(logging.Filter):
    def filter(self, record):
        record.msg = SECRET.sub(r"\1[masked]", str(record.msg))
        return True


out = io.StringIO()
handler = logging.StreamHandler(out)
handler.addFilter(MaskMessage())
log = logging.getLogger("client")
log.addHandler(handler)
log.propagate = False
log.warning("sent %s", {"authorization": "Bearer demo-value"})
assert "demo-value" not in out.getvalue(), f"value leaked: {out.getvalue().strip()}"
