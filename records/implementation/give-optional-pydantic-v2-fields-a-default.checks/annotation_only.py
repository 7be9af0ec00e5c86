"""In v1 this field (and its spelling Optional[str]) defaulted to None; since v2 it is required."""
from pydantic import BaseModel


class Patch(BaseModel):
    nickname: str | None


Patch.model_validate({})
