"""`= None` is what makes a field omittable; the annotation only says which values it takes."""
from pydantic import BaseModel


class Patch(BaseModel):
    nickname: str | None = None


assert Patch.model_validate({}).nickname is None
assert Patch.model_validate({}).model_fields_set == set()
assert Patch.model_validate({"nickname": None}).model_fields_set == {"nickname"}
assert not Patch.model_fields["nickname"].is_required()
