# SPDX-License-Identifier: Apache-2.0
"""extract_snippets.py ROOT OUTDIR DOCUMENT...

Makes tests of the code blocks of documents that directly follow a line `<!-- test -->`: what is compiled, and a plan of what
run_snippets.py then runs. Files that did not change keep their time stamps.

Languages: cpp, c, go: a program; without main() it is put into one, behind its #include lines. console: commands, each behind
`$ `, and what they print; `...` stands for any text, alone on a line for any lines. text: what the program before prints.
Words in the mark, as in `<!-- test name=hello places=2 -->`:
  name=N    what commands of the same document call it: ./N
  with=LIB  it is linked with this library, or made by this tool, and left out where there is none
  places=N  it runs at so many places
  alone     it is compiled by itself, with main() and as a user would, so that reports name its lines as those of N.cpp; other C++ programs
            of a document are compiled as one, each in a namespace
  fails     the program, or the last command, ends with an error

Prints a line for each program to be compiled, `DOCUMENT TARGET SOURCE LIB`, and one for each plan, `DOCUMENT plan FILE -`.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^<!-- test(?P<words>( [\w=.-]+)*) -->\n+```(?P<language>cpp|c|go|console|text)\n(?P<code>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- test\b.*-->$", re.MULTILINE)
WORDS = re.compile(r"^(name=[a-z]\w*|with=[a-z]+|places=\d+|alone|fails)$")
MAIN = re.compile(r"\bmain\s*\(")


class Block:
    def __init__(self, document, found, number):
        text = document.read_text(encoding="utf-8")
        self.line = text.count("\n", 0, found.start("code")) + 1
        self.language = found["language"]
        self.code = found["code"]
        words = found["words"].split()
        for word in words:
            if not WORDS.match(word):
                sys.exit(f"{document}:{self.line}: '{word}' means nothing in the mark of a test")
        values = dict(word.split("=") for word in words if "=" in word)
        self.name = values.get("name", f"{document.stem.lower().replace('-', '_')}_{number}")
        self.library = values.get("with", "none")
        self.places = int(values.get("places", 0))
        self.fails = "fails" in words
        self.is_program = self.language in ("cpp", "c", "go")
        self.is_alone = "alone" in words
        self.is_joined = self.language == "cpp" and self.library == "none" and not self.is_alone

    def includes(self):
        return [line for line in self.code.splitlines() if line.startswith("#include")]

    def body(self):
        """Without its #include lines, of which empty ones stay, so that lines keep their numbers."""
        return "".join("\n" if line.startswith("#include") else line for line in self.code.splitlines(keepends=True))


def blocks_of(document):
    text = document.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    if len(found) != len(MARK.findall(text)):
        sys.exit(f"{document}: a '<!-- test -->' is not followed by a ```cpp, c, go, console or text block")
    return [Block(document, each, number) for number, each in enumerate(found, 1)]


def with_main(block, body):
    return body if MAIN.search(block.code) else f"int main(void)\n{{\n{body}return 0;\n}}\n"


def expanded(root, text):
    """What the macros of PARMACS make of a program."""
    words = ["m4", root / "include/compat/parmacs/parmacs.m4", "-"]
    return subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def own_source(root, block, origin):
    if block.language == "go":
        return block.code
    if block.library == "parmacs":
        return expanded(root, block.code)
    if block.is_alone:  # a report names its lines
        return block.code
    at = f'#line {block.line} "{origin}"\n'
    if MAIN.search(block.code):
        return at + block.code
    return "\n".join(block.includes()) + "\n" + with_main(block, at + block.body())


def in_namespace(block, origin):
    body = with_main(block, f'#line {block.line} "{origin}"\n' + block.body())
    end = body.rstrip().rfind("}")  # of main: only the program's own may end without a result
    return f"namespace {block.name} {{\n{body[:end]}return 0; }}\n}}\n"


DISPATCH = """
namespace {{
int call(int (*chosen)(), int, char**) {{ return chosen(); }}
[[maybe_unused]] int call(int (*chosen)(int, char**), int argc, char** argv) {{ return chosen(argc, argv); }}
}}
int main(int argc, char** argv) {{
    std::string_view name(argv[0]);
    name.remove_prefix(name.rfind('/') + 1);
{cases}    return 127;
}}
"""


def joined_source(blocks, origin):
    """One program; the name by which it is called says which of them runs."""
    includes = dict.fromkeys(line for block in blocks for line in block.includes())
    cases = "".join(f'    if (name == "{block.name}") return call({block.name}::main, argc, argv);\n' for block in blocks)
    heads = "\n".join([*includes, "#include <string_view>"])
    return f"{heads}\n" + "".join(in_namespace(block, origin) for block in blocks) + '#line 1 "dispatch"' + DISPATCH.format(cases=cases).replace(
        "int call(int (*chosen)()", "[[maybe_unused]] int call(int (*chosen)()")


def steps_of(blocks):
    commands = "\n".join(block.code for block in blocks if block.language == "console")
    for block in blocks:
        step = {"line": block.line, "fails": block.fails}
        if block.is_program:
            step |= {"run": block.name, "language": block.language, "with": block.library, "places": block.places,
                     "by_command": re.search(rf"\./{block.name}\b", commands) is not None}
        else:
            step |= {block.language: block.code}
        yield step


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(root, document, outdir):
    blocks = blocks_of(document)
    if not blocks:
        return
    origin = document.relative_to(root).as_posix()
    title = origin.removesuffix(".md").removeprefix("docs/").replace("/", ".").lower()
    joined = [block for block in blocks if block.is_joined]
    if joined:
        write(outdir / title / "joined.cpp", joined_source(joined, origin))
        print(title, "joined", outdir / title / "joined.cpp", "none")
    for block in blocks:
        if block.library == "parmacs" and not shutil.which("m4"):
            continue
        if block.is_program and not block.is_joined:
            source = outdir / title / f"{block.name}.{block.language}"
            write(source, own_source(root, block, origin))
            if block.language != "go":
                print(title, block.name, source, block.library)
    plan = {"document": origin, "joined": [block.name for block in joined], "steps": list(steps_of(blocks))}
    write(outdir / title / "plan.json", json.dumps(plan, indent=1))
    print(title, "plan", outdir / title / "plan.json", "-")


def main():
    root, outdir = map(pathlib.Path, sys.argv[1:3])
    for document in map(pathlib.Path, sys.argv[3:]):
        extract(root, document, outdir)


main()
