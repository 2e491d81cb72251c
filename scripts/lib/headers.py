# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, and what their comments say of it: for check-reference, and for the pages of the reference.

A comment belongs to the declaration that follows it directly, or that ends on its line. Declarations right below, of the same name or of another form
of it (try_lock, try_lock_for, lock with a limit), share its text. A comment with an empty line behind it is text of the page. In C it holds for all
declarations up to the next comment or empty line. Left out: what is private, in `detail`, deleted, or known from the language (special members,
comparisons, types and ends of iterators)."""
import dataclasses
import functools
import re

TOKEN = re.compile(r"""(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>\#(?:\\\n|/\*.*?\*/|(?!//)[^\n])*)|(?P<string>"(?:\\.|[^"\\])*")
    |(?P<char>'(?:\\.|[^'\\])*')|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.']*)|(?P<mark>::|->|<<|&&|\|\||<=>|.)""", re.X | re.S)
CLOSING = {"(": ")", "[": "]", "{": "}"}
KNOWN = re.compile(r"operator(?!\(\))|((value|difference|element|result)_type|iterator_category|reference|pointer|(const_)?iterator|c?(begin|end)|what)$")
SECTION = re.compile(r"--- (.+?)(?: -{3,}|$)\s*(.*)", re.S)


@dataclasses.dataclass
class Declaration:
    kind: str  # class, enum, enumerator, function, variable, type, concept, macro; section and text, which only have a text
    name: str = ""
    scope: tuple = ()
    signatures: list = dataclasses.field(default_factory=list)
    text: str = ""  # lines of comments, without their marks
    line: int = 0
    members: list = dataclasses.field(default_factory=list)
    names: list = dataclasses.field(default_factory=list)  # of all signatures
    is_special: bool = False  # known from the language, or shown by its name alone
    is_forward: bool = False  # of a class that is defined elsewhere; kept where something is said of it
    notes: dict = dataclasses.field(default_factory=dict)  # what is said of single ones of the names

    @property
    def path(self):
        return "::".join((*self.scope, self.name))


def stem(name):
    """What the forms of an operation have in common."""
    name = re.sub(r"^try_", "", name)
    return re.sub(r"_(for|until|at|after|at_for)$", "", name)


def plain_comment(token):
    text = token[2:] if token.startswith("//") else token[2:-2]
    lines = text.splitlines() or [""]
    if token.startswith("/*"):
        lines = [lines[0], *(re.sub(r"^\s*\*", "", line) for line in lines[1:])]
    return "\n".join(line[1:] if line.startswith(" ") else line for line in map(str.rstrip, lines)).strip("\n")


class Token:
    __slots__ = ("kind", "text", "line", "blank_before", "first_on_line", "at")

    def __init__(self, kind, text, line, blank_before, first_on_line, at):
        self.kind, self.text, self.line, self.blank_before, self.first_on_line, self.at = kind, text, line, blank_before, first_on_line, at


def tokens_of(text):
    found, line, breaks = [], 1, 2
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "space":
            breaks = word.count("\n") if not found or found[-1].kind != "directive" else word.count("\n")
        else:
            found.append(Token(kind, word, line, breaks > 1, breaks > 0, match.start()))
            breaks = 0
        line += word.count("\n")
    return found


def without_attributes(tokens):
    """Without [[...]], the library's macros and __attribute__."""
    kept, k = [], 0
    while k < len(tokens):
        word = tokens[k]
        if word == "[" and tokens[k + 1:k + 2] == ["["]:
            k = end_of(tokens, k)
        elif word == "__attribute__":
            k = end_of(tokens, k + 1)
        elif word == "alignas":
            k = end_of(tokens, k + 1)
        elif re.match(r"TULLE_(API|INLINE|COLD|NOINLINE|COHERENT_KEEPS_\w+)$", word) or word in ("inline", "friend"):
            k += 1
        else:
            kept.append(word)
            k += 1
    return kept


