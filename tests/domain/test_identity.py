"""One project has one name on every machine, and two projects never share one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import (
    MAX_PROJECT_CHARACTERS,
    RepositoryFacts,
    agent_name,
    identify,
    normalize_project,
    override_project,
    project_of,
    scope_of,
    session_id,
)

# ------------------------------------------------------------------------------------------- names and remote URLs


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/org/repo",
        "https://github.com/Org/Repo.git",
        "https://github.com/org/repo/",
        "https://github.com/org/repo.git/",
        "https://github.com/org/repo?tab=readme#top",
        "https://user:ghp_secret@github.com/org/repo",
        "https://user:p@ss@github.com/org/repo",
        "https://github.com:443/org/repo.git",
        "http://github.com/org/repo",
        "git://github.com/org/repo.git",
        "ssh://git@github.com/org/repo/",
        "ssh://git@github.com:22/org/repo.git",
        "git+ssh://git@github.com/org/repo",
        "git@github.com:org/repo",
        "git@github.com:org/repo.git",
        "git@github.com:/org/repo.git",
        "github.com:org/repo",
        "github.com/org/repo",
        "github.com/org/repo?tab=readme",
        "user:token@github.com/org/repo",
        "  https://github.com/org/repo\n",
        "project:github.com/org/repo",
    ],
)
def test_every_form_of_one_remote_is_one_project(remote: str) -> None:
    """C-26 C-27"""
    assert scope_of(remote) == "project:github.com/org/repo"


@pytest.mark.parametrize(
    ("value", "identity"),
    [
        ("My-Local-Project", "my-local-project"),
        ("team-alpha", "team-alpha"),
        ("프로젝트 알파", "프로젝트 알파"),
        ("e\u0301quipe", "équipe"),
        ("notes v1.2", "notes v1.2"),
        ("next: the plan", "next/ the plan"),
        ("ssh://git@host.example:2222/o/r.git", "host.example/o/r"),
        ("http://[2001:db8::1]:8080/o/r.git", "[2001:db8::1]/o/r"),
        ("git@[2001:DB8::1]:o/r.git", "[2001:db8::1]/o/r"),
        ("git@gitlab.com:group/sub/repo.git", "gitlab.com/group/sub/repo"),
        ("https://dev.azure.com/Org/Project/_git/Repo", "dev.azure.com/org/project/_git/repo"),
    ],
)
def test_names_and_remotes_have_their_documented_identity(value: str, identity: str) -> None:
    """C-26, B009: hyphens and Unicode names round-trip."""
    assert normalize_project(value) == identity
    assert project_of(scope_of(value)) == identity
    assert normalize_project(identity) == identity


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/repo",
        "~/repo",
        "~",
        ".",
        "..",
        "./repo",
        "../repo",
        "../../other",
        "name/../../other",
        "file:///srv/git/repo.git",
        "FILE:///srv/git/repo.git",
        "C:\\src\\repo",
        "c:/src/repo",
        "\\\\server\\share\\repo",
        "..\\other",
        "https:///etc/passwd",
        "project:/home/me/repo",
    ],
)
def test_local_paths_are_refused_with_what_to_pass_instead(path: str) -> None:
    """C-29 B191"""
    with pytest.raises(DolmenError) as refusal:
        scope_of(path)
    assert refusal.value.code == "invalid-project"
    assert "git remote" in refusal.value.fix


@pytest.mark.parametrize(
    "value", ["https://", ".git", "/", "a\nb", "\x00bad", "a\u202eb", "a\ud800", "x" * (MAX_PROJECT_CHARACTERS + 1)]
)
def test_what_is_no_name_is_refused(value: str) -> None:
    with pytest.raises(DolmenError, match="project"):
        scope_of(value)


@pytest.mark.parametrize("nothing", [None, "", "   ", "\n"])
def test_no_project_is_the_user_scope(nothing: str | None) -> None:
    """C-28 C-30"""
    assert scope_of(nothing) == "user"
    assert project_of("user") is None


@pytest.mark.parametrize("text", ["", "project:", "team", "USER"])
def test_a_text_that_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(DolmenError):
        project_of(text)


@given(st.one_of(st.text(max_size=60), st.text(alphabet="aA.:/@\\~?#git -", max_size=20)))
def test_a_project_that_is_accepted_keeps_its_identity(value: str) -> None:
    """B009: normalising again changes nothing, and the scope gives the identity back."""
    try:
        identity = normalize_project(value)
    except DolmenError:
        return
    assert normalize_project(identity) == identity
    assert scope_of(identity) == f"project:{identity}"
    assert project_of(f"project:{identity}") == identity
    assert not any(step in (".", "..") for step in identity.split("/"))


@given(st.text(alphabet="abcdefghijklmnop0123456789_.~-", min_size=1, max_size=20))
def test_credentials_never_reach_the_identity(secret: str) -> None:
    assert normalize_project(f"https://me:{secret}@host.example/o/r") == "host.example/o/r"


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("Codex/1.2 (CLI)", "codex-1.2-cli"),
        ("  Cursor  ", "cursor"),
        ("a\x00b\nc", "a-b-c"),
        ("클로드", "클로드"),
        ("", "unknown"),
        (None, "unknown"),
        ("///", "unknown"),
    ],
)
def test_agent_names_are_lowercase_and_plain(raw: str | None, name: str) -> None:
    """C-31"""
    assert agent_name(raw) == name


@given(st.text(max_size=200))
def test_an_agent_name_is_stable_and_short(raw: str) -> None:
    assert agent_name(agent_name(raw)) == agent_name(raw)
    assert 0 < len(agent_name(raw)) <= 64


# ------------------------------------------------------------------------------------- the project of a directory

ORIGIN = ("origin", "git@github.com:org/repo.git")


def test_a_worktree_is_the_project_of_its_repository() -> None:
    """B118: git's common directory and remotes are the same, only the work tree is another folder."""
    main = RepositoryFacts(remotes=(ORIGIN,), common_dir="/w/repo/.git", toplevel="/w/repo")
    tree = RepositoryFacts(remotes=(ORIGIN,), common_dir="/w/repo/.git", toplevel="/w/wt-a")
    assert identify(main).project == identify(tree).project == "github.com/org/repo"
    local = RepositoryFacts(common_dir="/w/repo/.git", toplevel="/w/repo", root_commits=("a1",))
    local_tree = RepositoryFacts(common_dir="/w/repo/.git", toplevel="/w/wt-a", root_commits=("a1",))
    assert identify(local).project == identify(local_tree).project


