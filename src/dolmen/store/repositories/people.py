"""Persons: how they prove who they are, and the browsers that they are signed in with."""

from __future__ import annotations

from dataclasses import asdict, replace

from dolmen.store.contract.people import Browser, EntryLink, Person, SecretKind
from dolmen.store.session import Session, Value
from dolmen.store.sql import queries

_BROWSER = 5
"""Columns of a browser, before those of its person."""


class PeopleRepository:
    """Implements `contract.People`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("people")

    # -------------------------------------------------------------------------------------------------------- persons
    def add(self, person: Person) -> None:
        self._session.run(self._sql["add"], asdict(person))

    def get(self, vault: str, id: str) -> Person | None:
        found = self._select("vault_id = :vault AND id = :id", {"vault": vault, "id": id})
        return found[0] if found else None

    def by_login(self, login: str) -> Person | None:
        found = self._select("login = :login AND removed_at IS NULL", {"login": login})
        return found[0] if found else None

    def all(self, vault: str) -> list[Person]:
        return self._select("vault_id = :vault", {"vault": vault})

    def _select(self, where: str, params: dict[str, Value]) -> list[Person]:
        return [Person(*row) for row in self._session.all(self._sql["select"].fill(where=where), params)]

    def change(self, vault: str, id: str, *, name: str | None = None, login: str | None = None) -> None:
        self._session.run(self._sql["change"], {"vault": vault, "id": id, "name": name, "login": login})

    def vaults(self, id: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._session.all(self._sql["vaults"], {"id": id})]

    def leave(self, vault: str, id: str) -> None:
        person = self.get(vault, id)
        home = next((each for each, _ in self.vaults(id) if each != vault), None)
        if person is None or home is None or person.removed_at is not None:
            return
        if person.login is not None:
            self._session.run(self._sql["sign_out_name"], {"vault": vault, "id": id})
            self.change(home, id, login=person.login)
        for each in ("move_secrets", "move_recovery"):
            self._session.run(self._sql[each], {"vault": vault, "id": id, "home": home})

    def remove(self, vault: str, id: str, at: int) -> bool:
        whose: dict[str, Value] = {"vault": vault, "id": id}
        if not self._session.run(self._sql["remove"], {**whose, "at": at}):
            return False
        for each in ("drop_secrets", "drop_recovery", "drop_steps", "drop_browsers", "drop_links"):
            self._session.run(self._sql[each], whose)
        return True

    # -------------------------------------------------------------------------------------------------------- secrets
    def hold(self, vault: str, id: str) -> None:
        self._session.run(self._sql["hold"], {"vault": vault, "id": id})

    def secret(self, vault: str, id: str, kind: SecretKind) -> str | None:
        row = self._session.one(self._sql["secret"], {"vault": vault, "id": id, "kind": kind})
        return None if row is None else str(row[0])

    def set_secret(self, vault: str, id: str, kind: SecretKind, data: str, at: int) -> None:
        params: dict[str, Value] = {"vault": vault, "id": id, "kind": kind, "data": data, "at": at}
        self._session.run(self._sql["set_secret"], params)

    # ------------------------------------------------------------------------------------------------------- browsers
    def open(self, browser: Browser, secret_hash: str) -> None:
        self._session.run(self._sql["open"], {**asdict(browser), "hash": secret_hash})

    def browser(self, secret_hash: str) -> tuple[Browser, Person] | None:
        row = self._session.one(self._sql["browser"], {"hash": secret_hash})
        return None if row is None else (Browser(*row[:_BROWSER]), Person(*row[_BROWSER:]))

    def see(self, secret_hash: str, at: int) -> None:
        self._session.run(self._sql["see"], {"hash": secret_hash, "at": at})

    def close(self, secret_hash: str) -> None:
        self._session.run(self._sql["close"], {"hash": secret_hash})

    def browsers(self, vault: str, id: str) -> list[tuple[str, Browser]]:
        rows = self._session.all(self._sql["browsers"], {"vault": vault, "id": id})
        return [(str(row[0]), Browser(*row[1:])) for row in rows]

    def close_all(self, vault: str, id: str, *, but: str = "") -> int:
        self._session.run(self._sql["drop_half"], {"vault": vault, "id": id})
        return self._session.run(self._sql["close_all"], {"vault": vault, "id": id, "but": but})

    # ---------------------------------------------------------------------------------------------------------- links
    def add_link(self, link: EntryLink, secret_hash: str) -> None:
        self._session.run(self._sql["drop_links"], {"vault": link.vault, "id": link.person})
        self._session.run(self._sql["add_link"], {**asdict(link), "hash": secret_hash})

    def use_link(self, secret_hash: str, at: int) -> EntryLink | None:
        first = self._session.run(self._sql["use_link"], {"hash": secret_hash, "at": at}) > 0
        link = self.link(secret_hash)
        return replace(link, used_at=None) if link is not None and first else link

    def link(self, secret_hash: str) -> EntryLink | None:
        row = self._session.one(self._sql["link"], {"hash": secret_hash})
        return None if row is None else EntryLink(*row)

    # ------------------------------------------------------------------------------------------------------- failures
    def guess(self, subject: str, at: int, past: int, most: int) -> tuple[int, int]:
        params: dict[str, Value] = {"subject": subject, "at": at, "past": past, "most": most}
        [(number, last)] = self._session.all(self._sql["guess"], params)
        return int(number), int(last)

    def succeeded(self, subject: str) -> None:
        self._session.run(self._sql["succeeded"], {"subject": subject})

    def take_back(self, subject: str) -> None:
        self._session.run(self._sql["take_back"], {"subject": subject})

    def trim(self, seen_before: int, created_before: int, failed_before: int, now: int) -> int:
        return (
            self._session.run(self._sql["trim_browsers"], {"seen": seen_before, "created": created_before})
            + self._session.run(self._sql["trim_failures"], {"failed": failed_before})
            + self._session.run(self._sql["trim_links"], {"now": now})
        )
