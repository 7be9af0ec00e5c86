-- Log no values of statements on this connection, as far as its role may say so.
-- No parameters.
SELECT set_config('log_parameter_max_length', '0', false)
WHERE has_parameter_privilege('log_parameter_max_length', 'SET')
