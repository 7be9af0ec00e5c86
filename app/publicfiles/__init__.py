"""The files by which programs and models learn what the server offers, rendered from the contract."""

from app.publicfiles.render import COMMITTED, PublicFile, Site, render_all

__all__ = ["COMMITTED", "PublicFile", "Site", "render_all"]
