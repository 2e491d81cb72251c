# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference, for Sphinx: one for each public header, and one for each subject (docs/reference/README.md)."""
import re

import headers

PROGRAM = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"```(cpp|c)\n(.*?)```", re.DOTALL)
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
INCLUDED = re.compile(r"\]\(\.\./\.\./include/([\w./]+)\)")
LABEL = re.compile(r"(?:^|(?<=[.;)] ))((?:Errors|Contexts?|Memory ordering|Destruction|Fairness|Messages|Sources?|Other errors)(?:[ ,][^.:;]{0,60})?): ")
INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\b(?P<file>(?:src|docs|bench|tests|tools|detail)/[\w./-]+\w)|<(?P<header>tulle(?:/[\w/]+)?\.hp?p?)>|(?P<page>\btulle[-\w]*)\((?P<section>[1378])\)"
    r"|(?P<word>(?:std|tulle)::[\w:]+(?:<[\w:, ]+>)?(?:\(\))?|(?<![\w/])-?E[A-Z]{3,}[A-Z0-9]*\b|\bTULLE_[A-Z_]+(?:=\w+)?|\b(?:\w+::)*\w+\(\)"
    r"|\b[a-z]+_[a-z_]+\b)")


def page_of(path):
    """Where the page of a public header is."""
    name = str(path).removeprefix("include/")
    return f"reference/{'cpp' if name.endswith('.hpp') else 'c'}/{name.rsplit('/', 1)[-1].rsplit('.', 1)[0]}"


def escape(text):
    return re.sub(r"([\\*|`]|_(?!\w))", r"\\\1", text)


class Writer:
    """Turns the words of comments into reStructuredText."""

    def __init__(self, known, manuals):
        self.known = known  # public names in C++ -> True
        self.manuals = manuals  # (name, section) -> page
        self.lines = []

    # --- text -----------------------------------------------------------------------------------------------------------------

    def inline(self, text):
        out, at = "", 0
        for match in INLINE.finditer(text):
            out += escape(text[at:match.start()])
            marked = self.marked(match)
            if marked != match.group() and out and not re.search(r"[\s'\"(\[{<\-/:]$", out):
                out += "\\ "
            out += marked
            if marked != match.group() and re.match(r"[^\s'\")\]}>\-/:.,;!?]", text[match.end():match.end() + 1]):
                out += "\\ "
            at = match.end()
        return out + escape(text[at:])

    def marked(self, match):
        if match["header"]:
            return f":doc:`\\<{match['header']}\\> </{page_of(match['header'])}>`"
        if match["page"]:
            page = self.manuals.get((match["page"], match["section"]))
            return f":doc:`{match['page']}({match['section']}) </{page}>`" if page else f"``{match.group()}``"
        word = match["code"] or match["word"] or match["file"]
        name = word.removesuffix("()")
        for full in (name, f"tulle::{name}"):
            if full in self.known:
                return f":cpp:any:`{word} <{full}>`"
        return f"``{word}``"

    def text(self, text, indent=""):
        """Paragraphs, lists, and code, which is indented by two more."""
        for block in blocks_of(text):
            if block.startswith("  "):
                self.code_or_list(block, indent)
            else:
                self.paragraph(" ".join(block.split()), indent)

    def paragraph(self, text, indent):
        if len(text) < 60 and re.fullmatch(r"[A-Z][\w, ]+", text):
            self.add(indent, f"**{text}**", "")
            return
        parts = LABEL.split(text)
        if parts[0].strip():
            self.add(indent, self.inline(parts[0].strip()), "")
        for label, words in zip(parts[1::2], parts[2::2]):
            self.add(indent, f"**{escape(label)}:** {self.inline(words.strip())}", "")

    def code_or_list(self, block, indent):
        lines = block.splitlines()
        if lines[0].startswith("  - "):
            for item in re.split(r"^  - ", block, flags=re.MULTILINE)[1:]:
                self.add(indent, f"- {self.inline(' '.join(item.split()))}")
            self.add(indent, "")
            return
        language = "cpp" if 2 * sum(line.rstrip().endswith((";", "{", "}")) for line in lines) >= len(lines) else "text"
        self.code("\n".join(line[2:] for line in lines), language, indent)

    def code(self, text, language, indent=""):
        self.add(indent, f".. code-block:: {language}", "")
        self.add(indent + "   ", *text.rstrip().splitlines(), "")

    def add(self, indent, *lines):
        self.lines += [indent + line if line else "" for line in lines]

    def heading(self, text, mark):
        self.add("", text, mark * len(text), "")

    # --- declarations ---------------------------------------------------------------------------------------------------------

    def declaration(self, each, is_c, indent=""):
        if each.kind == "section":
            self.add(indent, f".. rubric:: {self.inline(each.text[0].upper() + each.text[1:])}", "")
        elif each.kind == "text":
            self.text(each.text, indent)
        else:
            self.directive(each, is_c, indent)

    def directive(self, each, is_c, indent):
        kinds = {"variable": "var", "macro": "macro"} if is_c else {"variable": "var", "type": "type", "macro": "macro"}
        kind = kinds.get(each.kind, each.kind)
        signatures = each.signatures
        if is_c:
            kind, signatures = c_directive(each)
            domain = "c"
        else:
            domain = "c" if kind == "macro" else "cpp"
        if kind == "enum" and not is_c:
            kind, signatures = ("enum-class", [s.replace("enum class ", "") for s in signatures]) if "enum class" in signatures[0] else (
                "enum", [s.replace("enum ", "") for s in signatures])
        head = f".. {domain}:{kind}:: "
        self.add(indent, head + signatures[0], *(" " * len(head) + signature for signature in signatures[1:]), "")
        inside = indent + "   "
        self.text(each.text, inside)
        for name, note in each.notes.items():
            self.add(inside, f"- ``{name}``: {self.inline(' '.join(note.split()))}")
        if each.notes:
            self.add("", "")
        manual = self.manuals.get((each.names[0], "3")) if is_c and each.names else None
        if manual:
            self.add(inside, f"Manual page: :doc:`/{manual}`.", "")
        for member in each.members:
            if member.name != "tulle_opaque":
                self.declaration(member, is_c, inside)