def end_of(tokens, k):
    """Behind the bracket that closes the one at k."""
    depth = 0
    while k < len(tokens):
        depth += tokens[k] in CLOSING
        depth -= tokens[k] in CLOSING.values()
        k += 1
        if depth == 0:
            break
    return k


def end_of_angles(tokens, k):
    """Behind the > that closes the < at k."""
    depth = 0
    while k < len(tokens):
        if tokens[k] in ("(", "[", "{"):
            k = end_of(tokens, k)
            continue
        depth += tokens[k] == "<"
        depth -= tokens[k] == ">"
        k += 1
        if depth == 0:
            break
    return k


def end_of_constraint(tokens, k):
    """Behind the constraint that begins at k: primary expressions with && or || in between."""
    while True:
        if tokens[k] == "requires":
            k = end_of(tokens, k + 1) if tokens[k + 1] == "(" else k + 1
            k = end_of(tokens, k)
        elif tokens[k] == "(":
            k = end_of(tokens, k)
        else:
            k += 1
            while k < len(tokens) and tokens[k] in ("::", "<"):
                k = k + 2 if tokens[k] == "::" else end_of_angles(tokens, k)
        if k >= len(tokens) or tokens[k] not in ("&&", "||"):
            return k
        k += 1


def head_parts(tokens):
    """(template and constraint, the rest)."""
    k = 0
    kept = []
    while k < len(tokens) and tokens[k] == "template":
        end = end_of_angles(tokens, k + 1)
        kept += tokens[k:end]
        k = end
        if k < len(tokens) and tokens[k] == "requires":
            end = end_of_constraint(tokens, k + 1)
            if "{" not in tokens[k:end]:
                kept += tokens[k:end]
            k = end
    return kept, tokens[k:]


def spaced(tokens):
    """A signature as one writes it."""
    text = ""
    for k, word in enumerate(tokens):
        before = tokens[k - 1] if k else ""
        if text and needs_space(before, word, tokens, k):
            text += " "
        text += word
    return text


def needs_space(before, word, tokens, k):
    if before == "operator" or tokens[k - 2:k - 1] == ["operator"]:
        return word[0].isalpha() and before == "operator"
    if before == "." and tokens[k - 3:k] == [".", ".", "."]:
        return word not in (">", ")", ",", ".")
    if before in ("(", "[", "::", "~", "!", "{") or word in (")", "]", "::", ",", ";", "[", "}"):
        return False
    if word == "(":
        return before in (",", "=", "requires", "&&", "||", "->")
    if word == "<":
        return before == "template"
    if before == "<" or word == ">":
        return False
    if word in ("&", "*", "&&") and before not in ("&&", "||") and not is_binary(tokens, k):
        return False
    if before in ("-", "&", "*") and word in (")", ">", ","):
        return False
    if word == "." or before == "." or word == "{":
        return word == "." and before == ","
    if before == "-" and tokens[k - 2] in ("=", ",", "("):
        return False
    return True


def is_binary(tokens, k):
    return tokens[k] == "&&" and ("requires" in tokens[:k] and tokens[k - 1] in (">", ")")) and tokens[k + 1:k + 2] not in ([")"], [","])


def cut_initializers(tokens):
    """Of a constructor, without what its members begin with."""
    depth = 0
    for k, word in enumerate(tokens):
        depth += word in CLOSING
        depth -= word in CLOSING.values()
        if word == ":" and depth == 0 and k and tokens[k - 1] in (")", "noexcept") or (word == ":" and depth == 0 and ")" in tokens[:k]):
            return tokens[:k]
    return tokens


