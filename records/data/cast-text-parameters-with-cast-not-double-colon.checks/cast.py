from sqlalchemy import text
from sqlalchemy.dialects import postgresql

stmt = text("SELECT CAST(:v AS jsonb), '{}'::jsonb").bindparams(v="{}")
compiled = stmt.compile(dialect=postgresql.dialect())
assert compiled.params == {"v": "{}"}, compiled.params
assert ":v" not in str(compiled), str(compiled)
