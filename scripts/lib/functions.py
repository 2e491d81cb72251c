# SPDX-License-Identifier: Apache-2.0
"""Finds the functions of a C or C++ file by matching braces: good enough to measure them, no parser."""
import re

import sources

# A brace after one of these, outside of any function, opens something that holds functions.
CONTAINER = re.compile(r"(?:^|[\s>)\]])(?:namespace|class|struct|union|enum)\b(?![^<]*>\s*[\w:]+\s*\()|^extern\s*0?\s*$|^0$")
# After these it opens something that is part of the declaration and holds none.
REQUIRES = re.compile(r"\brequires\s*(?:\([^{}]*\))?\s*$")
INITIALIZER = re.compile(r"(?:=|\breturn|,)\s*$|^[^()]*$|\bconcept\b")
# A name directly before a brace, behind a constructor's colon, is a member that the brace initialises.
CONSTRUCTOR = re.compile(r"\)\s*(?:noexcept(?:\s*\([^{}]*\))?\s*|requires\b[^{}:]*)?:(?!:)")
MEMBER = re.compile(r"(?:[:,]\s*)(?:\.\.\.\s*)?[\w:]+(?:<[^{}]*>)?\s*$")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\(|mutable|noexcept|->|$)")
NO_NAME = {"requires", "__attribute__", "noexcept", "decltype", "alignas", "explicit"}


def preprocessed(text):
    """Without directives; of #if ... #else ... #endif only the first branch, or braces would not match."""
    result, depth_hidden, stack = [], 0, []
    continued = False
    for line in text.split("\n"):
        stripped = line.strip()
        if continued or stripped.startswith("#"):
            if not continued:
                word = re.match(r"#\s*(\w*)", stripped).group(1)
                if word in ("if", "ifdef", "ifndef"):
                    stack.append(False)
                elif word in ("else", "elif") and stack and not stack[-1]:
                    stack[-1] = True
                    depth_hidden += 1
                elif word == "endif" and stack and stack.pop():
                    depth_hidden -= 1
            continued = line.endswith("\\")
            result.append("")
        else:
            result.append("" if depth_hidden else line)
    return "\n".join(result)


def closing(text, start):
    """The index of the brace that closes the one at `start`, or the end."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def outside_parentheses(head):
    """True if every parenthesis of the head is closed."""
    return head.count("(") <= head.count(")")


def kind(head):
    """What a brace after this head, outside of any function, opens: container, part (of the head), function or other."""
    head = head.strip()
    bare = re.sub(r"^template\s*<.*?>\s*(?=class|struct|union|enum)", "", head, flags=re.S)
    if REQUIRES.search(head):
        return "part"
    if not outside_parentheses(head):
        return "part"  # a default argument, or a lambda that is an argument
    if LAMBDA.search(head) and re.search(r"=\s*\[", head):
        return "function"
    if CONTAINER.search(bare) and not re.search(r"\)\s*(?:const|noexcept|override|final|->[^()]*|\s)*$", bare):
        return "container"
    if CONSTRUCTOR.search(head) and MEMBER.search(head):
        return "part"
    if INITIALIZER.search(head) and not re.search(r"\boperator\s*(?:=|==|,)\s*\(", head):
        return "other"
    if re.search(r"\)[^()=]*=\s*$", head):
        return "other"
    return "function" if "(" in head else "other"


def name_of(head):
    """A human-readable name."""
    head = re.sub(r"^\s*template\s*<[^{}]*?>\s*", "", " ".join(head.split()))
    test = re.match(r"(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    pattern = r"((?:[\w:~]|<[^<>()]*>)*\boperator\s*(?:\(\)|[^\s(]+|\s[\w:&*<> ]+)|[\w:~]+)\s*\("
    names = [match.group(1).strip() for match in re.finditer(pattern, head)]
    return next((name for name in names if name not in NO_NAME), head[:40])


def functions(text):
    """Yields (name, first line, number of lines from the brace that opens the body to the one that closes it)."""
    text = preprocessed(sources.strip(text))
    position = head_start = 0
    brace = re.compile(r"[{};]")
    while match := brace.search(text, position):
        at = match.start()
        position = at + 1
        head = text[head_start:at]
        if match.group() == ";" and not outside_parentheses(head):
            continue
        if match.group() != "{":
            head_start = position
            continue
        opened = kind(re.sub(r"\b(?:public|private|protected)\s*:(?!:)", "", head))
        if opened == "container":
            head_start = position
            continue
        end = closing(text, at)
        position = end + 1
        if opened == "function":
            yield name_of(head), text.count("\n", 0, at) + 1, text.count("\n", at, end) + 1
            head_start = position
        # After "part" and "other" the declaration goes on to its semicolon or body.
