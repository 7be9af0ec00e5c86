"""Reading the header as a number only."""
headers = {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}
print("sleep for", float(headers["retry-after"]))
