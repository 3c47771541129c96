"use strict";
// Passkeys, which browsers give to a script alone. Everything else on these pages works without.
(() => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  async function post(address, body) {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const said = await answer.json();
    if (answer.ok) return said;
    const error = said.error;
    throw new Refusal(typeof error === "string" ? error : `${error.message} ${error.fix}`);
  }

  class Refusal extends Error {}

  async function signIn(place) {
    const asked = await post(place.dataset.challenge, {});
    asked.challenge = bytes(asked.challenge);
    const made = await navigator.credentials.get({ publicKey: asked });
    return post(place.dataset.answer, {
      id: text(made.rawId),
      userHandle: made.response.userHandle ? text(made.response.userHandle) : "",
      clientDataJSON: text(made.response.clientDataJSON),
      authenticatorData: text(made.response.authenticatorData),
      signature: text(made.response.signature),
      next: place.dataset.next,
    });
  }

  async function add(place) {
    const { token, name } = Object.fromEntries(new FormData(place));
    const asked = await post(place.dataset.challenge, { token });
    asked.challenge = bytes(asked.challenge);
    asked.user.id = bytes(asked.user.id);
    for (const each of asked.excludeCredentials) each.id = bytes(each.id);
    const made = await navigator.credentials.create({ publicKey: asked });
    return post(place.dataset.answer, {
      token,
      name,
      clientDataJSON: text(made.response.clientDataJSON),
      attestationObject: text(made.response.attestationObject),
    });
  }

  function ready(place, event, work) {
    const said = place.querySelector("[role=status]");
    const button = place.querySelector("button");
    place.addEventListener(event, async (happened) => {
      happened.preventDefault();
      button.disabled = true;
      said.textContent = place.dataset.waiting;
      try {
        location.assign((await work(place)).next);
      } catch (error) {
        const known = error.name === "InvalidStateError";
        said.textContent =
          error instanceof Refusal ? error.message : known ? place.dataset.known : place.dataset.cancelled;
        button.disabled = false;
      }
    });
    place.hidden = false;
  }

  if (!window.PublicKeyCredential) return;
  const door = document.getElementById("passkey-sign-in");
  if (door) {
    ready(door, "passkey", signIn);
    door.querySelector("button").addEventListener("click", () => door.dispatchEvent(new Event("passkey")));
  }
  const form = document.getElementById("new-passkey");
  if (form) ready(form, "submit", add);
})();
