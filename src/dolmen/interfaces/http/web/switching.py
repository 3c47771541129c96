"""The switch of languages, which every page carries."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.web.entering import HOME, Entering, fields, local
from dolmen.interfaces.http.web.language import LANGUAGES
from dolmen.interfaces.http.web.remembering import language_cookie

LANGUAGE = "/language"


@dataclass(frozen=True, slots=True)
class LanguageSwitch:
    """`/language`, for whoever is there, signed in or not."""

    entering: Entering

    async def __call__(self, request: Request) -> Response:
        """POST remembers a language and leads back to the page that was read; GET leads home.

        Raises:
            DolmenError: `invalid-argument` for a language that the pages do not speak; `forbidden` for a form of
                another site.
        """
        if request.method != "POST":
            return self.entering.to(HOME)
        form = await fields(request)
        chosen = form.get("language", "")
        if chosen not in LANGUAGES:
            raise DolmenError("invalid-argument", "The pages do not speak that language.", "Choose one of the list.")
        answer = self.entering.to(local(form.get("to", "")) or HOME)
        language_cookie(self.entering.cookie.secure).set(answer, chosen)
        return answer
