"""What each client's payloads mean, and that what is answered is what the client takes (B106).

Recorded payloads come from the clients themselves; documented ones are written as the client's reference shows them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dolmen.client.hook.adapters import MODULES, adapter_for
from dolmen.client.hook.event import Adapter, Event
from tests.hooking import recorded

HERE = Path("/home/ada/shop")


def adapter(client: str) -> Adapter:
    found = adapter_for(client)
    assert found is not None
    return found


def kinds(client: str, name: str) -> list[tuple[str, str]]:
    events = [adapter(client).read(payload) for payload in recorded(name, HERE)]
    return [(event.kind, event.text or event.source) for event in events]


ANSWER = "Done: the retry now waits 200 ms between attempts. Remaining work: add a test for the third attempt."


def test_claude_code_as_recorded() -> None:
    assert kinds("claude-code", "claude-code-2.1.197") == [
        ("start", "new"),
        ("prompt", "Make the client retry three times"),
        ("answer", ANSWER),
        ("end", "new"),
        ("start", "resume"),
        ("prompt", "and a third?"),
        ("answer", ANSWER),
        ("end", "new"),
        ("start", "resume"),
        ("ignored", "new"),  # PreCompact
        ("ignored", "new"),  # the subagent that compacts
        ("start", "compact"),
        ("compacted", "<summary>The user asked for a retry; it is written in client.py.</summary>"),
        ("end", "new"),
    ]


def test_codex_as_recorded() -> None:
    found = kinds("codex", "codex-0.171.0")
    assert [kind for kind, _ in found] == ["start", "prompt", "answer", "end"] * 2
    assert [text for kind, text in found if kind == "start"] == ["new", "resume"]


def test_qwen_as_recorded_takes_what_was_typed_and_not_what_a_tool_gave_back() -> None:
    assert [kind for kind, _ in kinds("qwen", "qwen-0.24.4")] == ["start", "prompt", "answer"]
    payload = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "<tool result>"}
    assert adapter("qwen").read(payload).text == ""
    assert adapter("qwen").read({**payload, "submitted_prompt": "Make it retry"}).text == "Make it retry"


def test_the_opencode_plugin_as_recorded() -> None:
    found = kinds("opencode", "opencode-1.18.33")
    assert [kind for kind, _ in found] == ["start", "prompt", "answer"]
    assert found[0] == ("start", "clear"), "its context is no part of the stored conversation"


def test_gemini_as_recorded_does_not_take_its_own_context_for_a_prompt() -> None:
    assert kinds("gemini", "gemini-0.61.0") == [
        ("start", "new"),
        ("prompt", "Make the client retry three times"),
        ("ignored", "new"),  # PreCompress, though nothing was compressed
        ("answer", ANSWER),
        ("end", "new"),
    ]


@pytest.mark.parametrize(
    ("client", "payload", "event"),
    [
        (
            "gemini",
            {"session_id": "s", "cwd": "/w", "hook_event_name": "AfterAgent", "prompt": "p", "prompt_response": "r"},
            Event("answer", "s", "/w", "r"),
        ),
        (
            "qwen",
            {"session_id": "s", "cwd": "/w", "hook_event_name": "SessionStart", "source": "startup", "model": "m"},
            Event("start", "s", "/w"),
        ),
        (
            "cursor",
            {"conversation_id": "c", "hook_event_name": "sessionStart", "workspace_roots": ["/w", "/x"]},
            Event("start", "c", "/w"),
        ),
        (
            "cursor",
            {"conversation_id": "c", "hook_event_name": "beforeSubmitPrompt", "workspace_roots": [], "prompt": "p"},
            Event("prompt", "c", "", "p"),
        ),
        (
            "cursor",
            {"conversation_id": "c", "hook_event_name": "afterAgentResponse", "workspace_roots": ["/w"], "text": "t"},
            Event("answer", "c", "/w", "t"),
        ),
        (
            "cursor",
            {"conversation_id": "c", "session_id": "c", "hook_event_name": "sessionEnd", "reason": "user_close"},
            Event("end", "c"),
        ),
        (
            "copilot",
            {"session_id": "s", "cwd": "/w", "hook_event_name": "SessionStart", "source": "resume", "timestamp": "t"},
            Event("start", "s", "/w", source="resume"),
        ),
        (
            "vscode",
            {"sessionId": "s", "cwd": "/w", "hookEventName": "UserPromptSubmit", "prompt": "p", "timestamp": "t"},
            Event("prompt", "s", "/w", "p"),
        ),
        (
            "copilot",
            {"session_id": "s", "cwd": "/w", "hook_event_name": "Stop", "stop_reason": "end_turn"},
            Event("answer", "s", "/w"),
        ),
        (
            "windsurf",
            {"agent_action_name": "pre_user_prompt", "trajectory_id": "t", "tool_info": {"user_prompt": "p"}},
            Event("prompt", "t", text="p", begins=True),
        ),
        (
            "windsurf",
            {"agent_action_name": "post_cascade_response", "trajectory_id": "t", "tool_info": {"response": "r"}},
            Event("answer", "t", text="r"),
        ),
        (
            "claude-code",  # VS Code also runs what stands in Claude Code's settings, with its own field names
            {"sessionId": "s", "cwd": "/w", "hookEventName": "SessionStart", "source": "new"},
            Event("start", "s", "/w"),
        ),
    ],
)
def test_what_the_references_document(client: str, payload: dict[str, Any], event: Event) -> None:
    assert adapter(client).read(payload) == event


@pytest.mark.parametrize("client", MODULES)
@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "SomethingNew"},
        {"hook_event_name": ["SessionStart"], "session_id": 7, "cwd": None, "prompt": {"a": 1}},
        {"agent_action_name": "pre_user_prompt", "tool_info": "text", "workspace_roots": {"a": 1}},
        {"hook_event_name": "Stop", "transcript_path": "/nowhere", "last_assistant_message": 3},
    ],
    ids=str,
)
def test_an_unknown_payload_is_ignored_or_empty_and_never_a_failure(client: str, payload: dict[str, Any]) -> None:
    event = adapter(client).read(payload)
    assert event.text == ""


# ------------------------------------------------------------------------------------------- what the clients accept
def _codex_schema(*, context: bool = True) -> dict[str, Any]:
    """What Codex takes at SessionStart: its generated schema, in short. Nothing else may stand there."""
    specific = {"hookEventName": {"const": "SessionStart"}}
    if context:
        specific["additionalContext"] = {"type": "string"}  # type: ignore[dict-item]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "continue": {"type": "boolean"},
            "stopReason": {"type": "string"},
            "suppressOutput": {"type": "boolean"},
            "systemMessage": {"type": "string"},
            "hookSpecificOutput": {
                "type": "object",
                "additionalProperties": False,
                "required": ["hookEventName"],
                "properties": specific,
            },
        },
    }


CODEX = {"0.171.0": _codex_schema(), "0.144.0": _codex_schema(), "0.154.0": _codex_schema(context=False)}


@pytest.mark.parametrize("version", CODEX)
def test_each_codex_takes_what_it_is_given_at_the_start(version: str, tmp_path: Path) -> None:
    """B106: the version stands in the first line of the session's file."""
    transcript = tmp_path / "rollout.jsonl"
    meta = {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/w", "cli_version": version}}
    transcript.write_text(json.dumps(meta, separators=(",", ":")) + "\n")
    codex = adapter("codex")
    event = codex.read({"hook_event_name": "SessionStart", "session_id": "s", "transcript_path": str(transcript)})
    assert event.later == (version == "0.154.0")
    context = "" if event.later else "what is known"
    for warning in ("", "Dolmen does not answer."):
        said = codex.say(event, context, warning)
        if said:
            jsonschema.validate(json.loads(said), CODEX[version])


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "qwen"])
def test_context_and_warning_stand_where_the_model_and_the_person_read_them(client: str) -> None:
    said = json.loads(adapter(client).say(Event("start"), "known", "careful"))
    assert said == {
        "systemMessage": "careful",
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "known"},
    }
    assert adapter(client).say(Event("start"), "", "") == ""


