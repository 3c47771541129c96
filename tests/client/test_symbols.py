"""Definitions in thirteen languages, and hashes that see what a symbol says and not how it is laid out."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dolmen.client.symbols import LANGUAGES, Reader, combined, definitions, language_of, missing, same
from dolmen.client.symbols.definitions import Source
from dolmen.domain.code import qualified

SAMPLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "shop/cart.py": (
        """
import os
LIMIT: int = 3
class Cart(Base):
    rate = 0.1
    @property
    def total(self) -> int:
        tax = 2
        return self.rate + tax
    def add(self, item): ...
async def checkout(cart):
    def inner(): pass
Point = tuple[int, int]
""",
        ("LIMIT", "Cart", "Cart.rate", "Cart.total", "Cart.add", "checkout", "checkout.inner", "Point",
         "cart.checkout"),
    ),
    "shop/cart.ts": (
        """
export class Cart<T> extends Base { rate = 1; async add(item: T): Promise<void> { const tax = 2; }
  get total() { return 1 } static MAX = 3; handler = () => { } }
export interface Shop { open(): void; name: string }
export type Id = string
enum Color { Red }
export const checkout = async (cart: Cart<number>) => { const inner = () => 1 }
function over(a: string): void; function over(a: number): void; function over(a: any) {}
namespace Billing { export function charge() {} }
abstract class Base { abstract run(): void }
""",
        ("Cart", "Cart.add", "Cart.total", "Cart#rate", "Cart.MAX", "Cart.handler", "Shop", "Shop.open", "Shop.name",
         "Id", "Color", "checkout", "checkout.inner", "over", "Billing.charge", "Base.run"),
    ),
    "shop/Cart.tsx": (
        "export function Cart({ items }: Props) { const total = () => 1; return <b onClick={total}>{items}</b> }\n"
        "const Row = React.memo(() => <i/>)\nexport default class View extends C { render() { return <p/> } }",
        ("Cart", "Cart.total", "Row", "View", "View.render"),
    ),
    "shop/cart.js": (
        "class Cart { #rate = 1; total() { } static MAX = 3 }\nconst checkout = function (cart) { }\n"
        "Cart.prototype.clear = function () { }\nmodule.exports.refund = () => 1\nfunction* each() {}\n"
        "const api = { fetch() {}, send: () => 1 }",
        ("Cart", "Cart.total", "Cart.MAX", "checkout", "clear", "refund", "each", "api", "api.fetch", "api.send"),
    ),
    "shop/cart.go": (
        """package shop
type Cart struct { Total int }
type ( Id = string
 Rate float64 )
type Shop interface { Open() error }
func (c *Cart) Add(item int) int { tax := 2; return tax }
func (b Box[T]) Get() T { return b.v }
func Checkout(c Cart) { var local = 1; _ = local }
const Max = 3
var ErrEmpty = errors.New("empty")
""",
        ("Cart", "Cart.Total", "Id", "Rate", "Shop", "Shop.Open", "Cart.Add", "Box.Get", "Checkout", "Max", "ErrEmpty",
         "shop.Checkout"),
    ),
    "src/cart.rs": (
        """
pub mod shop { pub struct Cart { total: i32 } impl Cart { pub fn add(&self) -> i32 { 1 } const MAX: i32 = 3; } }
impl<T: Clone> Shop<T> for Boxed<T> { fn open(&self) {} }
pub trait Shop<T> { fn open(&self); }
enum Color { Red(u8), Blue }
macro_rules! total { () => { 1 } }
static LIMIT: i32 = 1; type Id = i32; fn checkout() {}
""",
        ("Cart", "shop::Cart", "Cart::total", "Cart::add", "Cart::MAX", "Boxed::open", "Shop", "Color", "Color::Red",
         "total", "LIMIT", "Id", "checkout", "cart::checkout"),
    ),
    "shop/Cart.java": (
        """package shop;
public class Cart<T> extends Base { private int total = 1; Cart() {} public <U> void add(U item) { int tax = 1; }
  enum Color { RED; void mix() {} } record Point(int x) {} static final int MAX = 3; }
interface Shop { void open(); int LIMIT = 1; }
@interface Marked { String value(); }
""",
        ("Cart", "Cart.total", "Cart.add", "Color", "Color.RED", "Color.mix", "Point", "Cart.MAX", "Shop.open",
         "Shop.LIMIT", "Marked.value"),
    ),
    "src/cart.c": (
        """
