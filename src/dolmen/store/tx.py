"""One transaction: the portable repositories over an engine's session, and the engine's search index beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from dolmen.domain.audience import Viewer
from dolmen.store.contract import (
    Accounts,
    CodeRefs,
    Index,
    Jobs,
    Journal,
    Keys,
    Leases,
    Links,
    Memories,
    Notes,
    OAuth,
    People,
    Proofs,
    Proposals,
    Scopes,
)
from dolmen.store.indexing import EngineIndex
from dolmen.store.repositories.accounts import AccountRepository
from dolmen.store.repositories.journal import JournalRepository
from dolmen.store.repositories.keys import KeyRepository
from dolmen.store.repositories.leases import LeaseRepository
from dolmen.store.repositories.links import LinkRepository
from dolmen.store.repositories.memories import MemoryRepository
from dolmen.store.repositories.numbers import ScopeCache, ScopeNumbers
from dolmen.store.repositories.people import PeopleRepository
from dolmen.store.repositories.proposals import ProposalRepository
from dolmen.store.repositories.scopes import ScopeRepository
from dolmen.store.session import Session


class Transaction:
    """Implements `contract.Tx`.

    Args:
        session: the engine's, open.
        index: builds the engine's search index for this transaction.
        cache: the process's cache of scopes for this store.
        new_id: a source of fresh ids.
        viewer: who looks; None for the work of the house, which sees everything.
    """

    def __init__(
        self,
        session: Session,
        index: Callable[[ScopeNumbers], EngineIndex],
        cache: ScopeCache,
        new_id: Callable[[], str],
        viewer: Viewer | None = None,
    ) -> None:
        self.now = session.now
        self._new_id = new_id
        self._session = session
        self._numbers = numbers = ScopeNumbers(session, cache, viewer)
        self.index: Index = (own := index(numbers))
        self.scopes: Scopes = ScopeRepository(session, numbers, own)
        self.memories: Memories = MemoryRepository(session, numbers, own)
        self.links: Links = LinkRepository(session, numbers)
        self.proposals: Proposals = ProposalRepository(session, numbers)
        self.accounts: Accounts = AccountRepository(session)
        self.journal: Journal = JournalRepository(session)
        self.keys: Keys = KeyRepository(session)
        self.leases: Leases = LeaseRepository(session)
        self.people: People = PeopleRepository(session)

    def new_id(self) -> str:
        return self._new_id()

    # What light commands never touch is loaded when it is first asked for.

    @cached_property
    def notes(self) -> Notes:
        from dolmen.store.repositories.notes import NoteRepository

        return NoteRepository(self._session, self._numbers)

    @cached_property
    def code_refs(self) -> CodeRefs:
        from dolmen.store.repositories.code_refs import CodeRefRepository

        return CodeRefRepository(self._session, self._numbers)

    @cached_property
    def jobs(self) -> Jobs:
        from dolmen.store.repositories.jobs import JobRepository

        return JobRepository(self._session)

    @cached_property
    def oauth(self) -> OAuth:
        from dolmen.store.repositories.oauth import OAuthRepository

        return OAuthRepository(self._session)

    @cached_property
    def proofs(self) -> Proofs:
        from dolmen.store.repositories.proofs import ProofRepository

        return ProofRepository(self._session)
