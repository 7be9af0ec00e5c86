"""The same model on both majors: version 1 fills in None, version 2 asks for the field."""
from typing import Optional

import pydantic


class User(pydantic.BaseModel):
    nickname: Optional[str]


class Patch(pydantic.BaseModel):
    nickname: Optional[str] = None


assert Patch().nickname is None  # the default says it on either
if pydantic.VERSION.startswith("1."):
    assert User().nickname is None
else:
    try:
        User()
    except pydantic.ValidationError as error:
        assert error.errors()[0]["type"] == "missing"
    else:
        raise SystemExit("version 2 did not ask for the field")
