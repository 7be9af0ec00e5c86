"""Starlette 1.0 took the startup and shutdown hooks away; only a lifespan handler is left."""
from starlette.applications import Starlette


def connect():
    pass


app = Starlette(on_startup=[connect])
