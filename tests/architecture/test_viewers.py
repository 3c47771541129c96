"""An operation for somebody says who looks; only the work of the house, which serves nobody, sees everything."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "dolmen"

OF_THE_HOUSE: dict[str, str] = {
    "interfaces/cli/commands/demo/__init__.py": "fills an empty vault",
    "interfaces/cli/commands/demo/story.py": "fills an empty vault",
    "interfaces/cli/commands/doctor/store.py": "numbers about the whole store, for who holds its file",
    "interfaces/cli/commands/key.py": "the time",
    "interfaces/cli/commands/memory/reading.py": "the time",
    "interfaces/cli/commands/note/reading.py": "the time",
    "interfaces/cli/commands/serve.py": "whether there is a key",
    "interfaces/http/oauth/choosing.py": "the time and the vaults of a person",
    "services/accounts.py": "finds out who asks",
    "services/backfill.py": "vectors for every vault",
    "services/bounds.py": "numbers of one connection",
    "services/code/catching_up.py": "reads what memories mention, for their own references",
    "services/consolidation/running.py": "which vaults there are; what it reads is what everybody sees",
    "services/extraction/scheduling.py": "which vaults there are; what it reads is what everybody sees",
    "services/jobs.py": "jobs hold ids and numbers",
    "services/journal.py": "writes what happened",
    "services/oauth/binding.py": "finds out who asks",
    "services/oauth/clients.py": "clients are of the store",
    "services/oauth/devices.py": "finds out who asks",
    "services/oauth/granting.py": "makes connections",
    "services/oauth/tokens.py": "finds out who asks",
    "services/own_account.py": "how somebody signs in",
    "services/passkeys.py": "how somebody signs in",
    "services/people.py": "finds out who asks",
    "services/policy.py": "settings of a vault",
    "services/second_factor.py": "how somebody signs in",
    "services/scopes.py": "renames a project for everybody",
    "services/stats.py": "numbers over all vaults, for probes",
    "services/transfer/export.py": "a backup by the owner is whole",
    "services/transfer/imports.py": "a backup comes back whole",
    "services/vaults.py": "makes and destroys vaults, for who runs the store",
    "services/upkeep.py": "expiry and the index, for every vault",
}
"""Modules that open the store without a viewer, each with what for."""

_BARE = re.compile(r"store\.(?:read|write)\(\)")


def test_only_the_work_of_the_house_sees_everything() -> None:
    bare = {
        str(path.relative_to(SOURCE))
        for folder in ("services", "interfaces")
        for path in sorted((SOURCE / folder).rglob("*.py"))
        if _BARE.search(path.read_text())
    }
    assert bare - set(OF_THE_HOUSE) == set(), "use rt.read(actor) or rt.write(actor), or give the reason here"
    assert set(OF_THE_HOUSE) - bare == set()
