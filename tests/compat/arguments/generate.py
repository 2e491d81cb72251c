#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py PREPROCESSED HEADERS TABLE OUTPUT: calls of each public function with arguments that make no sense, as C for runner.h.

PREPROCESSED is what the compiler makes of a file that includes all headers, with line markers; the functions that the folder HEADERS declares are
tried. TABLE has a line for each of them (several for one, where one set of arguments does not reach all of it):

    name | parameters | result | result of a bad call | result where the library does not run

A parameter is an argument that makes sense, with what else is tried in its place:
    w:ARGUMENT  a pointer that must be there: null, unaligned, beyond user space       o:ARGUMENT  the same, but null is no mistake
    b:ARGUMENT  the same as w, but of any alignment                                    k:ARGUMENT  beyond user space
    u:ARGUMENT  unaligned, beyond user space                                           z:ARGUMENT, f:ARGUMENT  null
    ARGUMENT;VALUE=RESULT;...   these values
Each pointer to a type that is known must be tried by some line, unless one begins with `unchecked`. `alone` before a name: in a process of its
own. A result is an expression, BAD for QTHREAD_BADARGS, * for any, - for none. An empty column is like the one before it."""
import pathlib
import re
import sys

NULL, UNALIGNED, HIGH = "NULL", "UNALIGNED", "BEYOND"
TRIED = {"w": (NULL, UNALIGNED, HIGH), "o": (UNALIGNED, HIGH), "b": (NULL, HIGH), "k": (HIGH,), "u": (UNALIGNED, HIGH), "z": (NULL,), "f": (NULL,)}


def declared_text(preprocessed, folder):
    """What stands in files of the folder."""
    inside, lines = False, []
    for line in preprocessed.splitlines():
        marker = re.match(r'#\s*(?:line\s+)?\d+\s+"([^"]*)"', line)
        if marker:
            inside = pathlib.Path(marker.group(1)).resolve().is_relative_to(folder)
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def statements(text):
    """What stands outside of braces, up to each semicolon or body."""
    depth, current = 0, ""
    for character in text:
        if character == "{":
            if depth == 0:
                yield current
                current = ""
            depth += 1
        elif character == "}":
            depth -= 1
            current = ""
        elif depth == 0 and character == ";":
            yield current
            current = ""
        elif depth == 0:
            current += character


def split_parameters(text):
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    parts = [" ".join(part.split()) for part in parts]
    return [] if parts in ([""], ["void"]) else parts


def prototypes(text):
    """name -> (type of the result, parameters)"""
    found = {}
    for statement in statements(text):
        match = re.match(r"((?:[A-Za-z_][\w\s]*?[\s*]+))(\w+)\s*\((.*)\)\s*$", " ".join(statement.split()), re.S)
        if not match or match.group(1).startswith("typedef") or "=" in match.group(1):
            continue
        kind = re.sub(r"\b(?:static|inline|extern)\b", "", match.group(1)).strip()
        found[match.group(2)] = (kind, split_parameters(match.group(3)))
    return found


class Row:
    def __init__(self, number, line):
        columns = [column.strip() for column in line.split("|")]
        if not 2 <= len(columns) <= 5:
            raise ValueError(f"line {number}: {len(columns)} columns")
        self.words = columns[0].split()
        self.name = self.words.pop()
        self.number = number
        self.arguments = [self.read(argument) for argument in columns[1].split()]
        good, bad, stopped = (columns[2:] + ["", "", ""])[:3]
        self.good = good or "-"
        self.bad = bad or self.good
        self.stopped = stopped

    @staticmethod
    def read(text):
        """(argument, kind, [(value, result)])"""
        first, *others = text.split(";")
        kind = ""
        if re.match(r"[wobkuzf]:", first):
            kind, first = first[0], first[2:]
        return first, kind, [tuple(other.split("=", 1)) for other in others]

    def complaints(self, parameters):
        fixed = [parameter for parameter in parameters if parameter != "..."]
        count = len(self.arguments)
        if count != len(fixed) and not ("..." in parameters and count > len(fixed)):
            yield f"{self.name} has {len(fixed)} parameters, the line {count} arguments"

    def tries(self, k):
        """Something bad in place of parameter k, or it says that it does not."""
        return "unchecked" in self.words or (k < len(self.arguments) and (self.arguments[k][1] != "" or self.arguments[k][2] != []))

    def calls(self, parameters):
        """(what it says, arguments, result while the library runs, whether it is a bad call)"""
        good = [argument for argument, _, _ in self.arguments]
        yield "", good, self.good, False
        for k, (_, kind, others) in enumerate(self.arguments):
            name = re.sub(r"\W*$", "", parameters[k].split("[")[0]) if k < len(parameters) and parameters[k] != "..." else f"argument {k + 1}"
            name = re.split(r"[\s*]", name)[-1]
            for value, result in [(value, self.bad) for value in TRIED.get(kind, ())] + others:
                yield f"{name} = {value}", good[:k] + [value] + good[k + 1:], result, True


def not_tried(name, parameters, rows):
    """Pointers to a type that is known for which no line has anything bad."""
    for k, parameter in enumerate(parameters):
        is_pointer = "*" in parameter or parameter.endswith("[]") or re.search(r"_f(?: const)? \w+$", parameter)
        is_of_anything = "void*" in parameter.replace(" ", "").replace("const", "")
        if is_pointer and not is_of_anything and not any(row.tries(k) for row in rows):
            yield f"{name}: nothing bad is tried for the parameter '{parameter}'"


def expression(result):
    return {"BAD": "QTHREAD_BADARGS"}.get(result, result)


def body(kind, name, arguments, result, stopped):
    call = f"({name})({', '.join(arguments)})"
    if kind == "void":
        return f"    {call};\n"
    if result in ("*", "-") and stopped in ("*", ""):
        return f"    keep((long long){'(intptr_t)' if is_pointer_type(kind) else ''}{call});\n"
    cast = "(intptr_t)" if is_pointer_type(kind) else ""
    text = f"    {kind} const result = {call};\n"
    for condition, expected in (("library_runs()", result), ("!library_runs()", stopped or result)):
        if expected not in ("*", "-"):
            text += f"    if ({condition}) expect(result == ({expression(expected)}), (long long){cast}result);\n"
    return text + f"    keep((long long){cast}result);\n"


def is_pointer_type(kind):
    return "*" in kind or kind in ("qthread_queue_t", "qtimer_t")


def main():
    preprocessed, folder, table, output = (pathlib.Path(argument) for argument in sys.argv[1:5])
    known = prototypes(declared_text(preprocessed.read_text(encoding="utf-8"), folder.resolve()))
    rows = [Row(number, line) for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1)
            if line.strip() and not line.startswith("#")]
    wrong = [f"line {row.number}: there is no function {row.name}" for row in rows if row.name not in known]
    wrong += [f"{name} has no line" for name in sorted(set(known) - {row.name for row in rows})]
    wrong += [f"line {row.number}: {text}" for row in rows if row.name in known for text in row.complaints(known[row.name][1])]
    for name, (_, parameters) in known.items():
        wrong += not_tried(name, parameters, [row for row in rows if row.name == name])
    if len(known) < 20:
        wrong.append(f"only {len(known)} functions are declared below {folder}")
    if wrong:
        sys.exit("\n".join(f"{table}: {text}" for text in wrong))

    functions, entries = [], []
    for row in rows:
        kind, parameters = known[row.name]
        for text, arguments, result, is_bad in row.calls(parameters):
            stopped = ("*" if is_bad else row.stopped) if row.stopped else ""
            functions.append(f"static void call_{len(functions)}(void) {{\n{body(kind, row.name, arguments, result, stopped)}}}\n")
            shown = f"{row.name}({text})".replace("\\", "\\\\").replace('"', '\\"')
            entries.append(f'    {{"{shown}", call_{len(entries)}, {int("alone" in row.words)}}},\n')
    output.write_text("".join(functions) + "static struct bad_call const calls[] = {\n" + "".join(entries) + "};\n", encoding="utf-8")


main()