struct cart { int total; void (*done)(int); };
typedef struct { int x; } point;
enum color { RED };
#define LIMIT 3
#define TWICE(a) (2 * (a))
static int *cart_add(struct cart *c, int item) { int tax = 1; return &tax; }
int proto(void);
int counter = 3;
const char *names[] = {"a"};
struct cart make(void) { struct cart c; return c; }
""",
        ("cart", "cart.total", "cart.done", "point", "color", "RED", "LIMIT", "TWICE", "cart_add", "proto", "counter",
         "names", "make"),
    ),
    "src/cart.cpp": (
        """
namespace shop { class Cart : Base { int total; Cart(); ~Cart(); void add(int item) { int tax = 1; }
  static const int Max = 3; }; template <typename T> class Box { void put(T t); }; using Id = int; }
void shop::Cart::clear(int a) { }
template <typename T> T Box<T>::get() { return value; }
int *find(int x) { return nullptr; }
#define LIMIT 3
""",
        ("Cart", "shop::Cart", "Cart::total", "Cart::add", "Cart::Max", "Box", "Box::put", "Id", "Cart::clear",
         "Box::get", "find", "LIMIT"),
    ),
    "include/cart.h": (
        "class Cart { public: int total() const; };\nint cart_add(int a);\nstruct point { int x; };",
        ("Cart", "Cart::total", "cart_add", "point", "point::x"),
    ),
    "Shop/Cart.cs": (
        """
namespace Shop.Core { public class Cart<T> : Base { public int Total { get; set; } int rate = 1; Cart() {}
  public void Add(int item) { int tax = 1; void Inner() {} } event Action Changed; const int Max = 3; }
  enum Color { Red } interface IShop { void Open(); } record Point(int X); delegate void Done(); struct Size {} }
""",
        ("Cart", "Cart.Total", "Cart.rate", "Cart.Add", "Cart.Inner", "Cart.Changed", "Cart.Max", "Color.Red",
         "IShop.Open", "Point", "Done", "Size", "Core.Cart"),
    ),
    "lib/cart.rb": (
        """
module Shop
  class Cart < Base
    LIMIT = 3
    def add(item)
      tax = 1
    end
    def self.make; end
    class << self
      def other; end
    end
  end
end
class Shop::Row; end
""",
        ("Shop", "Cart", "Shop::Cart", "Cart::LIMIT", "Cart#add", "Cart.make", "Cart.other", "Shop::Row"),
    ),
    "src/Cart.php": (
        """<?php namespace Shop;
class Cart extends Base { const MAX = 1; public $total = 0; public function add($item) { $tax = 1; } }
interface Shop { function open(); } trait Counted { } enum Color: string { case Red = 'r'; }
function checkout() { } const LIMIT = 3;
""",
        ("Cart", "Cart::MAX", "Cart.total", "Cart::add", "Shop::open", "Counted", "Color::Red", "checkout", "LIMIT"),
    ),
    "src/Cart.kt": (
        """
class Cart(val id: Int) : Base() {
  val total = 1
  fun add(item: Int): Int {
    val tax = 1
    return tax
  }
  companion object {
    const val MAX = 3
    fun make() = 1
  }
}
object Registry {
  fun find() {}
}
enum class Color { RED, BLUE }
typealias Id = String
val limit: Int by lazy { 1 }
fun <T> checkout(t: T) {}
""",
        ("Cart", "Cart.total", "Cart.add", "Cart.MAX", "Cart.make", "Registry.find", "Color", "Color.RED", "Id",
         "limit", "checkout"),
    ),
    "Sources/Cart.swift": (
        """
class Cart: Base { var total = 1
  func add(item: Int) -> Int { let tax = 1; return tax } }
struct Point { let x: Int }
protocol Shop { func open() }
enum Color { case red
  func mix() {} }
