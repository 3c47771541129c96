"""The languages whose symbols are found: by which file names, with which grammar, and what a definition is in each.

A query captures a definition's `@name` together with the definition itself:

- `@def` counts wherever it stands;
- `@var` counts unless it is inside a function, where it is only a local name;
- `@at` is the name itself, in languages where a definition is wound around its name: it is the nearest node above in
  `outer`.

`containers` are what a definition may belong to, with the field that names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    module: str
    """The grammar's module; its wheel has the same name with hyphens."""
    extensions: tuple[str, ...]
    query: str
    containers: Mapping[str, str] = field(default_factory=dict)
    """Node type -> the field that holds its name."""
    functions: tuple[str, ...] = ()
    """Node types in which a `@var` is local."""
    wrappers: tuple[str, ...] = ()
    """Node types around a definition that belong to it: decorators, template parameters."""
    outer: tuple[str, ...] = ()
    entry: str = "language"
    """The module's function that gives the grammar."""
    indented: bool = False
    """Indentation says what belongs together."""


_PYTHON = Language(
    "Python", "tree_sitter_python", ("py", "pyi"),
    """
    (class_definition name: (identifier) @name) @def
    (function_definition name: (identifier) @name) @def
    (assignment left: (identifier) @name) @var
    (type_alias_statement left: (type (identifier) @name)) @var
    """,
    containers={"class_definition": "name", "function_definition": "name"},
    functions=("function_definition", "lambda"), wrappers=("decorated_definition",), indented=True,
)  # fmt: skip

_SCRIPT_QUERY = """
    (class_declaration name: (_) @name) @def
    (function_declaration name: (_) @name) @def
    (generator_function_declaration name: (_) @name) @def
    (method_definition name: (_) @name) @def
    (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (class)]) @def
    (variable_declarator name: (identifier) @name) @var
    (assignment_expression left: (member_expression property: (property_identifier) @name)
        right: [(arrow_function) (function_expression) (class)]) @def
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @def
    """
_TYPED_QUERY = """
    (abstract_class_declaration name: (_) @name) @def
    (public_field_definition name: (_) @name) @def
    (abstract_method_signature name: (_) @name) @def
    (method_signature name: (_) @name) @def
    (property_signature name: (_) @name) @def
    (function_signature name: (_) @name) @def
    (interface_declaration name: (_) @name) @def
    (type_alias_declaration name: (_) @name) @def
    (enum_declaration name: (_) @name) @def
    """
_SCRIPT_CONTAINERS = {"class_declaration": "name", "class": "name", "variable_declarator": "name",
                      "function_declaration": "name"}  # fmt: skip
_TYPED_CONTAINERS = _SCRIPT_CONTAINERS | {
    "abstract_class_declaration": "name", "interface_declaration": "name", "enum_declaration": "name",
    "internal_module": "name", "module": "name",
}  # fmt: skip
_SCRIPT_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_expression",
                     "arrow_function", "method_definition")  # fmt: skip

_JAVASCRIPT = Language(
    "JavaScript", "tree_sitter_javascript", ("js", "jsx", "mjs", "cjs"),
    _SCRIPT_QUERY + "(field_definition property: (_) @name) @def",
    containers=_SCRIPT_CONTAINERS, functions=_SCRIPT_FUNCTIONS, wrappers=("export_statement",),
)  # fmt: skip
_TYPESCRIPT = Language(
    "TypeScript", "tree_sitter_typescript", ("ts", "mts", "cts"), _SCRIPT_QUERY + _TYPED_QUERY,
    containers=_TYPED_CONTAINERS, functions=_SCRIPT_FUNCTIONS, wrappers=("export_statement",),
    entry="language_typescript",
)  # fmt: skip
_TSX = Language(
    "TSX", "tree_sitter_typescript", ("tsx",), _SCRIPT_QUERY + _TYPED_QUERY,
    containers=_TYPED_CONTAINERS, functions=_SCRIPT_FUNCTIONS, wrappers=("export_statement",), entry="language_tsx",
)  # fmt: skip

