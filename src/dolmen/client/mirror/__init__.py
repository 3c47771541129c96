"""A folder of Markdown files that is kept in step with the notes of a vault, both ways.

`scanning` looks at the folder, `planning` says what has to be done, `acting` does it, `state` remembers what both sides
last had in common, `syncing` puts them together.
"""

from dolmen.client.mirror.syncing import Mirror, Report, known_scope, open_mirror, rehearsal, watch
from dolmen.client.mirror.vault import Vault

__all__ = ["Mirror", "Report", "Vault", "known_scope", "open_mirror", "rehearsal", "watch"]
