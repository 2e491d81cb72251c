# SPDX-License-Identifier: Apache-2.0
"""`tulle cc` and `tulle c++` as compilers: what they make runs with the library, without one of the things they need they say what, and --list
names what has no checks. `python3 cc_test.py TULLE`"""
import os
import pathlib
import re
import shutil
import unittest

from compiler_case import ELSEWHERE, MAIN, TULLE, Case, run

# What is alive over the slow paths of the library: numbers in all registers that they must keep.
REGISTERS = """
#include <stdio.h>
#include <sys/mman.h>
#include <tulle/coherent_abi.h>
__attribute__((noinline)) double many(double* a, double const* b, int n, int step) {
    double p = b[0], q = b[1], r = b[2], s = b[3], t = b[4], u = b[5], v = b[6], w = b[7];
    for (int i = 0; i < n; ++i) a[i * step] += p * i;
    return p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w;
}
int main(void) {
    double* a = mmap((void*)TULLE_COHERENT_FIRST, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (a == MAP_FAILED) return 1;
    for (int i = 0; i < 8; ++i) a[i] = i + 1;
    printf("%g\\n", many(a + 1000, a, 200, 50));
    return 0;
}
"""
FOREIGN = """
#include <string.h>
__attribute__((noinline)) char* first(char* text) { return strtok(text, " "); }
__attribute__((noinline)) void ring(int* bell) { __asm__ volatile("movl $1, (%0)" : : "r"(bell) : "memory"); }
void elsewhere(int* number);
int main(int argc, char** argv) { ring(&argc); elsewhere((int*)argv[0]); return first(argv[0]) == NULL; }
"""
# Functions whose names begin with `waits` do nothing until another thread stores, and nothing orders that.
LOOPS = """
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
struct s { int flag, n; volatile int go; struct s* next; atomic_int word; int a[10]; };
static void rest(void) { for (int k = 0; k < 100; ++k) __asm__ volatile(""); usleep(10); }
void waits(struct s* p) { while (p->flag == 0) {} }
void waits_with_pause(struct s* p) { while (p->flag == 0) __builtin_ia32_pause(); }
void waits_with_assembly(struct s* p) { while (p->flag == 0) __asm__ volatile("pause" ::: "memory"); }
void waits_with_yield(struct s* p) { do sched_yield(); while (p->flag != 2); }
void waits_with_rest(struct s* p) { while (p->flag == 0) rest(); }
void waits_by_copy(struct s* p) { int seen = p->flag; while (seen == 0) { rest(); seen = p->flag; } }
void waits_for_two(struct s* p) { while (!p->flag || !p->n) {} }
void waits_for_element(struct s* p, int k) { while (p->next->a[k] == 0) {} }
void waits_by_break(struct s* p) { for (;;) { if (p->flag) break; } }
void waits_by_switch(struct s* p) { for (;;) { switch (p->flag) { case 3: return; case 4: abort(); default: break; } } }
void waits_ever_longer(struct s* p) {
    int n = 1;
    while (p->flag == 0) { for (int k = 0; k < n; ++k) __builtin_ia32_pause(); if (n < 100) n *= 2; }
}
void volatile_waits(struct s* p) { while (!p->go) {} }
int own;
void for_atomic(struct s* p) { while (p->word == 0) {} }
void for_relaxed(struct s* p) { while (atomic_load_explicit(&p->word, memory_order_relaxed) == 0) {} }
void with_fence(struct s* p) { while (p->flag == 0) atomic_thread_fence(memory_order_acquire); }
int walk(struct s* p) { int n = 0; while (p->next) { p = p->next; ++n; } return n; }
int sum(struct s* p) { int sum = 0; for (int k = 0; k < p->n; ++k) sum += k; return sum; }
int search(struct s* p) { int k = 0; while (p->a[k] != 7) ++k; return k; }
void bounded(struct s* p) { for (int k = 0; k < 1000 && !p->flag; ++k) {} }
void bounded_last(struct s* p) { for (int k = 0; !p->flag && k < 1000; ++k) if (k == 500) return; }
void by_lock(struct s* p, pthread_mutex_t* m) { for (int seen = 0; !seen;) { pthread_mutex_lock(m); seen = p->flag; pthread_mutex_unlock(m); } }
void by_own(void) { int flag = 0; while (flag == 0) flag = 1; }
void by_stores(struct s* p) { while (p->n > 0) p->n -= 1; }
void by_variable(void) { while (own == 0) {} }
int doubling(struct s* p) { int n = 1; while (n < p->n) n *= 2; return n; }
int main(void) { return 0; }
"""
LOOPS_CXX = """
#include <atomic>
#include <thread>
struct s { bool flag; std::atomic<bool> word; bool get() const { return flag; } };
void waits(s& p) { while (!p.flag) std::this_thread::yield(); }
void waits_by_getter(s& p) { while (!p.get()) std::this_thread::yield(); }
void for_atomic(s& p) { while (!p.word) std::this_thread::yield(); }
int main() {}
"""
# Loops that clang makes loops of vectors; the checks ahead of them must leave that possible.
VECTORIZED = """
void add_multiple(double* a, double const* b, double by, long n) { for (long i = 0; i < n; ++i) a[i] += by * b[i]; }
void fill(float* a, float with, long n) { for (long i = 0; i < n; ++i) a[i] = with; }
long sum(int const* a, long n) { long s = 0; for (long i = 0; i < n; ++i) s += a[i]; return s; }
void scale_rows(double* a, double by, long rows, long n) { for (long k = 0; k < rows; ++k) for (long i = 0; i < n; ++i) a[k * n + i] *= by; }
void scale_rows_of_pointers(double** a, double by, long rows, long n) {
    for (long k = 0; k < rows; ++k) for (long i = 0; i < n; ++i) a[k][i] *= by;
}
void move(double* restrict x, double const* restrict v, double const* restrict f, double dt, long n) {
    for (long i = 0; i < n; ++i) x[i] += dt * (v[i] + 0.5 * dt * f[i]);
}
"""
# Accesses by vectors, of which a processor need not be here.
VECTORS = """
#include <immintrin.h>
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw")))
AVX512 __m512 gather(float const* a, __m512i at, __mmask16 m) { return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), m, at, a, 4); }
AVX512 __m128 gather_less(float const* a, __m128i at, __mmask8 m) { return _mm_mmask_i64gather_ps(_mm_setzero_ps(), m, at, a, 4); }
AVX512 __m128d gather_pairs(double const* a, __m128i at, __mmask8 m) { return _mm_mmask_i32gather_pd(_mm_setzero_pd(), m, at, a, 8); }
AVX512 void scatter(double* a, __m256i at, __m512d v) { _mm512_i32scatter_pd(a, at, v, 8); }
AVX512 void scatter_less(float* a, __m128i at, __mmask8 m, __m128 v) { _mm_mask_i64scatter_ps(a, m, at, v, 4); }
AVX512 __m512 load(float const* a, __mmask16 m) { return _mm512_maskz_loadu_ps(m, a); }
AVX512 void store(float* a, __mmask16 m, __m512 v) { _mm512_mask_storeu_ps(a, m, v); }
AVX512 __m512 expand(float const* a, __mmask16 m) { return _mm512_maskz_expandloadu_ps(m, a); }
AVX512 void compress(float* a, __mmask16 m, __m512 v) { _mm512_mask_compressstoreu_ps(a, m, v); }
void stream(int* a, int n) { _mm_stream_si32(a, n); }
void stream_vector(float* a, __m128 v) { _mm_stream_ps(a, v); }
"""
# Each has a size more than the function that it is of, and the comment says what of its arguments it loads and stores.
FORTIFIED = """
typedef unsigned long size;
void* __memcpy_chk(void*, void const*, size, size); /* store load */
void* __mempcpy_chk(void*, void const*, size, size); /* store load */
void* __memmove_chk(void*, void const*, size, size); /* store load */
void* __memset_chk(void*, int, size, size); /* store */
char* __strcpy_chk(char*, char const*, size); /* store string */
char* __stpcpy_chk(char*, char const*, size); /* store string */
char* __strncpy_chk(char*, char const*, size, size); /* store string */
char* __strcat_chk(char*, char const*, size); /* store string */
char* __strncat_chk(char*, char const*, size, size); /* store string */
long __read_chk(int, void*, size, size); /* store */
long __pread_chk(int, void*, size, long, size); /* store */
long __recv_chk(int, void*, size, size, int); /* store */
size __fread_chk(void*, size, size, size, void*); /* store */
char* __fgets_chk(char*, size, int, void*); /* store */
char* __getcwd_chk(char*, size, size); /* store */
int __sprintf_chk(char*, int, size, char const*, ...); /* store string snprintf */
int __snprintf_chk(char*, size, int, size, char const*, ...); /* store string snprintf */
int __printf_chk(int, char const*, ...); /* string */
int __fprintf_chk(void*, int, char const*, ...); /* string */
long tulle_read(int, void*, size); /* borrow return */
long tulle_read_within(int, void*, size, void const*); /* borrow return */
long tulle_pread(int, void*, size, long); /* borrow return */
long tulle_recvfrom(int, void*, size, int, void*, unsigned*); /* borrow return */
long tulle_write(int, void const*, size); /* load */
long tulle_pwrite_within(int, void const*, size, long, void const*); /* load */
long tulle_sendto(int, void const*, size, int, void const*, unsigned); /* load */
void* memchr(void const*, int, size); /* find */
void* rawmemchr(void const*, int); /* find */
void* memccpy(void*, void const*, int, size); /* store find */
char* other;
"""
NARROWED = """
#include <immintrin.h>
__attribute__((target("avx512f"))) void narrow(void* a, __mmask16 m, __m512i v) { _mm512_mask_cvtepi32_storeu_epi8(a, m, v); }
__attribute__((target("fxsr"))) void save(void* a) { _fxsave(a); }
void control(unsigned const* n) { _mm_setcsr(*n); }
void hint(void* a) { _mm_prefetch((char*)a, 1); _mm_clflush(a); }
int main(void) { return 0; }
"""
# Code that runs before the constructors of the program: a malloc, which constructors of libraries call, functions that the
# program itself begins with, and what a resolver calls.
EARLY = {
    "malloc": r"""
#include <stddef.h>
#include <string.h>
static char s_pool[1 << 22] __attribute__((aligned(16)));
static char* volatile s_next = s_pool;
struct block { size_t size; long none; };
void* malloc(size_t n) { struct block* b = (struct block*)s_next; s_next += (n + 31) / 16 * 16; b->size = n; return b + 1; }
void free(void* p) { (void)p; }
void* calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }
void* realloc(void* p, size_t n) {
    void* q = malloc(n);
    if (p) { struct block* b = (struct block*)p - 1; memcpy(q, p, b->size < n ? b->size : n); }
    return q;
}
int main(void) { return s_next == s_pool; }
""",
    "preinit": r"""
static int s_seen;
int* volatile s_p = &s_seen;
static void early(int argc, char** argv, char** variables) { (void)variables; if (argc > 0 && argv[0][0]) *s_p = 1; }
__attribute__((section(".preinit_array"), used)) static void (*s_early)(int, char**, char**) = early;
int main(void) { return s_seen != 1; }
""",
    "resolver": r"""
__attribute__((noinline)) static int has(int const* p) { return p[0] == 7; }
static int s_table[] = {7};
int* volatile s_p = s_table;
static int fast(int n) { return n + 1; }
static int slow(int n) { return n + 2; }
static void* choose(void) { return has(s_table) ? (void*)fast : (void*)slow; }
int work(int) __attribute__((ifunc("choose")));
int main(void) { return work(1) != 2; }
""",
}