_GO = Language(
    "Go", "tree_sitter_go", ("go",),
    """
    (function_declaration name: (identifier) @name) @def
    (method_declaration name: (field_identifier) @name) @def
    (method_elem name: (field_identifier) @name) @def
    (field_declaration name: (field_identifier) @name) @def
    (type_spec name: (type_identifier) @name) @def
    (type_alias name: (type_identifier) @name) @def
    (const_spec name: (identifier) @name) @var
    (var_spec name: (identifier) @name) @var
    """,
    containers={"type_spec": "name"},
    functions=("function_declaration", "method_declaration", "func_literal"),
)  # fmt: skip

_RUST = Language(
    "Rust", "tree_sitter_rust", ("rs",),
    """
    (function_item name: (_) @name) @def
    (function_signature_item name: (_) @name) @def
    (struct_item name: (_) @name) @def
    (enum_item name: (_) @name) @def
    (union_item name: (_) @name) @def
    (trait_item name: (_) @name) @def
    (type_item name: (_) @name) @def
    (const_item name: (_) @name) @def
    (static_item name: (_) @name) @def
    (macro_definition name: (_) @name) @def
    (enum_variant name: (_) @name) @def
    (field_declaration name: (_) @name) @def
    """,
    containers={"impl_item": "type", "struct_item": "name", "enum_item": "name", "union_item": "name",
                "trait_item": "name", "mod_item": "name"},
)  # fmt: skip

_JAVA = Language(
    "Java", "tree_sitter_java", ("java",),
    """
    (class_declaration name: (_) @name) @def
    (interface_declaration name: (_) @name) @def
    (enum_declaration name: (_) @name) @def
    (record_declaration name: (_) @name) @def
    (annotation_type_declaration name: (_) @name) @def
    (annotation_type_element_declaration name: (_) @name) @def
    (method_declaration name: (_) @name) @def
    (constructor_declaration name: (_) @name) @def
    (enum_constant name: (_) @name) @def
    (field_declaration declarator: (variable_declarator name: (_) @name)) @def
    (constant_declaration declarator: (variable_declarator name: (_) @name)) @def
    """,
    containers={"class_declaration": "name", "interface_declaration": "name", "enum_declaration": "name",
                "record_declaration": "name", "annotation_type_declaration": "name"},
)  # fmt: skip

_C_QUERY = """
    (_ declarator: [(identifier) (field_identifier) (type_identifier)] @name @at)
    (struct_specifier name: (_) @name body: (_)) @def
    (union_specifier name: (_) @name body: (_)) @def
    (enum_specifier name: (_) @name body: (_)) @def
    (enumerator name: (_) @name) @def
    (preproc_def name: (_) @name) @def
    (preproc_function_def name: (_) @name) @def
    """
_C_OUTER = ("function_definition", "declaration", "field_declaration", "type_definition")
_C_CONTAINERS = {"struct_specifier": "name", "union_specifier": "name", "enum_specifier": "name"}
_C = Language(
    "C", "tree_sitter_c", ("c",), _C_QUERY, containers=_C_CONTAINERS, functions=("compound_statement",), outer=_C_OUTER
)
_CPP = Language(
    "C++", "tree_sitter_cpp", ("cc", "cpp", "cxx", "h", "hh", "hpp"),
    _C_QUERY + """
    (_ declarator: [(qualified_identifier) (destructor_name)] @name @at)
    (class_specifier name: (_) @name body: (_)) @def
    (alias_declaration name: (_) @name) @def
    (concept_definition name: (_) @name) @def
    """,
    containers=_C_CONTAINERS | {"class_specifier": "name", "namespace_definition": "name"},
    functions=("compound_statement",), wrappers=("template_declaration",), outer=_C_OUTER,
)  # fmt: skip

