"""The way from any published schema to the current one. Run by `app.store.migrating`, never by hand."""
