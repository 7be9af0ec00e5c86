"""Signing decisions with an owner's SSH key, through ssh-keygen, which knows agents, passphrases and hardware keys."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from app.errors import SettingsError
from app.integrity import Policy
from app.ledger import Entry
from app.signatures import NAMESPACE, key_of, without_armour
from review.errors import Refused
from review.ledger import Sign

# Long enough to find and touch a hardware key.
_PATIENCE_SECONDS = 120


def signer_with(key: Path, policy: Policy) -> Sign:
    """Return what signs a decision with this key, and makes sure that the signature will be taken.

    The function raises SettingsError when the key cannot be used, Refused when it may not sign in that name.
    """

    def sign(entry: Entry, at: datetime) -> str:
        signed = replace(entry, sig=_signature(key, entry.statement()))
        if key_of(signed) is None:
            raise SettingsError("CHATCTX_SIGNING_KEY is of a kind that cannot be verified here: use Ed25519 or RSA.")
        if policy.signers is not None and not policy.signers.accepts(signed, at):
            raise Refused(
                f"The allowed signers do not let this key sign as {entry.by} now: say --by with the name that stands "
                "before it in the file of CHATCTX_ALLOWED_SIGNERS, or add a line to it."
            )
        assert signed.sig is not None  # noqa: S101 - just made
        return signed.sig

    return sign


def _signature(key: Path, statement: bytes) -> str:
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE]
    try:
        # Its questions go to the terminal by themselves.
        done = subprocess.run(  # noqa: S603 - no argument comes from a caller of the server
            command, input=statement, capture_output=True, timeout=_PATIENCE_SECONDS, check=True
        )
        return without_armour(done.stdout.decode("ascii"))
    except FileNotFoundError as error:
        raise SettingsError(
            "ssh-keygen is not installed; CHATCTX_SIGNING_KEY needs it (package openssh-client)."
        ) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise SettingsError(f"ssh-keygen cannot sign with CHATCTX_SIGNING_KEY: {said[-1]}") from error
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise SettingsError(f"ssh-keygen gave no signature ({type(error).__name__}).") from error
