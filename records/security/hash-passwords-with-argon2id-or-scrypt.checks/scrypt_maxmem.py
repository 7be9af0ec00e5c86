"""scrypt at N=2**17, r=8 works once maxmem covers the 128 MiB it needs."""
import hashlib
import hmac
import os

PARAMETERS = {"n": 2**17, "r": 8, "p": 1, "maxmem": 192 * 1024 * 1024, "dklen": 32}
salt = os.urandom(16)
stored = hashlib.scrypt(b"correct horse", salt=salt, **PARAMETERS)
assert hmac.compare_digest(stored, hashlib.scrypt(b"correct horse", salt=salt, **PARAMETERS))
assert stored != hashlib.scrypt(b"correct horse", salt=os.urandom(16), **PARAMETERS)
print("ok", len(stored))
