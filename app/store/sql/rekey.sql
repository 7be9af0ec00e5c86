-- Move a key to a pepper it never had, unless somebody else has; the server's login has no other way to write a hash.
-- No parameter may be null.
SELECT rekey(:key_id, :old_pepper_id, CAST(:mac AS bytea), :pepper_id)
