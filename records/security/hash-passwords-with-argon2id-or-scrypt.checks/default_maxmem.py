"""The same parameters with the default maxmem of 32 MiB."""
import hashlib
import os

hashlib.scrypt(b"correct horse", salt=os.urandom(16), n=2**17, r=8, p=1)