def test_a_submodule_is_its_own_project_and_shows_the_one_around_it() -> None:
    """B121"""
    around = RepositoryFacts(remotes=(ORIGIN,), common_dir="/w/super/.git", toplevel="/w/super")
    inner = RepositoryFacts(
        remotes=(("origin", "https://github.com/org/lib"),),
        common_dir="/w/super/.git/modules/sub",
        toplevel="/w/super/sub",
        superproject=around,
    )
    identity = identify(inner)
    assert identity.project == "github.com/org/lib"
    assert identity.parents == ("github.com/org/repo",)


def test_a_submodule_of_a_submodule_shows_both_projects_nearest_first() -> None:
    """B121"""
    outer = RepositoryFacts(remotes=(("origin", "https://h.example/a"),), common_dir="/w/.git")
    middle = RepositoryFacts(remotes=(("origin", "https://h.example/b"),), common_dir="/w/.git/b", superproject=outer)
    inner = RepositoryFacts(remotes=(("origin", "https://h.example/c"),), common_dir="/w/.git/c", superproject=middle)
    assert identify(inner).parents == ("h.example/b", "h.example/a")


def test_two_repositories_with_one_folder_name_are_two_projects() -> None:
    """B122"""
    one = RepositoryFacts(common_dir="/home/me/a/backend/.git", root_commits=("1111",))
    two = RepositoryFacts(common_dir="/home/me/b/backend/.git", root_commits=("2222",))
    first, second = identify(one), identify(two)
    assert first.project != second.project
    assert first.source == "history"
    assert first.keep
    assert first.project is not None
    assert first.project.endswith("/backend")


def test_two_new_repositories_are_two_projects() -> None:
    """B122: without a commit the client's random id tells them apart."""
    one = identify(RepositoryFacts(common_dir="/a/backend/.git", fresh_id="0f"))
    two = identify(RepositoryFacts(common_dir="/b/backend/.git", fresh_id="1e"))
    assert one.project != two.project
    assert one.source == "minted"


def test_a_kept_identity_survives_a_first_commit_and_a_moved_folder() -> None:
    before = identify(RepositoryFacts(common_dir="/a/backend/.git", fresh_id="0f"))
    after = identify(
        RepositoryFacts(common_dir="/b/moved/.git", root_commits=("1111",), fresh_id="1e", kept_identity=before.project)
    )
    assert after.project == before.project
    assert after.source == "kept"
    assert not after.keep


