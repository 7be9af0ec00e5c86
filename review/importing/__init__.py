"""Candidates for records, made of what somebody else wrote: rules of an editor, skills, instructions."""
