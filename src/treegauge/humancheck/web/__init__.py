"""The page of ``treegauge check``: a web application over the check's session."""
