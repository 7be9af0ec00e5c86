"""The same filter on the root logger does not run for records of child loggers."""
import logging
import sys


class AddRequestId(logging.Filter):
    def filter(self, record):
        record.request_id = "r1"
        return True


class Strict(logging.StreamHandler):
    def handleError(self, record):
        raise


handler = Strict(sys.stderr)
handler.setFormatter(logging.Formatter("%(request_id)s %(name)s %(message)s"))
logging.basicConfig(level=logging.INFO, handlers=[handler])
logging.getLogger().addFilter(AddRequestId())
logging.getLogger("library.client").info("hello")