extension Cart { func clear() {} }
func checkout() {}
typealias Id = String
let limit = 3
""",
        ("Cart", "Cart.total", "Cart.add", "Point.x", "Shop.open", "Color.red", "Color.mix", "Cart.clear", "checkout",
         "Id", "limit"),
    ),
}  # fmt: skip
PATHS = sorted(SAMPLES)


def read(path: str, text: str | bytes) -> Source:
    found = definitions(path, text.encode() if isinstance(text, str) else text)
    assert found is not None
    return found


def hash_of(path: str, text: str | bytes, symbol: str) -> str:
    """The hash of a symbol; empty when it is not defined."""
    found = read(path, text).of(qualified(symbol), path)
    return combined(each.hash for each in found) if found else ""


def test_every_grammar_is_here_and_has_a_sample() -> None:
    assert missing() == ()
    assert {found.name for path in PATHS if (found := language_of(path))} == {each.name for each in LANGUAGES}


@pytest.mark.parametrize("path", PATHS)
def test_every_kind_of_definition_is_found_by_its_name_and_what_it_belongs_to(path: str) -> None:
    """C-224."""
    text, symbols = SAMPLES[path]
    source = read(path, text)
    assert source.whole
    assert [each for each in symbols if not source.of(qualified(each), path)] == []


@pytest.mark.parametrize("path", PATHS)
def test_local_names_uses_and_other_owners_are_no_definitions(path: str) -> None:
    source = read(path, SAMPLES[path][0])
    assert source.of(("tax",), path) == ()
    assert source.of(("Base",), path) == () or "abstract class Base" in SAMPLES[path][0]
    assert source.of(("Nobody", "add"), path) == ()


@pytest.mark.parametrize("path", PATHS)
def test_layout_changes_no_hash(path: str) -> None:
    """C-224."""
    text, symbols = SAMPLES[path]
    lines = text.splitlines()
    if path.endswith((".py", ".rb")):
        looser = "".join(f"{line}  \n\n" for line in lines)
    else:
        looser = "".join(f"   {line}\r\n" for line in lines)
    assert read(path, looser).whole
    assert [each for each in symbols if hash_of(path, looser, each) != hash_of(path, text, each)] == []


BEFORE = "class Cart:\n    def total(self, tax):\n        if tax:\n            self.round()\n        return self.sum\n"


@pytest.mark.parametrize(
    ("after", "equal"),
    [
        (BEFORE.replace("    ", "\t"), True),
        (BEFORE.replace("(self, tax)", "( self,tax )"), True),
        (BEFORE.replace("self.sum", "self.sum + 1"), False),
        (BEFORE.replace("        return", "            return"), False),
        (BEFORE.replace("    def", "    @cached\n    def"), False),
        (BEFORE + "\n    def other(self): pass\n", True),
        ("import os\n\n\n" + BEFORE, True),
        (BEFORE.replace("return self", "return\u00a0self"), True),
    ],
)
def test_a_hash_follows_what_a_definition_says(after: str, equal: bool) -> None:
    """C-224: in Python indentation is a part of that."""
    assert (hash_of("a.py", after, "Cart.total") == hash_of("a.py", BEFORE, "Cart.total")) is equal


def test_overloads_are_one_symbol_together() -> None:
    one = "int add(int a) { return a; }\n"
    two = one + "int add(double a) { return 1; }\n"
    assert hash_of("a.cpp", two, "add").count("+") == 1
    assert hash_of("a.cpp", one, "add") != hash_of("a.cpp", two, "add")
    turned = "".join(reversed(two.splitlines(keepends=True)))
    assert hash_of("a.cpp", turned, "add") == hash_of("a.cpp", two, "add")


def test_an_unqualified_name_means_the_definition_nearest_to_the_top() -> None:
    text = "class Client:\n    def get(self): return 1\n\ndef get(url): return 2\n"
    assert hash_of("a.py", text, "get") == hash_of("a.py", "def get(url): return 2", "get")
    assert hash_of("a.py", text, "Client.get") == hash_of("a.py", text.replace("2", "3"), "Client.get")


def test_what_was_anchored_is_there_among_more_only_where_more_is_allowed() -> None:
    assert same("def1:a", "def1:a+b", more_allowed=True)
    assert not same("def1:a", "def1:a+b", more_allowed=False)
    assert not same("def1:a+c", "def1:a+b", more_allowed=True)
    many = combined(str(n) for n in range(40))
    assert re.fullmatch(r"def1:[0-9a-f]{16}", many)


@pytest.mark.parametrize(
    ("path", "source"),
    [("a.sql", b"create table t"), ("Makefile", b"all:"), ("a.py", b"x" * (1 << 20) + b"\n"), ("a.py", b"\0\1\2")],
)
def test_what_cannot_be_read_says_nothing(path: str, source: bytes) -> None:
    assert definitions(path, source) is None


def test_a_file_that_is_no_utf8_is_read_all_the_same() -> None:
    text = "# caf\xe9\ndef total(): return 'caf\xe9'\n"
    assert hash_of("a.py", text.encode("latin-1"), "total")


def test_a_file_with_mistakes_says_so() -> None:
    assert not read("a.py", "def total(:\n  x = (\n").whole


@given(st.sampled_from(PATHS), st.integers(0, 400), st.text(max_size=8))
@settings(max_examples=50, deadline=None)
def test_no_source_makes_it_fail(path: str, at: int, junk: str) -> None:
    text = SAMPLES[path][0]
    source = (text[:at] + junk + text[at + len(junk) :]).encode()
    assert (definitions(path, source) is None) is ("\0" in junk)


def test_without_the_grammars_files_are_told_apart_and_nothing_is_parsed() -> None:
    """Where nothing but the standard library is, and so for whoever leaves the extra out."""
    code = (
        "from dolmen.client.symbols import definitions, missing; from dolmen.client import refs;"
        "assert definitions('a.py', b'def f(): pass') is None; print(len(missing()))"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=source, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(len(LANGUAGES)), "")


def test_a_file_of_many_definitions_is_read_within_a_session_start() -> None:
    """The hook has two seconds for all files."""
    began = time.process_time()
    found = definitions("made.py", b"".join(b"def f%d(): pass\n" % n for n in range(16_000)))
    assert found is not None
    assert len(found.definitions) == 16_000
    assert time.process_time() - began < 2


HELD = {
    "brackets": ("a.go", "package a\nfunc f() {\n" + "[]" * 50_000),
    "angles": ("a.rs", "<" * 100_000),
    "labels": ("a.kt", "fun f() {\n" + "a: " * 33_000),
    "comments": ("a.swift", "/*" * 50_000),
}
"""Each holds its grammar for more than four seconds, some for minutes."""
SLOW = {
    "blocks inside each other": ("a.py", "".join(f"{' ' * n}def f{n}():\n" for n in range(450))),
    "brackets of C": ("a.c", "[]" * 50_000),
    "types inside each other": ("a.cs", "class A { A" + "<A" * 50_000),
    "templates": ("a.cpp", "A<" * 50_000 + "B" + ">" * 50_000 + " x;"),
    "quotes": ("a.tsx", '"' * 100_000),
    "marks": ("a.php", "<?php\n" + "@a " * 33_000),
    "calls": ("a.rb", "a" + "()" * 50_000),
}
"""Each takes its grammar a tenth of a second to some seconds."""


@pytest.mark.parametrize("shape", [*HELD, *SLOW])
def test_no_file_holds_whoever_reads_it(shape: str) -> None:
    path, text = (HELD | SLOW)[shape]
    with Reader() as reader:
        assert reader.definitions("first.py", b"def first(): pass") is not None
        began = time.monotonic()
        answer = reader.definitions(path, text.encode(), 0.2)
        assert time.monotonic() - began < 2.0
        assert answer is None or shape in SLOW
        found = reader.definitions("next.py", b"def after(): pass")
    assert found is not None, "the next one is read all the same"
    assert "after" in found.definitions


def test_a_reader_says_what_reading_here_says() -> None:
    source = b"class Cart:\n    def total(self): return 1\n    def total(self): return 2\n\ndef broken(:\n"
    with Reader() as reader:
        assert reader.definitions("a.py", source) == definitions("a.py", source)
        assert reader.definitions("a.txt", source) is None
        assert reader.definitions("a.py", b" " * (1 << 20) + b" ") is None
        assert reader.definitions("a.py", b"x\0") is None


@pytest.mark.parametrize("held", [True, False], ids=["held by a file", "idle"])
def test_a_reader_that_is_left_behind_ends_itself(held: bool) -> None:
    """B067: no process stays when the one that started it is gone."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "dolmen.client.symbols.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    if held:
        source = HELD["brackets"][1].encode()
        process.stdin.write(b'{"path": "a.go", "bytes": %d, "seconds": 0.3}\n' % len(source) + source)
        process.stdin.flush()
        assert process.wait(20) != 0, "although its input is still open"
        process.stdin.close()
    else:
        process.stdin.close()
        assert process.wait(20) == 0
    process.stdout.close()


def test_a_module_of_a_checkout_is_not_taken_for_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "faulthandler", "tree_sitter", "tree_sitter_python", "dolmen"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    with Reader() as reader:
        assert reader.definitions("a.py", b"def f(): pass") is not None
    assert not (tmp_path / "run").exists()