def c_directive(each):
    if each.kind == "class":
        return "struct", [re.sub(r" :.*", "", each.signatures[0])]
    if each.kind == "enum":
        return "enum", [each.signatures[0].removeprefix("enum ")]
    if each.kind == "variable":
        return "member", each.signatures
    if each.kind == "type":
        return "type", each.signatures
    return each.kind, each.signatures


def blocks_of(text):
    """Paragraphs, and runs of lines that are indented; a label at the beginning of a line begins a paragraph."""
    block = []
    for line in text.splitlines():
        starts = not line.strip() or block and (block[0].startswith("  ") != line.startswith("  "))
        starts = starts or block and re.match(r"(Errors|Contexts?|Memory ordering|Destruction|Fairness|Messages|Sources?)\b.{0,60}?:", line)
        # A title of its own: a short line, and a sentence that begins below it.
        starts = starts or len(block) == 1 and re.fullmatch(r"[A-Z][\w ,]{2,40}", block[0]) and re.match("[A-Z]", line)
        if starts and block:
            yield "\n".join(block)
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield "\n".join(block)


def first_sentence(text):
    words = " ".join(next((block for block in blocks_of(text) if not block.startswith("  ")), "").split())
    match = re.match(r"(.+?[.:])(?= [A-Z`]|$)", LABEL.split(words)[0].strip())
    return (match[1] if match else words).rstrip(":")


def programs(root):
    """Header -> (what is said before its smallest program, the program)."""
    found = {}
    for language in ("cpp", "c"):
        text = (root / f"docs/reference/{language}.md").read_text(encoding="utf-8")
        for name, body in PROGRAM.findall(text):
            code = CODE.search(body)
            found[name] = (body[:code.start()].split("<!--")[0].strip(), code[2])
    return found


def subjects(root):
    """[(subject, [headers])], as the index has them."""
    table = (root / "docs/reference/README.md").read_text(encoding="utf-8").split("## Headers by subject")[1]
    return [(row[0].strip(), [f"include/{name}" for cell in row[1:] for name in INCLUDED.findall(cell)])
            for row in ROW.findall(table) if "include/" in row[1]]


