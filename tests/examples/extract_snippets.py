# SPDX-License-Identifier: Apache-2.0
"""extract_snippets.py OUTDIR DOCUMENT...

Writes each ```c or ```cpp block that directly follows a line `<!-- test -->` to OUTDIR and prints the files' paths. A block
without main() is put into one, behind its #include lines. Files that did not change keep their time stamps.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^<!-- test -->\n+```(c|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- test -->$", re.MULTILINE)


def program(text, origin):
    if not re.search(r"\bmain\s*\(", text):
        lines = text.splitlines(keepends=True)
        head = "".join(line for line in lines if line.startswith("#include"))
        body = "".join(line for line in lines if not line.startswith("#include"))
        text = f"{head}int main(void)\n{{\n{body}}}\n"
    return f"/* from {origin} */\n{text}"


def extract(document, outdir):
    text = document.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    if len(blocks) != len(MARK.findall(text)):
        sys.exit(f"{document}: a '<!-- test -->' is not followed by a ```c or ```cpp block")
    for number, (language, code) in enumerate(blocks, 1):
        yield outdir / f"{document.stem.lower()}_{number}.{language}", program(code, f"{document.name}, block {number}")


def main():
    outdir = pathlib.Path(sys.argv[1])
    outdir.mkdir(parents=True, exist_ok=True)
    for document in map(pathlib.Path, sys.argv[2:]):
        for path, text in extract(document, outdir):
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
            print(path)


main()
