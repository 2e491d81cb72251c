# SPDX-License-Identifier: Apache-2.0
"""What `tulle cc` makes of calls of functions of libraries: which bytes they touch, and whether what was checked before holds behind them.
`python3 library_calls_test.py TULLE`"""
import re
import unittest

from compiler_case import Case, run


class Calls(Case):
    def test_functions_without_a_prototype_are_checked_and_listed(self):
        """As programs in the C of before 1989 call them, with arguments of other types than those of the library."""
        text = """extern long read(); unsigned long fread(); int sprintf(); int strcmp(); extern int foreign(); int usleep();
long store_by_read(int file, char* to) { return read(file, to, 8UL); }
long store_by_fread(char* to, void* file) { return fread(to, 1, 8, file); }
int store_by_sprintf(char* to, char* text) { return sprintf(to, "%g %s", 1.5, text); }
int string_by_strcmp(char* a) { return strcmp(a, "x"); }
int load_undeclared(char* from) { return write(1, from, 8); }
int list_foreign(char* a) { return foreign(a); }
int list_undeclared(char* a) { return undeclared(a); }
void wait_for(int* p) { while (*p == 0) usleep(10); }
int main(void) { return 0; }
"""
        words = ["-std=gnu89", "-w", "-O1"]
        for function, body in self.bodies(text, "states", *words).items():
            kind = function.split("_")[0]
            if kind in ("store", "load", "string"):
                self.assertIn("@tulle_coherent_" + {"string": "string("}.get(kind, f"{kind}_range("), body, function)
        done = self.build("k.c", text + "int foreign(a) char* a; { return 0; }\n", *words, "--list",
                          self.source("u.c", "int undeclared(char* a) { return a == 0; }\n"))
        self.assertRegex(done.stdout, r"^\S+k.c: wait_for waits in a loop[^\n]*\n$")
        foreign = self.work / "f.o"
        both = self.source("g.c", "int foreign(char* a) { return a == 0; }\nint undeclared(char* a) { return a == 0; }\n")
        self.assertEqual(run(["gcc", "-c", both, "-o", foreign]).returncode, 0)
        done = self.build("k.c", text, *words, "--list", foreign)
        self.assertEqual(set(re.findall(r": (\w+) hands memory to (\w+),", done.stdout)), {("list_foreign", "foreign"), ("list_undeclared", "undeclared")})

    def test_functions_of_libraries_that_may_synchronise(self):
        """A check does not hold over them; it does over all others that LLVM knows, unless the program says that it has its own."""
        text = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
struct wide { long a[3]; };
double power;
void* _Znwm(unsigned long); void* _Znam(unsigned long); void _ZdlPv(void*); void _ZdaPv(void*); int __cxa_guard_acquire(long*); void __cxa_guard_release(long*);
"""
        loud = {"new": "_Znwm(8)", "new_array": "_Znam(8)", "delete": "_ZdlPv(q), q", "delete_array": "_ZdaPv(q), q", "lock": "flockfile(q), q",
                "unlock": "funlockfile(q), q", "guard": "(__cxa_guard_acquire(q), q)", "unguard": "(__cxa_guard_release(q), q)", "run": "(system(q), q)",
                "end": "(pclose(q), q)", "wide": "__atomic_load((struct wide*)q, (struct wide*)p, 5), q"}
        quiet = {"allocate": "malloc(8)", "release": "free(q), q", "print": 'printf("%d", 5), q', "power": "(power = exp(n), q)"}
        for name, call in {**loud, **quiet}.items():
            text += f"void* over_{name}(long* p, void* q, double n) {{ *p = 1; q = ({call}); *p = 2; return q; }}\n"
        text += "int main(void) { return 0; }\n"
        for words in ([], ["-fno-builtin-exp"], ["-fno-builtin"]):
            bodies = self.bodies(text, "states", "-O1", "-w", *words)
            for name in (*loud, *quiet):
                is_quiet = name in quiet and "-fno-builtin" not in words and (name != "power" or not words)
                checks = len(re.findall(r"(?:^ *call [^\n]*@tulle_coherent_store\([^\n]*\n)+", bodies[f"over_{name}"], re.M))
                self.assertEqual(checks, 1 if is_quiet else 2, (words, name))

    def test_a_sort_by_an_order_that_may_synchronise_gets_a_copy(self):
        """It stores after that, when what had been checked need not be good any more."""
        text = """#include <stdlib.h>
