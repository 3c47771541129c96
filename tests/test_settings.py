"""Settings: one table, one order, and nothing secret on any screen."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.settings import (
    TABLE,
    Settings,
    default_database,
    default_file,
    folders,
    kenfold,
    load,
    shown,
    without_password,
)

ROWS = {row.name: row for row in TABLE}


def write(place: Path, text: str) -> str:
    file = place / "config.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = write(tmp_path, "port = 1\nhost = 'from-file'\nagent = 'from-file'\n")
    loaded = load({"port": 3, "host": None, "config": file}, {"DOLMEN_PORT": "2", "DOLMEN_HOST": "from-environment"})
    settings, origins = loaded.settings, loaded.origins
    assert (settings.port, settings.host, settings.agent, settings.mode) == (
        3,
        "from-environment",
        "from-file",
        "write",
    )
    assert [origins[name] for name in ("port", "host", "agent", "mode")] == ["flag", "environment", "file", "default"]
    assert loaded.file == Path(file)
    assert loaded.warnings == ()


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, "port = 1\n")
    assert load(environment={"DOLMEN_PORT": "", "DOLMEN_CONFIG": file}).settings.port == 1


def test_the_file_may_group_names_in_tables_and_write_them_with_hyphens(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "\ufeff[embeddings]\nurl = 'http://127.0.0.1:1/v1'\ndimensions = 64\n"
        "[allowed]\nhosts = ['a', 'b:80']\n[rate]\nlimit = 5\n",
    )
    settings = load({"config": file}, {}).settings
    assert settings.embeddings_url == "http://127.0.0.1:1/v1"
    assert settings.embeddings_dimensions == 64
    assert settings.allowed_hosts == ("a", "b:80")
    assert settings.rate_limit == 5


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("DOLMEN_PORT", " 8_080 ", "port", 8080),
        ("DOLMEN_READ_ONLY", "Yes", "read_only", True),
        ("DOLMEN_READ_ONLY", "0", "read_only", False),
        ("DOLMEN_ALLOWED_HOSTS", "a.example, b.example:80,,", "allowed_hosts", ("a.example", "b.example:80")),
        ("DOLMEN_AUTH", "KEYS", "auth", "keys"),
    ],
)
def test_a_variable_is_read_as_its_type(variable: str, value: str, name: str, expected: object) -> None:
    assert getattr(load(environment={variable: value}).settings, name) == expected


def test_a_path_may_begin_at_home() -> None:
    """Not among the parameters above: each worker of a run has a home of its own, and would collect other tests."""
    found = load(environment={"DOLMEN_LOG_FILE": "~/dolmen.log"}).settings.log_file
    assert found == str(Path("~/dolmen.log").expanduser())


@pytest.mark.parametrize(
    ("variable", "value", "rule"),
    [
        ("DOLMEN_PORT", "many", "a whole number"),
        ("DOLMEN_PORT", "-1", "at least 0"),
        ("DOLMEN_PORT", "65536", "at most 65535"),
        ("DOLMEN_PORT", "1.5", "a whole number"),
        ("DOLMEN_MODE", "root", "one of read, suggest, write, admin"),
        ("DOLMEN_READ_ONLY", "perhaps", "`on` or `off`"),
    ],
)
def test_a_value_that_a_setting_does_not_take_is_refused_by_name_and_value(
    variable: str, value: str, rule: str
) -> None:
    with pytest.raises(DolmenError) as caught:
        load(environment={variable: value})
    error = caught.value
    assert (error.code, variable in error.message) == ("configuration", True)
    assert rule in error.fix
    assert repr(value) in error.message


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    secret = "ghp_" + "a1B2" * 9
    for variable in ("DOLMEN_PORT", "DOLMEN_MODE", "DOLMEN_ZONE"):
        with pytest.raises(DolmenError) as caught:
            load(environment={variable: secret})
        assert secret not in caught.value.message + caught.value.fix
        assert variable in caught.value.message


def test_a_misspelled_name_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    file = write(tmp_path, "pory = 1\nzzzz = 2\n")
    warnings = load({"config": file}, {"DOLMEN_DATBASE": "x", "DOLMEN_QQQQ": "y", "OTHER": "z"}).warnings
    assert warnings == (
        "The environment variable DOLMEN_DATBASE is no setting of Dolmen; did you mean DOLMEN_DATABASE?",
        "The environment variable DOLMEN_QQQQ is no setting of Dolmen.",
        f"`pory` in {file} is no setting of Dolmen; did you mean `port`?",
        f"`zzzz` in {file} is no setting of Dolmen.",
    )


def test_secrets_are_never_shown() -> None:
    settings = load(environment={"DOLMEN_EMBEDDINGS_KEY": "sk-very-secret"}).settings
    assert settings.embeddings_key == "sk-very-secret"
    assert shown(ROWS["embeddings_key"], settings.embeddings_key) == "(set, not shown)"
    assert shown(ROWS["embeddings_key"], "") == "(not set)"
    assert [row.name for row in TABLE if row.secret] == ["key", "embeddings_key", "rerank_key", "chat_key"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ada:p@ss:w/rd@db:5432/x", "postgresql://ada:***@db:5432/x"),
        ("postgresql://ada@db/x?password=secret&sslmode=require", "postgresql://ada@db/x?password=***&sslmode=require"),
        ("postgresql://:secret@db/x", "postgresql://:***@db/x"),
        ("sqlite:////home/ada/a:b@c.db", "sqlite:////home/ada/a:b@c.db"),
        ("http://127.0.0.1:7077/mcp", "http://127.0.0.1:7077/mcp"),
    ],
)
def test_passwords_in_urls_are_not_shown(url: str, expected: str) -> None:
    assert without_password(url) == expected


def test_the_default_store_and_file_are_in_the_users_own_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert default_database() == f"sqlite:///{tmp_path}/data/dolmen/dolmen.db"
    assert default_file() == tmp_path / "config" / "dolmen" / "config.toml"
    assert load(environment={}).settings.database == default_database()


@pytest.mark.parametrize("named", ["/srv/ada", "", " ", "relative/ada", None])
def test_the_folders_are_those_that_platformdirs_names(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is not loaded for it on Linux, where the hook has no time to lose."""
    from platformdirs import user_config_path, user_data_path

    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if named is not None:
            monkeypatch.setenv(variable, named)
    assert folders.data() == user_data_path("dolmen", appauthor=False)
    assert folders.configuration() == user_config_path("dolmen", appauthor=False)


