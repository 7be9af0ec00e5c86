"""The owner's bench: gates, approvals, publishing. It imports `app`; `app` never imports it."""