def test_a_damaged_kept_identity_is_made_anew() -> None:
    identity = identify(RepositoryFacts(common_dir="/a/x/.git", root_commits=("1111",), kept_identity="\x00/etc"))
    assert identity.source == "history"


@pytest.mark.parametrize(
    "spelling", ["C:/Code/Repo/.git", "c:/code/repo/.git", "C:\\Code\\Repo\\.git", "/mnt/c/Code/Repo/.git"]
)
def test_spellings_of_one_windows_folder_are_one_project(spelling: str) -> None:
    """B128: drive letter, letter case, slashes and the WSL path do not count."""
    expected = identify(RepositoryFacts(common_dir="c:/code/repo/.git", root_commits=("1111",)))
    assert identify(RepositoryFacts(common_dir=spelling, root_commits=("1111",))) == expected


def test_a_committed_file_names_the_project_before_anything_else() -> None:
    """B219"""
    facts = RepositoryFacts(
        remotes=(ORIGIN,),
        common_dir="/w/repo/.git",
        kept_identity="other",
        override="# which memory\nproject = https://github.com/Org/Mono.git\n",
        confirmed=("github.com/org/mono",),
    )
    identity = identify(facts)
    assert (identity.project, identity.source) == ("github.com/org/mono", "override")


def test_a_file_names_the_project_of_a_folder_outside_any_repository() -> None:
    """B219"""
    facts = RepositoryFacts(override="project = 'Team Notes'")
    assert identify(replace(facts, confirmed=("team notes",))).project == "team notes"
    assert (identify(facts).project, identify(facts).unconfirmed) == (None, "team notes")


@pytest.mark.parametrize("text", ["", "# nothing\n", "project =\n", "other = x\n"])
def test_a_file_that_names_nothing_counts_for_nothing(text: str) -> None:
    assert override_project(text) is None
    assert identify(RepositoryFacts(remotes=(ORIGIN,), common_dir="/w/.git", override=text)).source == "remote"


def test_a_file_that_names_a_path_is_refused() -> None:
    """B191"""
    with pytest.raises(DolmenError):
        identify(RepositoryFacts(common_dir="/w/.git", override="project = ../../other"))


def test_a_folder_outside_any_repository_has_no_project() -> None:
    """B129: never the home directory."""
    assert identify(RepositoryFacts()).project is None


@pytest.mark.parametrize(
    ("remotes", "tracked", "project"),
    [
        ((("fork", "https://h.example/fork"), ("origin", "https://h.example/o")), "fork", "h.example/o"),
        ((("fork", "https://h.example/fork"), ("upstream", "https://h.example/u")), "fork", "h.example/u"),
        ((("a", "https://h.example/a"), ("b", "https://h.example/b")), "b", "h.example/b"),
        ((("a", "https://h.example/a"), ("b", "https://h.example/b")), None, "h.example/a"),
        ((("origin", "/srv/git/x.git"), ("b", "https://h.example/b")), None, "h.example/b"),
    ],
)
def test_the_remote_that_names_the_project(
    remotes: tuple[tuple[str, str], ...], tracked: str | None, project: str
) -> None:
    facts = RepositoryFacts(remotes=remotes, tracked_remote=tracked, common_dir="/w/.git")
    assert identify(facts).project == project


def test_a_clone_of_a_folder_on_the_same_disk_is_the_same_project() -> None:
    original = RepositoryFacts(common_dir="/home/me/api/.git", root_commits=("1111",))
    clone = RepositoryFacts(remotes=(("origin", "/home/me/api"),), common_dir="/tmp/try-2/.git", root_commits=("1111",))
    assert identify(clone).project == identify(original).project


def test_a_repository_that_nothing_names_is_refused_with_what_to_do() -> None:
    with pytest.raises(DolmenError, match="neither a remote nor a commit") as refusal:
        identify(RepositoryFacts(common_dir="/w/.git"))
    assert "dolmen project use" in refusal.value.fix


@pytest.mark.parametrize(
    ("raw", "id"),
    [
        ("  0199-abc  ", "0199-abc"),
        ("세션/1", "세션/1"),
        ("x" * 128, "x" * 128),
        ("x" * 129, None),
        ("", None),
        ("   ", None),
        ("a\nb", None),
        ("a\x00", None),
        (7, None),
        (None, None),
        (["a"], None),
    ],
)
def test_a_session_id_is_a_short_line_and_anything_else_is_none(raw: object, id: str | None) -> None:
    """C-32."""
    assert session_id(raw) == id
