from sqlalchemy import text

text("SELECT :v::jsonb").bindparams(v="{}")