_CSHARP = Language(
    "C#", "tree_sitter_c_sharp", ("cs",),
    """
    (class_declaration name: (_) @name) @def
    (struct_declaration name: (_) @name) @def
    (interface_declaration name: (_) @name) @def
    (enum_declaration name: (_) @name) @def
    (record_declaration name: (_) @name) @def
    (delegate_declaration name: (_) @name) @def
    (method_declaration name: (_) @name) @def
    (constructor_declaration name: (_) @name) @def
    (local_function_statement name: (_) @name) @def
    (property_declaration name: (_) @name) @def
    (event_declaration name: (_) @name) @def
    (enum_member_declaration name: (_) @name) @def
    (field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def
    (event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def
    """,
    containers={"class_declaration": "name", "struct_declaration": "name", "interface_declaration": "name",
                "enum_declaration": "name", "record_declaration": "name", "namespace_declaration": "name"},
)  # fmt: skip

_RUBY = Language(
    "Ruby", "tree_sitter_ruby", ("rb",),
    """
    (class name: (_) @name) @def
    (module name: (_) @name) @def
    (method name: (_) @name) @def
    (singleton_method name: (_) @name) @def
    (assignment left: (constant) @name) @var
    """,
    containers={"class": "name", "module": "name"}, functions=("method", "singleton_method"),
)  # fmt: skip

_PHP = Language(
    "PHP", "tree_sitter_php", ("php",),
    """
    (class_declaration name: (_) @name) @def
    (interface_declaration name: (_) @name) @def
    (trait_declaration name: (_) @name) @def
    (enum_declaration name: (_) @name) @def
    (function_definition name: (_) @name) @def
    (method_declaration name: (_) @name) @def
    (enum_case name: (_) @name) @def
    (const_element . (name) @name) @def
    (property_element name: (variable_name (name) @name)) @def
    """,
    containers={"class_declaration": "name", "interface_declaration": "name", "trait_declaration": "name",
                "enum_declaration": "name"},
    entry="language_php",
)  # fmt: skip

_KOTLIN = Language(
    "Kotlin", "tree_sitter_kotlin", ("kt", "kts"),
    """
    (class_declaration name: (_) @name) @def
    (object_declaration name: (_) @name) @def
    (function_declaration name: (_) @name) @def
    (property_declaration (variable_declaration (identifier) @name)) @var
    (type_alias type: (identifier) @name) @def
    (enum_entry . (identifier) @name) @def
    """,
    containers={"class_declaration": "name", "object_declaration": "name"},
    functions=("function_declaration", "lambda_literal", "anonymous_function"),
)  # fmt: skip

_SWIFT = Language(
    "Swift", "tree_sitter_swift", ("swift",),
    """
    (class_declaration name: (type_identifier) @name) @def
    (protocol_declaration name: (_) @name) @def
    (function_declaration name: (simple_identifier) @name) @def
    (protocol_function_declaration name: (simple_identifier) @name) @def
    (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @var
    (typealias_declaration name: (type_identifier) @name) @def
    (enum_entry name: (simple_identifier) @name) @def
    """,
    containers={"class_declaration": "name", "protocol_declaration": "name"},
    functions=("function_body", "lambda_literal"),
)  # fmt: skip

LANGUAGES: tuple[Language, ...] = (
    _PYTHON, _TYPESCRIPT, _TSX, _JAVASCRIPT, _GO, _RUST, _JAVA, _C, _CPP, _CSHARP, _RUBY, _PHP, _KOTLIN, _SWIFT,
)  # fmt: skip
_BY_EXTENSION: Mapping[str, Language] = {extension: each for each in LANGUAGES for extension in each.extensions}


def language_of(path: str) -> Language | None:
    """The language of a file by its name; None when its symbols cannot be found, also for want of the grammar."""
    found = _BY_EXTENSION.get(path.rpartition("/")[2].rpartition(".")[2].lower())
    return found if found is not None and installed(found) else None


def installed(language: Language) -> bool:
    """Whether tree-sitter and the grammar are there."""
    return _there("tree_sitter") and _there(language.module)


@cache
def _there(module: str) -> bool:
    return find_spec(module) is not None


def missing() -> tuple[str, ...]:
    """Names of the languages whose grammar is not installed."""
    return tuple(each.name for each in LANGUAGES if not installed(each))
