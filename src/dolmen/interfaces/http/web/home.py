"""The page that somebody comes to who signed in: who they are, and which of their vaults clients are offered first."""

from __future__ import annotations

from dataclasses import dataclass

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.web.browser import form_token
from dolmen.interfaces.http.web.entering import HOME, SIGN_IN, Entering, fields
from dolmen.interfaces.http.web.pages import page
from dolmen.services import own_account
from dolmen.services.people import SignedIn


@dataclass(frozen=True, slots=True)
class HomePage:
    """`/home`. A person of several vaults chooses one there; the choice opens nothing and narrows nothing."""

    entering: Entering

    async def __call__(self, request: Request) -> Response:
        """GET shows it; POST remembers a vault.

        Raises:
            DolmenError: `forbidden` for a form that is not ours, and for a vault that the person is not in.
        """
        here = await self.entering.here(request)
        if here is None:
            return self.entering.to(SIGN_IN)
        return await (self._choose if request.method == "POST" else self._show)(request, here)

    async def _show(self, request: Request, here: SignedIn) -> Response:
        vaults = await to_thread.run_sync(own_account.vaults, self.entering.rt, here)
        offered = self.entering.offered_vault(request, here, [each.id for each in vaults])
        values = {
            "name": here.person.name,
            "token": form_token(self.entering.cookie.read(request)),
            "vaults": vaults,
            "offered": next((each for each in vaults if each.id == offered), None),
            "done": request.query_params.get("done", "") == "vault",
        }
        return page(request, "home", values, base=self.entering.base)

    async def _choose(self, request: Request, here: SignedIn) -> Response:
        form = await fields(request)
        self.entering.check_token(self.entering.cookie.read(request), form, request)
        vaults = await to_thread.run_sync(own_account.vaults, self.entering.rt, here)
        chosen = form.get("vault", "")
        if chosen not in [each.id for each in vaults]:
            raise DolmenError("forbidden", "That is no vault of yours.", "Choose one of the list.")
        answer = self.entering.to(f"{HOME}?done=vault")
        self.entering.vault_cookie.set(answer, chosen)
        return answer