def test_other_systems_have_their_own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What platformdirs answers there for the arguments that `default_database` gives."""
    from platformdirs import macos, windows

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")
    mac = macos.MacOS("dolmen", appauthor=False).user_data_path
    assert mac == tmp_path / "Library" / "Application Support" / "dolmen"
    monkeypatch.setattr(windows, "get_win_folder", lambda name: rf"C:\Users\Ada\{name}")
    found = windows.Windows("dolmen", appauthor=False).user_data_dir
    assert found.replace("/", "\\") == r"C:\Users\Ada\CSIDL_LOCAL_APPDATA\dolmen"


def test_every_row_is_a_field_with_help_and_a_default_of_its_type() -> None:
    assert [row.name for row in TABLE] == [each.name for each in fields(Settings)]
    kinds = {"text": str, "path": str, "integer": int, "number": (int, float), "switch": bool, "list": tuple}
    for row in TABLE:
        assert row.help.endswith("."), row.name
        assert row.default is None or isinstance(row.default, kinds[row.type]), row.name  # type: ignore[arg-type]
        assert not row.choices or row.default in row.choices, row.name
        assert row.variable == f"DOLMEN_{row.name.upper()}"


# -------------------------------------------------------------------------------------------------- Kenfold's variables
SEED = (
    *("KENFOLD_AGENT", "KENFOLD_SEARCH_MAX_DISTANCE", "KENFOLD_RERANK_URL", "KENFOLD_CHAT_URL"),
    *("KENFOLD_EXTRACT_POLICY", "KENFOLD_PUBLIC_URL", "KENFOLD_OAUTH_DCR"),
    *("KENFOLD_EXTRACT", "KENFOLD_CLASSIFY", "KENFOLD_CHAT_REASONING"),
)


def test_every_variable_that_kenfold_documents_is_in_the_table() -> None:
    """C-378: with a setting, or with the reason why there is none."""
    known = {each.variable: each for each in kenfold.COUNTERPARTS}
    assert len(known) == len(kenfold.COUNTERPARTS)
    assert [name for name in SEED if name not in known] == []
    assert [each.variable for each in kenfold.COUNTERPARTS if each.read is None and not each.says] == []


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("KENFOLD_AGENT", "codex", {"agent": "codex"}),
        ("KENFOLD_HTTP_ADDR", "[::1]:7070", {"host": "::1", "port": 7070}),
        ("KENFOLD_PUBLIC_URL", "https://memory.example.com", {"public_url": "https://memory.example.com"}),
        ("KENFOLD_ALLOWED_HOSTS", "a.example, b.example", {"allowed_hosts": ("a.example", "b.example")}),
        ("KENFOLD_AUTH", "apikey", {"auth": "keys"}),
        ("KENFOLD_AUTH", "none", {"auth": "auto"}),
        ("KENFOLD_EMBED_URL", "http://h/v1", {"embeddings_url": "http://h/v1", "embeddings_model": "bge-m3"}),
        ("KENFOLD_EMBED_DIMENSIONS", "true", {"embeddings_dimensions": 1024}),
        ("KENFOLD_EMBED_DIMENSIONS", "false", {"embeddings_dimensions": None}),
        ("KENFOLD_EMBED_API_KEY", "k", {"embeddings_key": "k"}),
        ("KENFOLD_RERANK_URL", "http://h/v1", {"rerank_url": "http://h/v1", "rerank_model": "bge-reranker-v2-m3"}),
        ("KENFOLD_CHAT_URL", "http://h/v1", {"chat_url": "http://h/v1", "chat_model": "qwen3.5:4b"}),
        ("KENFOLD_SEARCH_MAX_DISTANCE", "0.6", {"search_max_distance": 0.6}),
        ("KENFOLD_CHAT_URL", "http://h/v1", {"chat_reasoning": "none", "extract": True, "classify": True}),
        ("KENFOLD_CHAT_REASONING", "LOW", {"chat_reasoning": "low"}),
        ("KENFOLD_CHAT_REASONING", "omit", {"chat_reasoning": ""}),
        ("KENFOLD_EXTRACT", "false", {"extract": False}),
        ("KENFOLD_CLASSIFY", "0", {"classify": False}),
        ("KENFOLD_EXTRACT_POLICY", "auto", {"extract_policy": "auto"}),
        ("KENFOLD_CONSOLIDATE", "false", {"consolidate": False}),
        ("KENFOLD_LOG_LEVEL", "WARN", {"log": "warning"}),
        ("KENFOLD_AGENT", " ", {"agent": ""}),
        ("KENFOLD_EMBED_NAME", "bge-2", {"embeddings_name": "bge-2"}),
        ("KENFOLD_AUTO_MIGRATE", "false", {"auto_migrate": False}),
        ("KENFOLD_STATE_DIR", "/srv/kenfold/", {"state_dir": str(Path("/srv/kenfold/dolmen"))}),
        ("KENFOLD_API_KEY", "dlm_1", {"key": "dlm_1"}),
        ("KENFOLD_API_KEY", "kf_1", {"key": ""}),
        ("KENFOLD_URL", "http://127.0.0.1:7077/mcp", {"url": ""}),
    ],
)
def test_a_variable_of_kenfold_sets_what_it_means_here(variable: str, value: str, expected: dict[str, object]) -> None:
    """C-378."""
    loaded = load(environment={variable: value})
    assert {name: getattr(loaded.settings, name) for name in expected} == expected
    assert loaded.warnings == ()


def test_dolmens_own_variable_and_a_flag_win_over_kenfolds_and_that_over_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "agent = 'file'\nport = 1\n")
    theirs = {"KENFOLD_AGENT": "theirs", "KENFOLD_HTTP_ADDR": "127.0.0.1:2", "DOLMEN_CONFIG": file}
    loaded = load(environment=theirs)
    assert (loaded.settings.agent, loaded.settings.port, loaded.origins["agent"]) == ("theirs", 2, "environment")
    assert load(environment={**theirs, "DOLMEN_AGENT": "ours"}).settings.agent == "ours"
    assert load({"agent": "flag"}, theirs).settings.agent == "flag"


def test_kenfold_sends_no_reasoning_where_it_says_omit() -> None:
    """C-378: also with its address, whose default would be `none`."""
    theirs = {"KENFOLD_CHAT_URL": "http://h/v1", "KENFOLD_CHAT_REASONING": "omit"}
    assert load(environment=theirs).settings.chat_reasoning == ""


def test_what_kenfold_asks_its_own_endpoint_for_is_not_asked_of_another() -> None:
    """C-378: `reasoning_effort` would be refused by a model that does not think."""
    both = {"KENFOLD_CHAT_URL": "http://theirs/v1", "DOLMEN_CHAT_URL": "http://ours/v1", "DOLMEN_CHAT_MODEL": "m"}
    settings = load(environment=both).settings
    assert (settings.chat_url, settings.chat_model, settings.chat_reasoning) == ("http://ours/v1", "m", "")


def test_a_kenfold_users_address_counts_beside_a_key_of_dolmens_only() -> None:
    """C-378: alone, it leads to the server that is still Kenfold's."""
    theirs = {"KENFOLD_URL": "https://m.example/mcp", "KENFOLD_API_KEY": "kf_1"}
    assert load(environment=theirs).settings.url == ""
    assert [each.variable for each in kenfold.unread(theirs)] == ["KENFOLD_URL", "KENFOLD_API_KEY"]
    changed = {**theirs, "KENFOLD_API_KEY": "dlm_1"}
    assert load(environment=changed).settings.url == "https://m.example/mcp"
    assert kenfold.unread(changed) == []


def test_kenfolds_database_is_left_alone() -> None:
    theirs = {"KENFOLD_DATABASE_URL": "postgres://kenfold@127.0.0.1:54329/kenfold", "KENFOLD_API_KEY": "kf_1"}
    assert load(environment=theirs).settings.database == default_database()


def test_a_wrong_value_is_refused_under_the_name_that_it_stands_in() -> None:
    with pytest.raises(DolmenError) as refused:
        load(environment={"KENFOLD_HTTP_ADDR": "127.0.0.1:http"})
    assert refused.value.message.startswith("KENFOLD_HTTP_ADDR does not take 'http'")