def declared_by(root, path):
    """(what the header is for, its declarations, those that lie in `detail` first)"""
    purpose, declared = headers.parse(root / path)
    inner = [name for name, public in headers.PUBLIC_IN_DETAIL.items() if public == path.name and path.suffix == ".hpp"]
    for name in inner:
        declared = [each for each in headers.parse(root / "include/tulle/detail" / name)[1] if each.kind not in ("section", "text")] + declared
    own = {each.path for each in declared if each.kind == "class" and not each.is_forward}
    return purpose, [each for each in declared if not (each.is_forward and each.path in own)]


def known_names(root, public):
    """Of C++, as they can be referred to."""
    found = set()

    def visit(declarations):
        for each in declarations:
            if each.kind in ("section", "text", "macro") or "<" in each.name:
                continue
            found.update("::".join((*each.scope, name)) for name in each.names or [each.name])
            visit(each.members)
    for path in public:
        if path.suffix == ".hpp":
            visit(declared_by(root, path)[1])
    return {name for name in found if not re.search(r"operator|[~<]", name)}


def header_page(writer, root, path, program):
    purpose, declared = declared_by(root, path)
    name = str(path).removeprefix("include/")
    writer.heading(f"<{name}>", "=")
    writer.text(purpose)
    if program:
        writer.heading("The smallest program", "-")
        if program[0]:
            writer.text(program[0])
        writer.code(program[1], "c" if path.suffix == ".h" else "cpp")
    writer.add("", "Contexts, errors, memory ordering and cost, where nothing is said of them here: `for all headers <../index.html#what-holds-where-a-page-says-nothing>`__.", "")
    if declared:
        writer.heading("What it declares", "-")
    scope = None
    for each in declared:
        if path.suffix == ".hpp" and each.kind not in ("section", "text", "macro") and each.scope != scope:
            scope = each.scope
            writer.add("", f".. cpp:namespace:: {'::'.join(scope) or 'NULL'}", "")
        writer.declaration(each, path.suffix == ".h")


def subject_page(writer, root, subject, paths):
    writer.heading(subject, "=")
    writer.add("", ".. toctree::", "   :hidden:", "")
    writer.add("   ", *(f"{title_of(path)} </{page_of(path)}>" for path in paths), "")
    for path in paths:
        purpose, declared = declared_by(root, root.joinpath(path).relative_to(root))
        name = path.removeprefix("include/")
        writer.heading(f"<{name}>", "-")
        writer.add("", f"{writer.inline(first_sentence(purpose))} :doc:`More </{page_of(path)}>`", "")
        rows = list(summaries(declared))
        if not rows:
            continue
        writer.add("", ".. list-table::", "   :widths: 30 70", "   :width: 100%", "")
        for each, sentence in rows:
            role = f":cpp:any:`{each.name} <{each.path}>`" if each.path in writer.known else f"``{each.names[0]}``"
            writer.add("   ", f"* - {role}", f"  - {writer.inline(sentence)}")
        writer.add("", "")


def summaries(declared):
    """Each name with the first sentence of what is said of it."""
    seen = set()
    for each in declared:
        if each.kind in ("section", "text") or each.name in seen or each.is_special:
            continue
        seen.add(each.name)
        yield each, first_sentence(each.text or "; ".join(each.notes.values()))


def title_of(path):
    """Short, for the table of contents."""
    return path.removeprefix("include/").removeprefix("tulle/")


def slug(subject):
    return subject.lower().replace(" ", "_")


def write(root, out, manuals):
    """Writes all pages below `out`; the names of the pages of subjects."""
    public = headers.public_headers(root)
    known, found = known_names(root, public), programs(root)
    for path in public:
        writer = Writer(known, manuals)
        header_page(writer, root, path, found.get(path.name))
        save(out / f"{page_of(path)}.rst", writer)
    for subject, paths in subjects(root):
        writer = Writer(known, manuals)
        subject_page(writer, root, subject, paths)
        save(out / f"reference/{slug(subject)}.rst", writer)
    return [slug(subject) for subject, _ in subjects(root)]


def save(path, writer):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(writer.lines) + "\n", encoding="utf-8")
