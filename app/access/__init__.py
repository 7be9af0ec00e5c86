"""Who may call and how often: API keys, the pepper, client addresses, daily allowances."""

from app.access.address import client_address
from app.access.admission import Access, Caller, NewKey, NoCredentials, new_key
from app.access.keys import ApiKey, mint_key, parse_key
from app.access.pepper import PepperRing, load_peppers
from app.access.quota import Charge

__all__ = [
    "Access",
    "ApiKey",
    "Caller",
    "Charge",
    "NewKey",
    "NoCredentials",
    "PepperRing",
    "client_address",
    "load_peppers",
    "mint_key",
    "new_key",
    "parse_key",
]
