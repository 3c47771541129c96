"""The form of the consent page: what a person chooses for a client, whichever way it asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import urlencode

from anyio import to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name
from dolmen.domain.oauth import Client, host_of, is_loopback, mode_of
from dolmen.domain.values import DAY, SERVED, Actor, Mode, Toolset
from dolmen.interfaces.http.responses import STATUS
from dolmen.interfaces.http.web.browser import form_token
from dolmen.interfaces.http.web.entering import Entering
from dolmen.interfaces.http.web.language import spoken, words
from dolmen.interfaces.http.web.pages import page, said
from dolmen.services.oauth import Consent
from dolmen.services.people import SignedIn
from dolmen.services.policy import VaultPolicy, policy_of
from dolmen.services.vaults import own_vaults

KNOWN_HOSTS = frozenset(
    {
        "claude.ai", "claude.com", "chatgpt.com", "chat.openai.com", "gemini.google.com",
        "vscode.dev", "insiders.vscode.dev", "cursor.com", "www.cursor.com",
    }
)  # fmt: skip
"""Hosts of products that people know; any other one is marked (C-310)."""
_MODES: tuple[Mode, ...] = ("read", "suggest", "write")
DAYS = 30


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client asks a person for, as the page shows it."""

    client: Client
    scope: str
    resource: str
    allowed: Mode = "write"
    """What the person can allow at most."""
    redirect: str = ""
    """Where the browser returns to; empty for a device, which waits elsewhere."""
    user_code: str = ""
    """What that device shows."""
    project: str = ""
    toolset: str = ""
    """What the client proposes."""

    @property
    def named(self) -> str:
        """The client, where it has a name or an address to be known by."""
        return self.client.name or (host_of(self.redirect) if self.redirect else "")

    @property
    def asked(self) -> Mode | None:
        """What the client asks to do; None when it leaves that to the person."""
        return mode_of(self.scope)

    @property
    def widest(self) -> Mode:
        return min(self.asked or "write", self.allowed, key=_MODES.index)

    def proposed(self) -> dict[str, str]:
        """What the page proposes: no more than proposing, and an end."""
        toolset = self.resource.rpartition("/mcp/")[2] if "/mcp/" in self.resource else self.toolset
        return {
            "mode": min(self.widest, "suggest", key=_MODES.index),
            "agent": agent_name(self.client.name or self.named.partition(":")[0]),
            "project": self.project,
            "toolset": toolset if toolset in SERVED else SERVED[0],
            "days": str(DAYS),
        }


@dataclass(frozen=True, slots=True)
class Form:
    """The page, and what it sends."""

    base: str
    entering: Entering

    async def page(
        self,
        request: HttpRequest,
        here: SignedIn,
        wish: Wish,
        chosen: Mapping[str, str] | None = None,
        *,
        problem: DolmenError | None = None,
    ) -> Response:
        """The page for a wish, with what was chosen so far."""
        say = words(spoken(request))
        chosen = wish.proposed() if chosen is None else chosen
        vaults, policies = await to_thread.run_sync(self._vaults, here.actor)
        agent_writes = any(policy.agent_writes for policy in policies)
        offered = [mode for mode in _MODES[: _MODES.index(wish.widest) + 1] if agent_writes or mode != "write"]
        values = {
            "client": wish.client.name or say["consent.unnamed"],
            "name": here.person.name,
            "host": host_of(wish.redirect) if wish.redirect else "",
            "place": place(wish.redirect) if wish.redirect else "",
            "user_code": wish.user_code,
            "document": wish.client.id if wish.client.id.startswith("https://") else "",
            "modes": _MODES,
            "asked": wish.asked,
            "offered": offered,
            "left_out": {mode: _left_out(mode, wish, agent_writes) for mode in _MODES if mode not in offered},
            "reviewed": all(policy.write_policy == "review" for policy in policies),
            "toolsets": SERVED,
            "vaults": vaults,
            "chosen": {
                "mode": chosen.get("mode", ""),
                "agent": chosen.get("agent", ""),
                "project": chosen.get("project", ""),
                "toolset": chosen.get("toolset", ""),
                "vault": chosen.get("vault") or self._first(request, here, wish, [id for id, _ in vaults]),
                "days": int(chosen["days"]) if chosen.get("days") in ("0", "7", "30", "90") else DAYS,
            },
            "token": form_token(self.entering.cookie.read(request)),
            "problem": said(request, problem),
            "wrong": _wrong(problem),
        }
        status = STATUS[problem.code] if problem else 200
        own_path = device_address(wish.user_code) if wish.user_code else ""
        return page(
            request, "consent", values, base=self.base, status=status, leads_to=wish.redirect, own_path=own_path
        )

    def _vaults(self, actor: Actor) -> tuple[list[tuple[str, str]], list[VaultPolicy]]:
        """The vaults that a person can let the client into, and what each says of agents' writes. Blocking."""
        vaults = list(own_vaults(self.entering.rt, actor))
        return vaults, [policy_of(self.entering.rt, replace(actor, vault=id)) for id, _ in vaults]

    def _first(self, request: HttpRequest, here: SignedIn, wish: Wish, vaults: list[str]) -> str:
        """The vault that is proposed: that of the client's key, which lets it into no other; or the person's choice."""
        kept = wish.client.vault if wish.client.key else ""
        return kept if kept in vaults else self.entering.offered_vault(request, here, vaults)

    def chosen(self, form: Mapping[str, str]) -> Consent:
        """The choice that was sent. Blocking: it asks the store for the time.

        Raises:
            DolmenError: `invalid-argument` for an end that is not on the list.
        """
        days = form.get("days", "")
        ends = None
        if days != "0":
            if days not in ("7", "30", "90"):
                raise DolmenError("invalid-argument", "That is no end of access.", "Choose one of the list.")
            with self.entering.rt.store.read() as tx:
                ends = tx.now + int(days) * DAY
        return Consent(
            agent=form.get("agent", ""),
            mode=cast(Mode, form.get("mode", "")),
            project=form.get("project") or None,
            toolset=cast(Toolset, form.get("toolset", "")),
            expires_at=ends,
            vault=form.get("vault", ""),
        )


def _wrong(problem: DolmenError | None) -> str:
    """The field that a person filled in wrong; empty where it is none, or one of a list, which a form of ours fills."""
    if problem is None:
        return ""
    if problem.code == "invalid-project":
        return "project"
    return "agent" if problem.code == "invalid-argument" and problem.data.get("field") == "agent" else ""


def _left_out(mode: Mode, wish: Wish, agent_writes: bool) -> str:
    """Why a person cannot allow this: the name of the sentence."""
    if mode == "write" and not agent_writes:
        return "writes_off"
    beyond_key = _MODES.index(mode) > _MODES.index(wish.allowed)
    return "beyond_key" if beyond_key else "not_asked"


def device_address(code: str) -> str:
    """The page on which a device's code is compared."""
    return "/device" + (f"?{urlencode({'user_code': code})}" if code else "")


def place(redirect: str) -> str:
    """What is known of an address: `local`, `known` or `unknown`."""
    if is_loopback(redirect) or not redirect.startswith("https://"):
        return "local"
    return "known" if host_of(redirect) in KNOWN_HOSTS else "unknown"