class Parser:
    def __init__(self, text, is_c):
        self.tokens = tokens_of(text)
        self.is_c = is_c
        self.at = 0
        self.hidden = {}  # members of classes in `detail`, by name: public ones may be derived from them
        self.scope_kind = "namespace"  # of the scope that is read

    # --- walking ------------------------------------------------------------------------------------------------------------

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def parse(self):
        """(what the header is for, its declarations)"""
        purpose = self.read_purpose()
        return purpose, self.scope((), "namespace", True)

    def read_purpose(self):
        texts = []
        while self.peek() and self.peek().kind == "comment":
            texts.append(plain_comment(self.peek().text))
            self.at += 1
        text = "\n".join(texts)
        return re.sub(r"^\s*SPDX[^\n]*\n?\s*", "", text).strip("\n")

    def take_comment(self, found):
        """The comment that begins here; what stands alone becomes a text of the page."""
        lines = []
        last = None
        while self.peek() and self.peek().kind == "comment":
            token = self.peek()
            if last is not None and (token.blank_before or not token.first_on_line):
                break
            if not re.match(r"clang-format (on|off)|NOLINT", plain_comment(token.text)):
                lines.append(plain_comment(token.text))
            last = token
            self.at += 1
        text = "\n".join(lines)
        following = self.peek()
        if not text or following is None:
            return ""
        section = SECTION.match(text)
        if section:
            found.append(Declaration("section", text=section[1].replace("\n", " ")))
            text = section[2]
        if following.blank_before or following.text == "}" or following.kind == "directive" and not re.match(r"#(define|if)", following.text):
            if not following.text == "namespace" and text.strip():
                found.append(Declaration("text", text=text))
            return ""
        return text

    def scope(self, path, kind, is_public):
        """The declarations up to the bracket that closes the scope."""
        found, text = [], ""
        while self.peek():
            self.scope_kind = kind
            token = self.peek()
            if token.text == "}":
                self.at += 1
                return found
            if token.kind == "comment":
                text = self.take_comment(found if is_public else [])
            elif token.kind == "directive":
                self.at += 1
                if is_public:
                    self.add(found, self.macro(token), "\n".join(filter(None, (text, self.trailing(token)))), token, text)
                text = text if token.text.startswith("#if") else ""
            elif token.text in ("public", "private", "protected") and self.tokens[self.at + 1].text == ":":
                is_public = token.text == "public"
                self.at += 2
                text = ""
            elif token.text == ";":
                self.at += 1
            else:
                made = self.declaration(path, kind)
                self.scope_kind = kind
                trailing = self.trailing(token)
                if isinstance(made, list):
                    found += made
                elif is_public:
                    self.add(found, made, "\n".join(filter(None, (text, trailing))), token, text)
                text = ""
        return found

    def trailing(self, start):
        """The comment behind a declaration, on its last line, and lines of comment right below that go on with it."""
        token = self.peek()
        if token is None or token.kind != "comment" or token.first_on_line:
            return ""
        self.at += 1
        text = plain_comment(token.text)
        return "" if text.startswith(("NOLINT", "clang-format")) else text

    def add(self, found, made, text, token, leading=""):
        if made is None:
            return
        made.line = token.line
        previous = found[-1] if found else None
        if not text and previous and previous.kind == made.kind and self.is_form_of(made, previous, token):
            previous.signatures += made.signatures
            previous.names.append(made.name)
            return
        made.names = [made.name]
        made.text = text
        if self.is_c and made.kind in ("function", "macro"):
            return self.add_to_run(found, made, leading, token)
        if made.is_forward and not text:
            if not (previous and previous.is_forward) or token.blank_before:
                return
            made.text = previous.text
        if not text.startswith("For detail/"):
            found.append(made)

    @staticmethod
    def add_to_run(found, made, leading, token):
        """In C a comment holds for a run of functions."""
        own = made.text.removeprefix(leading).strip("\n")
        made.text = leading
        previous = found[-1] if found else None
        if not leading and previous and previous.kind == made.kind and not token.blank_before:
            previous.signatures += made.signatures
            previous.names.append(made.name)
            made = previous
        else:
            found.append(made)
        if own:
            made.notes[made.names[-1]] = own

    def is_form_of(self, made, previous, token):
        if self.is_c or not previous.text or made.kind != "function" or made.is_special:
            return False
        if made.name == previous.names[-1]:
            return True
        if token.blank_before:
            return False
        return self.scope_kind == "namespace" or stem(made.name) == stem(previous.names[-1])

    # --- declarations ---------------------------------------------------------------------------------------------------------

    def macro(self, token):
        match = re.match(r"#\s*define\s+(\w+)(\([^)]*\))?(?=(\s+\S)?)", token.text)
        if not match or match[1].startswith("TULLE_DETAIL") or match[1].endswith("_H") or not match[3]:
            return None
        return Declaration("macro", match[1], (), [match[1] + (match[2] or "")])

    def declaration(self, path, kind):
        """Reads one; nothing for what is left out."""
        start = self.at
        words, ends_with = self.read_head()
        words = without_attributes(words)
        if not words:
            if ends_with == "{":
                self.skip_block()
            return None
        template, rest = head_parts(words)
        if rest[0] == "extern" and ends_with == "{" and len(rest) == 2:
            return self.scope(path, kind, True)
        if rest[0] == "namespace":
            return self.namespace(path, rest, ends_with)
        if rest[0] in ("static_assert", "using") and rest[1:2] == ["namespace"] or rest[0] == "static_assert":
            return None
        if self.is_class(rest, ends_with):
            return self.class_or_enum(path, template, rest)
        if rest[0] == "typedef" and ends_with == "{":
            return self.c_struct(path, rest)
        if ends_with == "{":
            self.skip_block()
        return self.simple(path, kind, template, rest, ends_with)

    def read_head(self):
        """Words up to the ; or the { of a body, which is read, too."""
        words = []
        while self.peek():
            token = self.peek()
            self.at += 1
            if token.kind in ("comment", "directive"):
                continue
            if token.text == ";":
                return words, ";"
            if token.text == "{":
                if self.is_initializer(words):
                    words += self.bracketed("{")
                    continue
                return words, "{"
            if token.text in ("(", "["):
                words += self.bracketed(token.text)
                continue
            words.append(token.text)
        return words, ""

    def bracketed(self, opening):
        words, depth = [opening], 1
        while depth:
            token = self.peek()
            self.at += 1
            if token.kind in ("comment", "directive"):
                continue
            depth += token.text in CLOSING
            depth -= token.text in CLOSING.values()
            words.append(token.text)
        return words

    def is_initializer(self, words):
        """Whether a { begins a value rather than a body."""
        if words and words[-1] in ("=", "return"):
            return True
        if "requires" in words and words[-1] in (")", "requires") and self.is_requires_expression(words):
            return True
        _, rest = head_parts(without_attributes(words))
        if not rest:
            return True  # of a parameter of a template
        if rest[0] in ("namespace", "class", "struct", "union", "enum", "extern", "typedef"):
            return False
        if "(" not in rest:
            return "requires" not in rest or True
        initializers = cut_initializers(rest)
        return len(initializers) != len(rest) and words[-1] not in (")", "}")

    @staticmethod
    def is_requires_expression(words):
        if words[-1] == "requires":
            return True
        depth, k = 0, len(words) - 1
        while k >= 0:
            depth += words[k] == ")"
            depth -= words[k] == "("
            if depth == 0:
                break
            k -= 1
        return k > 0 and words[k - 1] == "requires"

    def skip_block(self):
        depth = 1
        while depth and self.peek():
            token = self.peek()
            self.at += 1
            if token.kind == "mark":
                depth += token.text == "{"
                depth -= token.text == "}"

    def namespace(self, path, rest, ends_with):
        names = tuple(word for word in rest[1:] if word != "::")
        if ends_with != "{":
            return None
        if "detail" in names:
            for each in self.scope((*path, *names), "namespace", True):
                self.hidden[each.name] = each.members
            return None
        return self.scope((*path, *names), "namespace", True)

    @staticmethod
    def is_class(rest, ends_with):
        return rest[0] in ("class", "struct", "union", "enum") and ends_with == "{" and "(" not in rest

    def class_or_enum(self, path, template, rest):
        keyword = rest[0]
        k = 2 if rest[0] == "enum" and rest[1] in ("class", "struct") else 1
        name_words = [word for word in rest[k:]]
        bases = []
        if ":" in name_words:
            bases = name_words[name_words.index(":"):]
            name_words = name_words[:name_words.index(":")]
        name_words = [word for word in name_words if word != "final"]
        name = spaced(name_words)
        if keyword == "enum":
            made = Declaration("enum", name, path, [spaced([*rest[:k], *name_words])])
            made.members = self.enumerators((*path, name) if k == 2 else path)
        else:
            made = Declaration("class", name, path, [spaced([*template, *name_words, *public_bases(bases)])])
            made.members = self.scope((*path, name), keyword, keyword != "class")
            if "detail" in bases:
                inherited = self.hidden.get(bases[bases.index("detail") + 2], [])
                made.members = [*(inherit(each, (*path, name)) for each in inherited if not each.is_special and each.name != bases[-1]), *made.members]
            for each in made.members if "<" in name else ():
                each.is_special = True  # those of the general one, or of what it stands for
            if self.is_c and keyword == "struct":
                made.kind = "class"
        self.skip_names()
        return made

    def skip_names(self):
        while self.peek() and self.peek().text != ";":
            self.at += 1
        self.at += 1

    def enumerators(self, path):
        found, text = [], ""
        while self.peek().text != "}":
            token = self.peek()
            if token.kind == "comment":
                self.at += 1
                if not token.first_on_line and found:
                    found[-1].text = plain_comment(token.text)
                else:
                    text = "\n".join(filter(None, (text, plain_comment(token.text))))
                continue
            words = []
            while self.peek().text not in (",", "}"):
                if self.peek().kind != "comment":
                    words.append(self.peek().text)
                    self.at += 1
                else:
                    break
            if words:
                found.append(Declaration("enumerator", words[0], path, [spaced(words)], text, token.line, names=[words[0]]))
                text = ""
            if self.peek().text == ",":
                self.at += 1
        self.at += 1
        return found

    def c_struct(self, path, rest):
        keyword = rest[1]
        members = self.enumerators(path) if keyword == "enum" else self.scope(path, "struct", True)
        name = ""
        while self.peek().text != ";":
            name = self.peek().text
            self.at += 1
        self.at += 1
        made = Declaration("enum" if keyword == "enum" else "class", name, path, [name])
        made.members = members
        for each in members:
            each.scope = (name,)
        return made

    def simple(self, path, kind, template, rest, ends_with):
        """A function, a variable, an alias, a concept."""
        if rest[0] in ("class", "struct", "union", "enum") and "(" not in rest and "=" not in rest and ends_with == ";" and len(rest) == 2:
            return Declaration("class", rest[1], path, [spaced([*template, rest[1]])], is_forward=True)
        if rest[0] in ("friend",) or rest[:2] == ["template", "<"]:
            return None
        if rest[0] == "using":
            return self.alias(path, template, rest)
        if rest[0] == "typedef":
            return self.typedef(path, rest)
        if rest[0] == "concept":
            return Declaration("concept", rest[1], path, [spaced([*template, rest[1]])])
        if rest[:1] and "(" in rest and rest[rest.index("(") + 1:rest.index("(") + 2] == ["*"] and kind == "struct":
            return Declaration("variable", rest[rest.index("(") + 2], path, [spaced(rest)])
        if "(" in self.before_value(rest) or "operator" in rest:
            return self.function(path, kind, template, rest)
        name = self.variable_name(rest)
        if name is None:
            return None
        return Declaration("variable", name, path, [spaced([*template, *self.before_value(rest)])], is_special=name == "tulle_opaque")

    @staticmethod
    def before_value(rest):
        depth = 0
        for k, word in enumerate(rest):
            depth += word in ("(", "[")
            depth -= word in (")", "]")
            if depth == 0 and word == "=" and rest[k - 1] != "operator":
                return rest[:k]
        return rest

    @staticmethod
    def variable_name(rest):
        words = Parser.before_value(rest)
        names = [word for word in words if re.match(r"[A-Za-z_]\w*$", word)]
        return names[-1] if names else None

    def alias(self, path, template, rest):
        if "=" not in rest:
            return None
        at = rest.index("=")
        name = rest[at - 1]
        value = rest[at:] if not any("detail" == word for word in rest) else []
        return Declaration("type", name, path, [spaced([*template, name, *value])], is_special=bool(KNOWN.match(name)))

    def typedef(self, path, rest):
        if "(" in rest:
            names = [word for word in rest[:rest.index("(")] if re.match(r"\w+$", word)]
            name = names[-1]
            if rest[rest.index("(") + 1] == "*":
                name = rest[rest.index("(") + 2]
        else:
            name = rest[-1]
        return Declaration("type", name, path, [spaced(rest[1:])])

    def function(self, path, kind, template, rest):
        if rest[-2:] == ["=", "delete"] or "~" in rest[:2]:
            special = "~" in rest[:2] and rest[-2:] != ["=", "delete"]
            if not special:
                return None
        is_default = rest[-2:] == ["=", "default"]
        head = cut_initializers(rest)
        if is_default:
            head = head[:-2]
        if "->" in head and head[0] not in ("auto", "explicit", "static") and "auto" not in head[:3]:
            return None  # how a class template is deduced
        name = self.function_name(head)
        if name is None:
            return None
        made = Declaration("function", name, path, [spaced([*template, *head])])
        owner = re.sub(r"<.*", "", path[-1]) if path and kind != "namespace" else None
        made.is_special = self.is_special(name, owner, head) or is_default
        if kind == "namespace" and name == owner:
            return None
        return made

    @staticmethod
    def function_name(head):
        if "operator" in head:
            at = head.index("operator")
            end = at + 1
            while end < len(head) and (head[end] != "(" or end == at + 1):
                end += 1
            return "operator" + "".join(head[at + 1:end])
        at = head.index("(")
        if head[at - 1] == "decltype":
            at = head.index("(", end_of(head, at))
        name = head[at - 1]
        if head[at - 2:at - 1] == ["~"]:
            name = "~" + name
        if head[at - 2:at - 1] == ["::"] or name == "noexcept":
            return None  # a definition of what a class declares
        return name if re.match(r"~?\w+$", name) else None

    @staticmethod
    def is_special(name, owner, head):
        """What every class has."""
        if name.startswith("~"):
            return True
        if KNOWN.match(name):
            return True
        if owner is None or name != owner:
            return False
        at = head.index("(")
        parameters = [word for word in head[at + 1:end_of(head, at) - 1]]
        return not parameters or (parameters[0] == owner and parameters[1:2] in (["const"], ["&&"]))


