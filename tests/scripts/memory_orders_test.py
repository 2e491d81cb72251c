# SPDX-License-Identifier: Apache-2.0
"""tests/model/memory_orders.md names each source file with a memory order weaker than seq_cst, with exactly the orders that it has, and
no other; and the model tests that it says kill the mutants weaken orders."""
import re
import unittest

import planted

PAGE = planted.PROJECT / "tests/model/memory_orders.md"
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ORDER = re.compile(r"\bmemory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel)\b"
                   r"|\b__ATOMIC_(RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"^[a-z_]+(?:, [a-z_]+)*")


def orders_in(text):
    return {(standard or builtin).lower() for standard, builtin in ORDER.findall(COMMENT.sub("", text))}


def in_sources():
    """File, as an include directive names it -> its orders."""
    found = {}
    for root in (planted.PROJECT / "src", planted.PROJECT / "include"):
        for path in root.rglob("*"):
            if path.suffix in (".hpp", ".cpp", ".h", ".c"):
                orders = orders_in(path.read_text(encoding="utf-8"))
                if orders:
                    found[path.relative_to(root).as_posix()] = orders
    return found


def section(title):
    return PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


class MemoryOrders(unittest.TestCase):
    def test_orders_are_found_in_code_and_not_in_comments(self):
        self.assertEqual(orders_in("a.load(std::memory_order_acquire); // std::memory_order_release"), {"acquire"})
        self.assertEqual(orders_in("__atomic_store_n(&a, 1, __ATOMIC_RELAXED); a.load(std::memory_order_seq_cst);"), {"relaxed"})
        self.assertEqual(orders_in("s.release(); s.acquire(std::memory_order::acq_rel);"), {"acq_rel"})

    def test_the_page_names_each_file_with_its_orders(self):
        rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(len(rows), len({name for name, _, _ in rows}), "a file is named twice")
        self.maxDiff = None
        self.assertEqual({name: set(orders.split(", ")) for name, orders, _ in rows}, in_sources())

    def test_each_has_a_test_or_a_reason(self):
        for name, _, test in ROW.findall(section("Explored")):
            for program in NAME.match(test)[0].split(", "):
                path = planted.PROJECT / f"tests/model/{program}_test.cpp"
                self.assertIn("weaken_each", path.read_text(encoding="utf-8"), f"{name}: {path.name} weakens nothing")
        for name, _, reason in ROW.findall(section("Not explored")):
            self.assertGreater(len(reason.split()), 1, name)


if __name__ == "__main__":
    unittest.main(argv=[__file__])