# One load and one store of a variable; constants and variables of threads are none of the program's.
VARIABLES = r"""
#include <stdio.h>
int counter;
static const int k_table[] = {1, 2, 3};
static __thread int own;
int add(int n) { own += n; counter += k_table[own & 1]; return own; }
int main(void) {
    add(2);
    add(3);
    fprintf(stdout, "%d\n", add(0));
    return counter == 5 ? 0 : 1;
}
"""


class Compiler(Case):
    def test_programs_run_with_the_library(self):
        for command, name in (("cc", "p.c"), ("c++", "p.cpp")):
            for level in ("-O0", "-O2", "-O3"):
                words = [level]
                text = MAIN.replace("double* a = mmap", "double* a = (double*)mmap") if command == "c++" else MAIN
                self.build(name, text, *words, command=command)
                done = run([self.work / "program"])
                self.assertEqual((done.returncode, done.stdout), (0, "2476 1\n"), done.stderr)

    def test_registers_survive(self):
        for level in ("-O1", "-O2"):
            self.build("r.c", REGISTERS, level)
            self.assertEqual(run([self.work / "program"]).stdout, "204\n")

    def test_kinds_of_checks(self):
        wanted = {"all": (True, True), "loads": (True, False), "stores": (False, True), "none": (False, False)}
        for kind, (loads, stores) in wanted.items():
            done = run([TULLE, "cc", f"--checks={kind}", "-O1", "-S", "-emit-llvm", self.source("k.c", MAIN), "-o", "-"])
            self.assertEqual(("call preserve_mostcc void @tulle_coherent_load" in done.stdout,
                              "call preserve_mostcc void @tulle_coherent_store" in done.stdout), (loads, stores), kind)

    def test_loads_of_integers_and_of_floating_point_numbers(self):
        """Also as vectors, by masks, as parts of atomic operations, and as blocks of bytes, which are no numbers."""
        text = """#include <immintrin.h>
#include <string.h>
long of_integer(long const* a) { return *a; }
void* of_pointer(void** a) { return *a; }
__m128i of_integers(__m128i const* a) { return *a; }
void of_block(void* to, void const* from, unsigned long n) { memcpy(to, from, n); }
unsigned long of_text(char const* text) { return strlen(text); }
int of_atomic(_Atomic int* a) { return *a; }
double fp_of_number(double const* a) { return *a; }
float fp_of_single(float const* a) { return *a; }
__m128d fp_of_numbers(__m128d const* a) { return *a; }
__attribute__((target("avx2"))) __m256 fp_by_mask(float const* a, __m256i mask) { return _mm256_maskload_ps(a, mask); }
double fp_of_loop(double const* a, int n) { double s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
long of_loop(long const* a, int n) { long s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
void of_store(double* a, double n) { *a = n; }
int main(void) { return 0; }
"""
        for level in ("-O1", "-O3"):
            for kind in ("int-loads", "fp-loads", "loads"):
                for function, body in self.bodies(text, "states", level, f"--checks={kind}").items():
                    is_wanted = kind == "loads" or function.startswith("fp_") == (kind == "fp-loads")
                    has_checks = re.search("@tulle_coherent_(?!start)", body) is not None
                    self.assertEqual(has_checks, is_wanted and not re.match("of_store|main|tulle_", function), (level, kind, function, body))
        source = self.source("k.c", MAIN)
        refreshed = run([TULLE, "cc", "--checks=fp-loads", "--scheme=refresh", "-O1", "-S", "-emit-llvm", source, "-o", "-"])
        self.assertNotIn("@tulle_coherent_load", refreshed.stdout)

    def test_loads_have_no_checks_where_copies_are_refreshed(self):
        for kind, stores in {"all": True, "loads": False, "stores": True, "none": False}.items():
            done = run([TULLE, "cc", f"--checks={kind}", "--scheme=refresh", "-O1", "-S", "-emit-llvm", self.source("k.c", MAIN), "-o", "-"])
            self.assertEqual((done.returncode, "@tulle_coherent_load" in done.stdout, "call preserve_mostcc void @tulle_coherent_store" in done.stdout),
                             (0, False, stores), kind)

    def test_kinds_of_checks_by_the_directory(self):
        wanted = {"all": (True, True), "loads": (True, False), "stores": (False, True), "none": (False, False)}
        for kind, (loads, stores) in wanted.items():
            done = run([TULLE, "cc", f"--checks={kind}", "--scheme=directory", "-O1", "-S", "-emit-llvm", self.source("k.c", MAIN), "-o", "-"])
            self.assertEqual(("call preserve_allcc void @tulle_directory_load" in done.stdout,
                              "call preserve_allcc void @tulle_directory_store" in done.stdout), (loads, stores), kind)

    def test_a_load_by_the_directory_looks_at_its_value_before_its_address(self):
        source = self.source("l.c", "double load(double const* p) { return *p; }\n")
        text = run([TULLE, "cc", "--scheme=directory", "-O1", "-S", "-emit-llvm", source, "-o", "-"]).stdout
        self.assertRegex(text, r"(?s)load double.*fcmp uno double.*icmp eq i64 %\S+, 2\n.*@tulle_directory_load.*load double.*store atomic i64 .* release")

    def test_programs_run_with_the_library_by_the_directory(self):
        for level in ("-O0", "-O3"):
            self.build("p.c", MAIN, "--scheme=directory", level)
            done = run([self.work / "program"])
            self.assertEqual((done.returncode, done.stdout), (0, "2476 1\n"), done.stderr)

    def test_schemes_do_not_mix(self):
        self.assertEqual(run([TULLE, "cc", "--scheme=directory", "-c", self.source("g.c", ELSEWHERE), "-o", self.work / "g.o"]).returncode, 0)
        self.build("f.c", FOREIGN, self.work / "g.o")
        done = run([self.work / "program"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("some object files of the program were compiled with another --scheme than others", done.stderr)
        self.assertEqual(run([TULLE, "cc", "--scheme=other", "-c", "g.c"]).returncode, 2)

    def test_variables_of_the_program_have_checks_where_they_are_shared(self):
        source = self.source("v.c", VARIABLES)
        for words in ((), ("--share-globals",)):
            done = run([TULLE, "cc", *words, "-O1", "-S", "-emit-llvm", source, "-o", "-"])
            found = set(re.findall(r"call .*@tulle_coherent_(load|store)\(", done.stdout))
            self.assertEqual(found, {"load", "store"} if words else set(), done.stdout)

    def test_a_program_that_shares_variables_has_them_where_checks_look(self):
        for command, name in (("cc", "v.c"), ("c++", "v.cpp")):
            done = run([TULLE, command, "--share-globals", self.source(name, VARIABLES), "-o", self.work / "program"])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = run([self.work / "program"])
            self.assertEqual((done.returncode, done.stdout), (0, "5\n"))
            symbols = run(["nm", self.work / "program"]).stdout
            address = int(re.search(r"^([0-9a-f]+) [BbDd] counter$", symbols, re.M)[1], 16)
            self.assertEqual(address >> 44, 2)

    def test_compiler_keeps_its_options(self):
        self.assertIn("clang version", run([TULLE, "cc", "--version"]).stdout)
        source = self.source("e.c", "int main(void) { return UNDEFINED; }\n")
        self.assertEqual(run([TULLE, "cc", "-c", source, "-o", self.work / "e.o"]).returncode, 1)
        self.assertEqual(run([TULLE, "cc", "-DUNDEFINED=0", "-c", source, "-o", self.work / "e.o"]).returncode, 0)

    def test_list_names_what_has_no_checks(self):
        done = self.build("f.c", FOREIGN, "--list", "-O1", "-g", self.source("g.c", ELSEWHERE))
        self.assertIn("first hands memory to strtok", done.stdout)
        self.assertNotIn("elsewhere", done.stdout)
        self.assertEqual(self.build("m.c", MAIN, "--list").stdout, "")
        done = self.build("a.c", FOREIGN.replace("ring(&argc)", "ring((int*)argv[0])"), "--list", "-O1", "-g",
                          self.source("g.c", ELSEWHERE))
        self.assertIn("a.c:4: ring has inline assembly", done.stdout)

    def test_list_passes_all_that_the_compiler_prints_and_reads(self):
        lines = "".join(f"int n{k};\n" for k in range(400_000))
        done = run([TULLE, "cc", "--list", "-E", self.source("big.c", lines)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual("".join(line + "\n" for line in done.stdout.splitlines() if not line.startswith("#")), lines)
        program = self.work / "of-input"
        done = run([TULLE, "cc", "--list", "-x", "c", "-", "-o", program], input="int main(void) { return 7; }\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(run([program]).returncode, 7)
        self.assertEqual(run([TULLE, "cc", "--list", self.source("wrong.c", "int\n")]).returncode, 1)

    def test_list_finds_what_is_linked(self):
        source = self.source("f.c", FOREIGN)
        other = self.source("g.c", ELSEWHERE)
        for words in ([f"--output={self.work}/p"], ["--output", self.work / "p"], [f"-o{self.work}/p"], ["-o", self.work / "q", "-o", self.work / "p"],
                      ["-o", self.work / "p", "-Xlinker", "-o", "-Xlinker", self.work / "p"]):
            done = run([TULLE, "cc", "--list", "-O1", "-g", source, other, *words])
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            self.assertIn("first hands memory to strtok", done.stdout, words)
            (self.work / "p").unlink()

    def test_headers_are_compiled_ahead(self):
        header = self.source("h.h", "int twice(int n);\n")
        for words in ([header], ["-x", "c-header", header, "-o", self.work / "h.pch"], ["-xc-header", header], ["--language=c-header", header],
                      ["--list", header]):
            done = run([TULLE, "cc", *words])
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        done = run([TULLE, "c++", self.source("h.hpp", "int twice(int n);\n")])
        self.assertEqual(done.returncode, 0, done.stderr)
        source = self.source("u.c", "int twice(int n) { return 2 * n; }\nint main(void) { return twice(0); }\n")
        done = run([TULLE, "cc", "-include-pch", self.work / "h.pch", source, "-o", self.work / "program"])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run([TULLE, "cc", "-include", header, "-x", "c", source, "-x", "none", "-o", self.work / "program"])  # links
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run([self.work / "program"]).returncode, 0)

    def test_list_names_formats_that_leave_lengths_open(self):
        source = self.source("s.c", """#include <stdio.h>
struct s { int n; char name[8]; };
int with_width(char const* t, struct s* s) { return sscanf(t, "%d %7s", &s->n, s->name); }
int without_width(char const* t, struct s* s) { return sscanf(t, "%d %s", &s->n, s->name); }
int by_number(char const* t, struct s* s) { return sscanf(t, "%2$d %1$d", &s->n, &s->n); }
int main(void) { return 0; }
""")
        done = run([TULLE, "cc", "--list", "-O1", source, "-o", self.work / "s"])
        self.assertIn("without_width hands memory to", done.stdout)
        self.assertIn("by_number hands memory to", done.stdout)
        self.assertNotIn("with_width", done.stdout.replace("without_width", ""))

    def loops_that_wait(self, compiler, source, level):
        """{function: what the list says of its loop}"""
        done = run([TULLE, compiler, "--list", level, "-g", "-pthread", source, "-o", self.work / "l"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = re.findall(r"^(.*):(\d+): ([a-z_]+)(?:\(.*\))? waits in a loop for a (.*)$", done.stdout, re.M)
        lines = source.read_text().splitlines()
        for _, line, function, _ in found:
            self.assertTrue(function in lines[int(line) - 1] or "p->flag" in lines[int(line) - 1], (function, line))
        return {function: sentence for _, _, function, sentence in found}

    def test_list_names_loops_that_wait_by_loads_which_nothing_orders(self):
        source = self.source("l.c", LOOPS)
        wanted = set(re.findall(r"^void (\w*waits\w*)\(", LOOPS, re.M))
        for level in "-O0", "-O2":
            found = self.loops_that_wait("cc", source, level)
            self.assertEqual(set(found), wanted, level)
            self.assertIn("orders no other access", found.pop("volatile_waits"))
            for sentence in found.values():
                self.assertIn("may never see; make it atomic", sentence)

    def test_list_names_such_loops_of_cxx(self):
        found = self.loops_that_wait("c++", self.source("l.cpp", LOOPS_CXX), "-O1")
        self.assertEqual(set(found), {"waits", "waits_by_getter"})

    def test_names_by_standards_are_those_of_the_functions(self):
        """As headers of glibc 2.38 have them, which this one may not be."""
        source = self.source("n.c", """int __isoc23_sscanf(char const* text, char const* format, ...);
long __isoc23_strtol(char const* text, char** end, int base);
int scan(char const* text, int* n) { return __isoc23_sscanf(text, "%d", n); }
long number(char const* text) { return __isoc23_strtol(text, 0, 10); }
""")
        done = run([TULLE, "cc", "-O1", "-S", "-emit-llvm", source, "-o", "-"])
        self.assertIn("@tulle_coherent_store_range(", done.stdout)
        self.assertIn("@tulle_coherent_string(", done.stdout)
        self.assertNotIn("call\\t__isoc23", done.stdout)

    def test_targets_without_checks_are_refused(self):
        source = self.source("t.c", "int add(int* p, int n) { return *p += n; }\n")
        for words in (["--target=aarch64-linux-gnu"], ["-m32"], ["-mx32"]):
            for level in ("-O0", "-O2"):
                done = run([TULLE, "cc", level, *words, "-c", source, "-o", self.work / "t.o"])
                self.assertEqual(done.returncode, 1, words)
                self.assertRegex(done.stderr, r"^error: tulle cc: checks are there for x86-64 with pointers of 64 bits only, not for \S+\n")
                self.assertNotIn("Stack dump", done.stderr)
            self.assertEqual(run([TULLE, "cc", "--checks=none", *words, "-c", source, "-o", self.work / "t.o"]).returncode, 0)

    def test_only_so_much_is_known_of_a_function(self):
        """What is known at the ends of all blocks grows with the square of its accesses; beyond a bound each block has checks of its own."""
        for turns, is_known in ((50, True), (900, False)):
            ways = "".join(f"    if (x & {1 << k % 20}) p[{k * 8 % 8192 + 16}] += x;\n    x = x * 3 + p[{k * 40 % 32768 + 20}];\n" for k in range(turns))
            text = f"long first(long* p, long x) {{\n    *p = x;\n{ways}    return x;\n}}\nlong again(long* p, long x) {{\n    *p = x;\n{ways}    *p += x;\n    return x;\n}}\n"
            checks = {name: len(re.findall(r"call [^\n]*@tulle_coherent_(?:load|store)\(", body)) for name, body in self.bodies(text, "states", "-O1").items()}
            self.assertEqual(checks["again"] == checks["first"], is_known, checks)

    def test_loops_with_checks_ahead_of_them_are_vectorized(self):
        for scheme in ("states", "refresh"):
            bodies = self.bodies(VECTORIZED, scheme, "-O2")
            for function in re.findall(r"^\w+ (\w+)\(", VECTORIZED, re.M):
                body = bodies[function]
                kind = "load" if function == "sum" else "store"
                with self.subTest(scheme, function=function):
                    self.assertRegex(body, rf"{kind} <[0-9]+ x (i32|float|double)>")
                    if scheme != "refresh" or kind == "store":
                        self.assertRegex(body, rf"@tulle_coherent_{kind}_(range|rows)\(")

    def test_accesses_by_vectors_of_512_bits_have_checks(self):
        wanted = {}
        for function in re.findall(r"^(?:AVX512 )?\w+ (\w+)\(", VECTORS, re.M):
            wanted[function] = "load" if function.split("_")[0] in ("gather", "load", "expand") else "store"
        for scheme, call in (("states", r"@tulle_coherent_{}\("), ("refresh", r"@tulle_coherent_{}\("),
                             ("directory", r"@tulle_(directory_{}|coherent_copy)\("), ("races", r"@tulle_race_{}\(")):
            for level in ("-O0", "-O2"):
                bodies = self.bodies(VECTORS, scheme, level)
                for function, kind in wanted.items():
                    body = bodies[function]
                    has_checks = kind == "store" or scheme != "refresh"
                    self.assertEqual(re.search(call.format(kind), body) is not None, has_checks, (scheme, level, function))
                    self.assertNotIn("@llvm.x86.", body)

    def test_no_store_by_the_directory_comes_after_the_unlock(self):
        for scheme, is_left in (("states", True), ("directory", False)):
            bodies = self.bodies(VECTORS, scheme)
            for function in ("stream", "stream_vector"):
                self.assertEqual("!nontemporal" in bodies[function], is_left, (scheme, function))

    def test_list_names_instructions_that_have_no_checks(self):
        self.assertEqual(self.build("v.c", VECTORS + "int main(void) { return 0; }\n", "--list", "-O1").stdout, "")
        done = self.build("n.c", NARROWED, "--list", "-O1", "-g")
        self.assertIn("n.c:3: narrow has the instruction llvm.x86.avx512.mask.pmov.db.mem.512, which has no checks\n", done.stdout)
        self.assertIn("n.c:4: save has the instruction llvm.x86.fxsave, which has no checks\n", done.stdout)
        self.assertNotIn("control", done.stdout)
        self.assertNotIn("hint", done.stdout)

    def test_names_that_are_fortified_are_those_of_the_functions(self):
        """And functions that go by what they find, or that let others run."""
        functions = re.findall(r"^(.*?) (\w+)\((.*)\); /\* (.*) \*/$", FORTIFIED, re.M)
        calls = []
        for result, function, parameters, _ in functions:
            words = parameters.split(", ")
            if words[-1] == "...":
                words[-2:] = ["format", "other"]
            values = {"format": '"%d: %s\\n", n', "other": "q", "void*": "p", "char*": "p", "void const*": "q", "char const*": "q", "unsigned*": "0"}
            calls.append(f"{result} of_{function}(char* p, char const* q, int n) {{ return {function}({', '.join(values.get(word, 'n') for word in words)}); }}")
        text = FORTIFIED + "\n".join(calls) + "\nint main(void) { return 0; }\n"
        bodies = self.bodies(text.replace("#include", "//"), "states", "-O1")
        wanted = {"store": "@tulle_coherent_store_range(", "load": "@tulle_coherent_load_range(", "snprintf": "@snprintf("}
        for _, function, _, kinds in functions:
            for kind in kinds.split():
                self.assertIn(wanted.get(kind, f"@tulle_coherent_{kind}("), bodies[f"of_{function}"], function)
        done = run([TULLE, "cc", "-O1", "-S", "-emit-llvm", self.source("f.c", text), "-o", "-"])
        self.assertEqual(re.findall(r"call\\\\t(\w+)", done.stdout), ["tulle_recvfrom"])  # who has sent it

    def test_no_check_is_ahead_of_a_call_that_may_never_come_back(self):
        """Of the functions that loops call, one waits for a variable of the program's own."""
        bodies = self.bodies("""volatile int own; int seen;
__attribute__((noinline)) void stays(void) { while (own) {} }
__attribute__((noinline)) void returns(void) { ++seen; }
void twice_stays(double* m, long rows) { for (long r = 0; r < rows; ++r) { stays(); for (long c = 0; c < 60; ++c) m[r * 80 + c] = c; } }
void twice_returns(double* m, long rows) { for (long r = 0; r < rows; ++r) { returns(); for (long c = 0; c < 60; ++c) m[r * 80 + c] = c; } }
int main(void) { return 0; }
""", "states", "-O1", "-fno-inline")
        for function, is_ahead in (("stays", False), ("returns", True)):
            body = bodies[f"twice_{function}"]
            check = re.search(r"@tulle_coherent_store_(range|rows)\(", body)
            self.assertEqual(check.start() < body.index(f"@{function}("), is_ahead, body)

    def test_checks_that_ask_whether_there_is_coherent_memory(self):
        """All addresses of a process have states; but the loop may not come to the access, unless a guard says so, and a masked access touches nothing at times."""
        bodies = self.bodies("""#include <immintrin.h>
volatile int own;
__attribute__((noinline)) void stays(void) { while (own) {} }
int one(int const* a) { return *a; }
void pair(long* a) { a[0] = 1; a[1] = 2; }
long few(long const* a) { long s = 0; for (int i = 0; i < 50; ++i) s += a[i] ^ i; return s; }
long few_after_test(long* a) { for (int i = 0; ; ++i) { if (i == 13) return i; a[i] = i; } }
long many(long const* a) { long s = 0; for (int i = 0; i < 60; ++i) s += a[i] ^ i; return s; }
long few_or_none(long const* a) { long s = 0; for (int i = 0; i < 14; ++i) { stays(); s += a[i] ^ i; } return s; }
long guarded(long const* a, int rows, int some) {
    long s = 0;
    for (int r = 0; r < rows; ++r) { s ^= r; if (some) for (int i = 0; i < 14; ++i) s += a[i] ^ i; }
    return s;
}
__attribute__((target("avx2"))) __m256 masked(float const* a, __m256i mask) { return _mm256_maskload_ps(a, mask); }
int main(void) { return 0; }
""", "states", "-O1", "-fno-unroll-loops")
        for function, asks in (("one", 0), ("pair", 0), ("few", 0), ("few_after_test", 0), ("many", 2), ("few_or_none", 2), ("guarded", 0), ("masked", 1)):
            body = bodies[function]
            self.assertIn("@tulle_coherent_", body)
            self.assertEqual(len(re.findall(r"icmp eq i64 %\S+, (2|35184372088832)$", body, re.M)), asks, (function, body))

    def test_what_is_lent_is_used_by_no_call_that_is_marked_as_the_last_one(self):
        text = """#include <string.h>
long tulle_read(int file, void* to, unsigned long bytes);
long load(int file, char* to) { return tulle_read(file, to, 7); }
unsigned long length(char const* text) { return strlen(text); }
int main(void) { return 0; }
"""
        for scheme, function, call in (("states", "load", "@tulle_read("), ("directory", "length", "@strlen(")):
            line = next(line for line in self.bodies(text, scheme, "-O2")[function].splitlines() if call in line)
            self.assertNotIn("tail call", line.replace("notail call", ""), scheme)

    def test_stores_that_are_volatile_may_release(self):
        """They are done as atomic ones are, so that no right to store is kept over one that others may see."""
        bodies = self.bodies("""void seen(int* a, volatile int* v, int n) { for (int i = 0; i < n; ++i) { a[i] = i; *v = i; } }
void own(int* a, int n) { volatile int v; for (int i = 0; i < n; ++i) { a[i] = i; v = i; } }
int main(void) { return 0; }
""", "states", "-O1")
        self.assertNotIn("@tulle_coherent_store_range(", bodies["seen"])
        self.assertIn("@tulle_coherent_store_range(", bodies["own"])

    def test_list_names_lists_of_buffers(self):
        done = self.build("i.c", """#include <tulle.h>
ssize_t several(struct iovec const* parts) { return tulle_readv(0, parts, 2); }
ssize_t more(int s, struct msghdr* m) { return tulle_recvmsg(s, m, 0); }
int item(tulle_channel_t* c, int* into) { return tulle_channel_receive(c, into); }
ssize_t one(char* into) { return tulle_read(0, into, 7); }
ssize_t from(int s, char* into, struct sockaddr* who, socklen_t* n) { return tulle_recvfrom(s, into, 7, 0, who, n); }
ssize_t nobody(int s, char* into) { return tulle_recvfrom(s, into, 7, 0, NULL, NULL); }
ssize_t natively(int s, char* into, struct sockaddr* who, socklen_t* n) { return recvfrom(s, into, 7, 0, who, n); }
ssize_t to(int s, char const* from, struct sockaddr const* who) { return tulle_sendto(s, from, 7, 0, who, 16); }
int joined(tulle_thread* t, void** result) { return tulle_thread_join(t, result); }
int summed(double const* all, double* sum) { return tulle_loop_sum(all, 9, sum); }
int own(tulle_channel_t* c) { int word = 0; return tulle_channel_send(c, &word); }
int guarded(tulle_mutex_t* m) { return tulle_mutex_lock(m); }
int main(void) { return 0; }
""", "--list", "-O1", "-I", pathlib.Path(__file__).resolve().parents[2] / "include", "-L", TULLE.parent.parent / "lib", "-ltulle")
        self.assertEqual(set(re.findall(r": (\w+) hands memory to (\w+),", done.stdout)),
                         {("several", "tulle_readv"), ("more", "tulle_recvmsg"), ("item", "tulle_channel_receive"), ("from", "tulle_recvfrom"),
                          ("natively", "recvfrom"), ("joined", "tulle_thread_join"), ("summed", "tulle_loop_sum")})

    def test_atomic_operations_of_16_bytes(self):
        """They are done in place, and where races are looked for nothing is told of them, and nothing that stands beside them is left out."""
        text = """typedef _Atomic(__int128) wide;
__int128 load(wide* p) { return __c11_atomic_load(p, 5); }
void store(wide* p, __int128 n) { __c11_atomic_store(p, n, 5); }
__int128 swap(wide* p, __int128 n) { return __c11_atomic_exchange(p, n, 5); }
int compare(wide* p, __int128 a, __int128 b) { return __c11_atomic_compare_exchange_strong(p, &a, b, 5, 5); }
void plain_after(wide* p, long n) { __c11_atomic_store(p, 1, 5); *(long*)p = n; }
int main(void) { return 0; }
"""
        functions = {"load", "store", "swap", "compare", "plain_after"}
        bodies = self.bodies(text, "races", "-O1", "-mcx16")
        for function in functions:
            self.assertEqual(bodies[function].count("@tulle_race_"), int(function == "plain_after"), bodies[function])
        for scheme, sentence in (("states", "has an atomic operation that happens on this host only"),
                                 ("races", "has an atomic operation of more than 8 bytes, which is not seen where races are looked for")):
            done = self.build("w.c", text, "--list", f"--scheme={scheme}", "-O1", "-mcx16")
            self.assertEqual(set(re.findall(rf": (\w+) {sentence}\n", done.stdout)), functions)

    def test_a_function_may_be_chosen_while_the_program_is_linked(self):
        source = self.source("i.c", """__attribute__((target_clones("avx2", "default"))) int sum(int n) { return n + 1; }
int main(void) { return sum(1) - 2; }
""")
        self.assertEqual(run([TULLE, "cc", "--share-globals", "-O1", source, "-o", self.work / "i"]).returncode, 0)
        self.assertEqual(run([self.work / "i"]).returncode, 0)

    def test_objects_of_foreign_compilers_are_listed(self):
        self.assertEqual(run(["gcc", "-c", self.source("g.c", ELSEWHERE), "-o", self.work / "g.o"]).returncode, 0)
        done = self.build("f.c", FOREIGN, "--list", "-O1", self.work / "g.o")
        self.assertIn("main hands memory to elsewhere", done.stdout)
        self.assertIn("compiled without checks: elsewhere\n", done.stdout)

    def test_who_does_not_ask_hears_of_foreign_objects(self):
        """Nobody hands anything to `by_pointer`, which finds memory by itself."""
        foreign = self.source("p.c", "extern int* where; static int by_pointer(void) { return *where; }\nint (*const of)(void) = &by_pointer;\n")
        self.assertEqual(run(["gcc", "-O1", "-c", foreign, "-o", self.work / "p.o"]).returncode, 0)
        main = "int* where; extern int (*const of)(void); int main(void) { static int one = 1; where = &one; return of() - 1; }\n"
        done = self.build("m.c", main, self.work / "p.o")
        self.assertRegex(done.stderr, r"^tulle: cc: note: .*: compiled without checks: by_pointer\n$")
        done = self.build("m.c", main, "--list", self.work / "p.o")
        self.assertEqual((done.stdout, done.stderr), ("compiled without checks: by_pointer\n", ""))
        self.assertEqual(self.build("m.c", MAIN, "-O2").stderr, "")

    def test_who_has_checks_is_not_named_by_another_name(self):
        """Constructors and destructors have two names, and any function may; what compilers bring along is left out."""
        text = """#include <cstdlib>
struct base { explicit base(int n); virtual ~base(); int n; };
struct derived : virtual base { derived(); ~derived(); };
__attribute__((noinline)) base::base(int by) : n(by) {}
__attribute__((noinline)) base::~base() { n = 0; }
__attribute__((noinline)) derived::derived() : base(1) {}
__attribute__((noinline)) derived::~derived() {}
int main() { derived d; base b(1); return d.n - b.n; }
"""
        for level in ("-O0", "-O2"):
            self.assertEqual(self.build("c.cpp", text, level, command="c++").stderr, "")
        text = """#include <stdlib.h>
#include <pthread.h>
int one(int n) { return n + 1; }
int other(int n) __attribute__((alias("one")));
static int local(int n) __attribute__((alias("one")));
static int more(int n) { return n + 2; }
static void* choose(void) { return (void*)more; }
int chosen(int n) __attribute__((ifunc("choose")));
static void end(void) {}
int main(int argc, char** argv) {
    __int128 wide = argc;
    _Complex double c = argc;
    atexit(end); at_quick_exit(end); pthread_atfork(end, end, end);
    return other(argc) + local(argc) + chosen(argc) + (int)(wide / (argc + 1) + wide % (argc + 2)) + (int)(__real__(c * c / c) + __builtin_powi((double)argc, argc)) < 0;
}
"""
        self.assertEqual(self.build("a.c", text, "-O1").stderr, "")

    def test_a_local_function_stands_for_none_of_another_file(self):
        own = "static void elsewhere(int* number) { *number = 1; }\nvoid (*volatile of)(int*) = elsewhere;\n"
        use = "void elsewhere(int*); int main(int argc, char** argv) { elsewhere((int*)(void*)argv[0]); return argc > 9; }\n"
        self.assertEqual(run(["gcc", "-c", self.source("g.c", ELSEWHERE), "-o", self.work / "g.o"]).returncode, 0)
        done = self.build("u.c", use, "--list", "-O1", self.source("o.c", own), self.work / "g.o")
        self.assertIn("main hands memory to elsewhere", done.stdout)
        self.assertIn("compiled without checks: elsewhere\n", done.stdout)
        done = self.build("u.c", use, "--list", "-O1", self.source("o.c", own), self.source("e.c", ELSEWHERE))
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_list_names_variables_that_are_shared(self):
        text = """#include <string.h>
#include <signal.h>
#include <sys/time.h>
struct timeval stamp; char text[80]; int word; static const char k_name[] = "name"; __thread int own;
void at(void) { gettimeofday(&stamp, 0); }
char* first(void) { return strtok(text + 1, " "); }
void count(void) { __asm__ volatile("incl %0" : "+m"(word)); }
int foreign(void const*); int main(void);
void quiet(void) { foreign(k_name); foreign(&own); foreign(0); foreign((void*)main); signal(SIGINT, SIG_IGN); }
int main(void) { return 0; }
"""
        foreign = self.work / "f.o"
        self.assertEqual(run(["gcc", "-c", self.source("f.c", "int foreign(void const* p) { return p == 0; }\n"), "-o", foreign]).returncode, 0)
        for words, wanted in (([], set()), (["--share-globals"], {"at", "first", "count"})):
            done = self.build("v.c", text, "--list", "-O1", *words, foreign)
            self.assertEqual(set(re.findall(r": (\w+) ha(?:nds|s) ", done.stdout)), wanted)

    def test_list_names_no_operator_delete(self):
        text = """struct alignas(64) wide { int n[64]; };
void of_one(int* p) { delete p; }
void of_array(int* p) { delete[] p; }
void of_wide(wide* p) { delete p; }
void of_wides(wide* p) { delete[] p; }
int main() {}
"""
        self.assertEqual(self.build("d.cpp", text, "--list", "-O1", "-std=c++17", command="c++").stdout, "")
    def test_what_is_missing_is_named(self):
        done = run([TULLE, "cc", "--clang=no-such-clang", "-c", "x.c"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^tulle: cc: there is no no-such-clang; install clang-\d+")
        fake = self.source("clang", "#!/bin/sh\necho 3.0.0\n")
        fake.chmod(0o755)
        done = run([TULLE, "cc", f"--clang={fake}", "-c", "x.c"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"has version 3, for which there is no plug-in; install clang-\d+")
        self.assertEqual(run([TULLE, "cc"]).returncode, 2)
        self.assertEqual(run([TULLE, "cc", "--checks=some", "x.c"]).returncode, 2)

    def test_code_that_runs_before_constructors_has_the_table(self):
        for name, text in EARLY.items():
            for words in (["-O0"], ["-O2"], ["--share-globals", "-O0"], ["--scheme=directory", "-O1"]):
                with self.subTest(name, words=words):
                    done = run([TULLE, "cc", *words, self.source(f"{name}.c", text), "-o", self.work / "program"])
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(run([self.work / "program"]).returncode, 0)

    def test_programs_that_are_linked_statically(self):
        text = "int x; int main(int n, char** words) { (void)words; int* p = n > 1 ? &x : &n; *p = 3; return *p - 3; }\n"
        self.assertEqual(run([TULLE, "cc", "-O0", "-c", self.source("s.c", text), "-o", self.work / "s.o"]).returncode, 0)
        for kind in ("-static", "-pie", "-no-pie"):
            done = run(["g++", kind, self.work / "s.o", TULLE.parent.parent / "lib/libtulle.a", "-o", self.work / "program"])
            self.assertEqual((done.returncode, run([self.work / "program"]).returncode), (0, 0), (kind, done.stderr))

    def test_program_ends_where_there_is_no_room_for_the_table(self):
        self.build("m.c", MAIN)
        done = run(["sh", "-c", f"ulimit -v 100000000; {self.work}/program"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no room for the table of states", done.stderr)

    def test_moved_tree(self):
        moved = self.work / "moved"
        for folder in ("bin", "lib/tulle"):
            (moved / folder).mkdir(parents=True)
        shutil.copy2(TULLE, moved / "bin/tulle")
        for library in (TULLE.parent.parent / "lib").glob("libtulle.so*"):
            shutil.copy2(library, moved / "lib" / library.name, follow_symlinks=False)
        for plugin in (TULLE.parent.parent / "lib/tulle").glob("*.so"):
            shutil.copy2(plugin, moved / "lib/tulle")
        os.symlink((TULLE.parent.parent / "include").resolve(), moved / "include")
        done = run([moved / "bin/tulle", "cc", self.source("m.c", MAIN), "-o", self.work / "program"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(moved / "lib"), run(["ldd", self.work / "program"]).stdout)
        for plugin in (moved / "lib/tulle").glob("*.so"):
            plugin.unlink()
        done = run([moved / "bin/tulle", "cc", "-c", "x.c"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no plug-in of clang in", done.stderr)


unittest.main()