def test_the_other_clients_answers_have_their_own_forms() -> None:
    start, prompt = Event("start"), Event("prompt")
    assert json.loads(adapter("cursor").say(start, "known", "")) == {"additional_context": "known"}
    assert json.loads(adapter("cursor").say(prompt, "", "")) == {"continue": True}
    assert json.loads(adapter("copilot").say(start, "known", ""))["additionalContext"] == "known"
    assert json.loads(adapter("vscode").say(start, "known", ""))["hookSpecificOutput"]["additionalContext"] == "known"
    assert adapter("windsurf").say(start, "known", "careful") == ""
    assert json.loads(adapter("opencode").say(start, "known", "careful")) == {"context": "known", "warning": "careful"}


def test_an_older_claude_code_lets_the_answer_be_read_from_its_transcript(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [
        {"type": "user", "message": {"content": "Make it retry"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "It retries."}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}},
    ]
    transcript.write_text("\n".join(map(json.dumps, lines)) + '\n{"type": "assistant", "cut o')
    event = adapter("claude-code").read(
        {"hook_event_name": "Stop", "session_id": "s", "transcript_path": str(transcript)}
    )
    assert event.text == "It retries."


def test_every_client_has_an_adapter_of_its_own_name() -> None:
    assert [adapter(client).client for client in MODULES] == list(MODULES)
    assert adapter_for("hal-9000") is None