static int by_value(void const* x, void const* y) { return *(int const*)x - *(int const*)y; }
void lock(void);
static int by_lock(void const* x, void const* y) { lock(); return by_value(x, y); }
void quiet(int* a) { qsort(a, 10, sizeof *a, by_value); }
void loud(int* a) { qsort(a, 10, sizeof *a, by_lock); }
void unknown(int* a, int (*by)(void const*, void const*)) { qsort(a, 10, sizeof *a, by); }
"""
        for scheme in ("states", "refresh"):
            bodies = self.bodies(text, scheme)
            for function in ("loud", "unknown"):
                self.assertRegex(bodies[function], r"(?s)@tulle_coherent_borrow\([^)]*, i32 2\).*@qsort\(.*@tulle_coherent_return\([^)]*, i64 -1\)")
            self.assertIn("@tulle_coherent_store_range(", bodies["quiet"])
            self.assertNotIn("@tulle_coherent_borrow(", bodies["quiet"])

    def test_formats_of_wide_strings_and_numbers(self):
        """A range is checked by all of its bytes: those of long doubles are 16, those of wide characters 4."""
        text = """#include <stdio.h>
int scan_A(char const* t, void* p) { return sscanf(t, "%LA", p); }
int scan_F(char const* t, void* p) { return sscanf(t, "%lF", p); }
int scan_C(char const* t, void* p) { return sscanf(t, "%3C", p); }
int scan_S(char const* t, void* p) { return sscanf(t, "%4S", p); }
int open_S(char const* t, void* p) { return sscanf(t, "%S", p); }
int print_S(void* p) { return printf("%S", p); }
int open64(char const* name, int flags, ...);
void* fopen64(char const* name, char const* how);
int file(char const* name) { return open64(name, 0); }
void* stream(char const* name, char const* how) { return fopen64(name, how); }
int main(void) { return 0; }
"""
        bodies = self.bodies(text, "races", "-O1", "-w")
        for function, size in {"scan_A": 16, "scan_F": 8, "scan_C": 12, "scan_S": 20}.items():
            self.assertRegex(bodies[function], rf"@tulle_race_store\(i64 %\w+, i64 {size}\)")
        done = self.build("w.c", text, "--list", "-O1", "-w")
        self.assertEqual(set(re.findall(r": (\w+) hands memory to ", done.stdout)), {"open_S", "print_S"})

    def test_functions_of_the_library_may_be_declared_otherwise(self):
        text = """extern void tulle_coherent_release(); extern void tulle_coherent_acquire(); extern int tulle_coherent_store(); extern void tulle_coherent_start();
extern unsigned long tulle_coherent_fetch(); extern char* tulle_coherent_string();
unsigned long strlen(char const*);
int fences(int* p) { tulle_coherent_release(); __atomic_thread_fence(__ATOMIC_SEQ_CST); *p = 1; tulle_coherent_acquire(); return *p; }
long texts(char const* p) { return strlen(p) + *tulle_coherent_string(1, 2); }
long words(long* p) { return __atomic_fetch_add(p, 1, 5); }
int stores(void) { tulle_coherent_start(); return tulle_coherent_store(); }
"""
        for scheme in ("states", "refresh", "directory", "races"):
            for level in ("-O0", "-O2"):
                body = self.bodies(text, scheme, level, "-w")["fences"]
                if scheme == "states":
                    self.assertRegex(body, r"call preserve_allcc void .*@tulle_coherent_store\b")


unittest.main()
