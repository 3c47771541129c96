"""One-time codes: turned on, asked for after the password, taken once, recovered from, throttled, turned off, reset."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest

from dolmen.domain import totp
from dolmen.domain.errors import DolmenError
from dolmen.services import second_factor
from dolmen.services.accounts import authenticate
from dolmen.services.own_account import account, change_password
from dolmen.services.people import (
    GUESSES,
    LOCKED_FOR,
    STEP_LIFE,
    Entry,
    SignedIn,
    Visitor,
    at_browser,
    choose_password,
    entry_link,
    invite,
    sign_in,
)
from dolmen.services.second_factor import FRESH
from tests.services.conftest import House
from tests.services.test_people import HERE, PASSWORD

pytestmark = pytest.mark.usefixtures("cheap_passwords")

VISITOR = Visitor(HERE)


def enter(house: House, person: str = "owner", login: str = "ada") -> SignedIn:
    link = entry_link(house.rt, house.owner, person)
    return at(house, choose_password(house.rt, link, login, PASSWORD))


def at(house: House, entry: Entry) -> SignedIn:
    here = at_browser(house.rt, entry.secret)
    assert here is not None
    return here


def turn_on(house: House, here: SignedIn) -> tuple[bytes, list[str]]:
    """The secret of the app, and the recovery codes."""
    offer = second_factor.offer(house.rt, here, "memory.example.com")
    secret = totp.from_text(offer.text.replace(" ", ""))
    return secret, second_factor.confirm(house.rt, here, now(house, secret))


def now(house: House, secret: bytes) -> str:
    return totp.code_at(secret, house.clock.now)


def later(house: House, secret: bytes) -> str:
    """The code of the next period, when that has come."""
    house.clock.advance(totp.PERIOD)
    return now(house, secret)


def half(house: House) -> str:
    entry = sign_in(house.rt, "ada", PASSWORD, VISITOR)
    assert not entry.complete
    return entry.secret


def refused(house: House, step: str, code: str) -> DolmenError:
    with pytest.raises(DolmenError) as error:
        second_factor.answer(house.rt, step, code, VISITOR)
    return error.value


def test_whoever_has_the_password_alone_is_no_known_browser_and_closes_nothing_for_one(house: House) -> None:
    here = enter(house)
    known = Visitor(HERE, mark=sign_in(house.rt, "ada", PASSWORD, VISITOR).mark)
    secret, _ = turn_on(house, here)
    entry = sign_in(house.rt, "ada", PASSWORD, VISITOR)
    assert (entry.complete, entry.mark) == (False, "")
    for _ in range(GUESSES):
        with pytest.raises(DolmenError):
            second_factor.answer(house.rt, entry.secret, "000000", VISITOR)
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "ada", PASSWORD, VISITOR)
    assert error.value.code == "rate-limited"
    step = sign_in(house.rt, "ada", PASSWORD, known)
    assert second_factor.answer(house.rt, step.secret, later(house, secret), known).mark == known.mark
    codes = []
    for _ in range(GUESSES):
        with pytest.raises(DolmenError) as error:
            second_factor.answer(house.rt, sign_in(house.rt, "ada", PASSWORD, known).secret, "000000", known)
        codes.append(error.value.code)
        if error.value.code == "rate-limited":
            break
    assert codes[-1] == "rate-limited", "the password again does not give more guesses at the code"


def test_after_the_password_a_code_is_asked_for_and_opens_a_new_session(house: House) -> None:
    secret, _ = turn_on(house, enter(house))
    step = half(house)
    assert second_factor.waits(house.rt, step)
    entry = second_factor.answer(house.rt, step, later(house, secret), VISITOR)
    assert entry.complete
    assert entry.secret != step
    assert at(house, entry).person.id == "owner"
    assert not second_factor.waits(house.rt, step)
    assert at_browser(house.rt, step) is None


def test_half_signed_in_opens_nothing(house: House) -> None:
    turn_on(house, enter(house))
    step = half(house)
    assert at_browser(house.rt, step) is None
    with pytest.raises(DolmenError):
        authenticate(house.rt, step)


def test_a_code_is_taken_once(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """RFC 6238 §5.2: "The verifier MUST NOT accept the second attempt of the OTP". Also the one that turned it on."""
    here = enter(house)
    secret, _ = turn_on(house, here)
    assert refused(house, half(house), now(house, secret)).code == "unauthorized"
    code = later(house, secret)
    second_factor.answer(house.rt, half(house), code, VISITOR)
    assert refused(house, half(house), code).code == "unauthorized"
    assert sum("reason=replayed-code" in record.getMessage() for record in caplog.records) == 2


def test_an_earlier_code_is_not_taken_after_a_later_one(house: House) -> None:
    secret, _ = turn_on(house, enter(house))
    house.clock.advance(2 * totp.PERIOD)
    earlier = now(house, secret)
    second_factor.answer(house.rt, half(house), later(house, secret), VISITOR)
    assert refused(house, half(house), earlier).code == "unauthorized"


def test_a_recovery_code_signs_in_once_however_it_is_typed(house: House) -> None:
    here = enter(house)
    _, codes = turn_on(house, here)
    assert len(set(codes)) == 10
    second_factor.answer(house.rt, half(house), codes[0].upper().replace("-", " "), VISITOR)
    assert refused(house, half(house), codes[0]).code == "unauthorized"
    assert (
        account(house.rt, at(house, second_factor.answer(house.rt, half(house), codes[1], VISITOR))).recovery_left == 8
    )


def test_recovery_codes_are_kept_as_hashes(house: House) -> None:
    _, codes = turn_on(house, enter(house))
    with house.rt.store.write() as tx:
        assert not any(tx.proofs.use_recovery("main", "owner", code) for code in codes)


def test_guesses_of_codes_count_with_those_of_the_password(house: House) -> None:
    """RFC 4226 §7.3: the verifier throttles. Whoever knows the password cannot begin anew by it."""
    secret, codes = turn_on(house, enter(house))
    for _ in range(GUESSES // 2):
        assert refused(house, half(house), "000000").code == "unauthorized"
    step = half(house)
    assert refused(house, step, later(house, secret)).code == "rate-limited"
    assert refused(house, step, codes[0]).code == "rate-limited"
    house.clock.advance(LOCKED_FOR)
    second_factor.answer(house.rt, half(house), codes[0], VISITOR)


def test_between_the_steps_there_are_five_minutes(house: House) -> None:
    secret, _ = turn_on(house, enter(house))
    step = half(house)
    house.clock.advance(STEP_LIFE)
    assert not second_factor.waits(house.rt, step)
    assert refused(house, step, now(house, secret)).code == "gone"
    assert refused(house, "", "000000").code == "gone"


def test_what_was_not_confirmed_is_not_asked_for(house: House) -> None:
    here = enter(house)
    second_factor.offer(house.rt, here, "memory.example.com")
    with pytest.raises(DolmenError) as error:
        second_factor.confirm(house.rt, here, "000000")
    assert error.value.code == "invalid-argument"
    assert sign_in(house.rt, "ada", PASSWORD, VISITOR).complete


def test_another_browser_does_not_confirm_what_this_one_was_shown(house: House) -> None:
    here = enter(house)
    secret = totp.from_text(second_factor.offer(house.rt, here, "m").text.replace(" ", ""))
    other = at(house, sign_in(house.rt, "ada", PASSWORD, VISITOR))
    with pytest.raises(DolmenError) as error:
        second_factor.confirm(house.rt, other, now(house, secret))
    assert error.value.code == "gone"


def test_turning_codes_on_signs_other_browsers_out(house: House) -> None:
    here = enter(house)
    other = sign_in(house.rt, "ada", PASSWORD, VISITOR)
    turn_on(house, here)
    assert at_browser(house.rt, other.secret) is None
    assert account(house.rt, here).codes


def test_a_browser_that_has_been_open_for_long_turns_nothing_on(house: House) -> None:
    here = enter(house)
    house.clock.advance(FRESH)
    with pytest.raises(DolmenError) as error:
        second_factor.offer(house.rt, here, "m")
    assert error.value.code == "forbidden"


def test_turning_off_takes_the_password_and_a_code(house: House) -> None:
    here = enter(house)
    secret, codes = turn_on(house, here)
    for password, code in (("a wrong password", codes[0]), (PASSWORD, "000000")):
        with pytest.raises(DolmenError) as error:
            second_factor.turn_off(house.rt, here, password, code, VISITOR)
        assert error.value.code == "forbidden"
    second_factor.turn_off(house.rt, here, PASSWORD, later(house, secret), VISITOR)
    assert sign_in(house.rt, "ada", PASSWORD, VISITOR).complete
    assert account(house.rt, here).recovery_left == 0
    with pytest.raises(DolmenError) as error:
        second_factor.turn_off(house.rt, here, PASSWORD, codes[0], VISITOR)
    assert error.value.code == "conflict"


def test_a_known_password_and_an_open_browser_give_nobody_more_guesses_of_the_code(house: House) -> None:
    here = enter(house)
    turn_on(house, here)
    codes = []
    for number in range(GUESSES):
        with suppress(DolmenError):
            change_password(house.rt, here, PASSWORD, PASSWORD, VISITOR)
        with pytest.raises(DolmenError) as error:
            second_factor.turn_off(house.rt, here, PASSWORD, f"{number:06d}", VISITOR)
        codes.append(error.value.code)
    assert codes[0] == "forbidden"
    assert codes[-1] == "rate-limited"


def test_new_recovery_codes_replace_the_old(house: House) -> None:
    here = enter(house)
    _, old = turn_on(house, here)
    new = second_factor.renew_recovery(house.rt, here, old[0], VISITOR)
    assert refused(house, half(house), old[1]).code == "unauthorized"
    assert second_factor.answer(house.rt, half(house), new[0], VISITOR).complete


def test_a_new_password_by_a_link_does_not_go_around_the_codes(house: House) -> None:
    secret, _ = turn_on(house, enter(house))
    entry = choose_password(house.rt, entry_link(house.rt, house.owner, "owner"), "ada", PASSWORD)
    assert not entry.complete
    assert second_factor.answer(house.rt, entry.secret, later(house, secret), VISITOR).complete


def test_another_password_ends_what_the_old_one_began(house: House) -> None:
    here = enter(house)
    secret, _ = turn_on(house, here)
    step = half(house)
    change_password(house.rt, here, PASSWORD, "other words without sense", VISITOR)
    assert refused(house, step, later(house, secret)).code == "gone"


def test_the_owner_resets_them_and_nobody_else(house: House) -> None:
    mina, _ = invite(house.rt, house.owner, "Mina")
    here = enter(house, mina.id, "mina")
    turn_on(house, here)
    with pytest.raises(DolmenError) as error:
        second_factor.reset(house.rt, here.actor, mina.id)
    assert error.value.code == "forbidden"
    with pytest.raises(DolmenError) as error:
        second_factor.reset(house.rt, house.owner, "stranger")
    assert error.value.code == "not-found"
    assert second_factor.reset(house.rt, house.owner, mina.id)
    assert not second_factor.reset(house.rt, house.owner, mina.id)
    assert sign_in(house.rt, "mina", PASSWORD, VISITOR).complete


def test_every_refusal_has_a_line_with_a_reason_and_its_id(house: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    _, codes = turn_on(house, enter(house))
    step = half(house)
    errors = [refused(house, step, "000000"), refused(house, step, "no-recovery-code")]
    for login, password in (("eve", PASSWORD), ("ada", "wrong words here")):
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, login, password, VISITOR)
        errors.append(error.value)
    lines = [record.getMessage() for record in caplog.records if record.name == "dolmen.services.refusing"]
    reasons = ["wrong-code", "wrong-recovery-code", "unknown-name", "wrong-password"]
    for error_, line, reason in zip(errors, lines, reasons, strict=True):
        assert line.startswith(f"refused id={error_.data['reference']} reason={reason} ")
        assert f"from={HERE}" in line
    assert not any(word in line for line in lines for word in ("eve", PASSWORD, "wrong words", codes[0]))