def public_bases(bases):
    return [word for word in bases] if "detail" not in bases else []


def inherit(declaration, scope):
    return dataclasses.replace(declaration, scope=scope)


def without_text(declarations):
    """(declaration, name) of each name of which nothing is said."""
    for each in declarations:
        if each.kind not in ("section", "text"):
            if not (each.text or each.is_special):
                yield from ((each, name) for name in each.names if name not in each.notes)
            yield from without_text(each.members)


@functools.cache
def parse(path):
    """(what the header is for, its declarations)"""
    parser = Parser(path.read_text(encoding="utf-8"), path.suffix == ".h")
    return parser.parse()


# Public names that lie in `detail`, as what is inlined needs them there; and the header that users include for them.
PUBLIC_IN_DETAIL = {"thread_core.hpp": "thread.hpp", "channel_calls.hpp": "channel.hpp", "team_operation.hpp": "team.hpp"}
WITHOUT_PROGRAM = {"coherent_abi.h"}  # for compilers


def public_headers(root):
    """Paths below the root, in order."""
    found = [*root.glob("include/tulle/*.hpp"), *root.glob("include/tulle/*.h"), *root.glob("include/tulle/c/*.h"), root / "include/tulle.h"]
    return sorted(path.relative_to(root) for path in found)


def count(declarations):
    return sum(len(each.names) + count(each.members) for each in declarations if each.kind not in ("section", "text") and not each.is_special)


def public_types(declarations):
    return [each for each in declarations if each.kind in ("class", "enum", "type") and each.scope and "<" not in each.name and not each.is_forward]
