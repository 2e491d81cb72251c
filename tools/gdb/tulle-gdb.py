# SPDX-License-Identifier: Apache-2.0
"""Tulle's threads in gdb, in live processes and core files: `tulle threads`, `tulle bt ID`, `tulle bt all`.

All that it reads is described by the table `tulle_debug_layout` of the library (src/sched/watch/debug_layout.hpp), so it works with builds
without debug information. A thread that waits has no registers in any OS thread. To show its stack, an unwinder is put in front of gdb's
own: it says that the caller of the selected OS thread's innermost frame is where the waiting thread goes on, and that frame is not shown.
"""
import re
import struct

import gdb
import gdb.unwinder

VERSION = 1
WORKER_KINDS = ("dedicated", "adopted", "guest")
LIBRARIES = re.compile(r"/(libtulle|libc|libstdc\+\+|libgcc_s|libpthread|ld-linux[-\w]*|linux-vdso)[-.][^/]*$")
BOTTOM = re.compile(r"tulle_context_entry|tulle::sched::(run_\w+|start_thread_record|loop_main|own_stack_main|find_work)$")
WRAPPER = re.compile(r"(void )?tulle::detail::\w+<")  # what headers put around the user's function, which may be inlined into it
MOST_FRAMES = 100  # that are searched for the user's function
MOST_SHOWN = 200


class Memory:
    """Reads of the inferior."""

    @staticmethod
    def bytes(address, size):
        return bytes(gdb.selected_inferior().read_memory(address, size))

    @classmethod
    def word(cls, address):
        return struct.unpack("Q", cls.bytes(address, 8))[0]

    @classmethod
    def u32(cls, address):
        return struct.unpack("I", cls.bytes(address, 4))[0]

    @classmethod
    def text(cls, address):
        return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()


class Layout:
    """The table: layout["worker.current"] is an offset; field(address, "worker.current") the word there."""

    def __init__(self):
        try:
            table = int(gdb.parse_and_eval("(long)&tulle_debug_layout"))
        except gdb.error:
            raise gdb.GdbError("This program has no Tulle in it, or it is not loaded yet.") from None
        mark, version, count, self.scheduler, self.names, self.current_worker, entries = struct.unpack(
            "16sIIQQqQ", Memory.bytes(table, 56))
        if mark.rstrip(b"\0") != b"tulle threads" or version != VERSION:
            raise gdb.GdbError(f"Tulle's library describes itself in version {version}; this script reads {VERSION}.")
        if self.scheduler == 0:
            raise gdb.GdbError("Tulle has not been used yet.")
        raw = Memory.bytes(entries, 16 * count)
        self.values = {Memory.text(name): value for name, value in struct.iter_unpack("QQ", raw)}

    def __getitem__(self, name):
        return self.values[name]

    def field(self, address, name, read=Memory.word):
        return read(address + self.values[name])

    def flag(self, address, name):
        return Memory.bytes(address + self.values[name], 1)[0]

    def list(self, address):
        """The members of a runnable_list."""
        one = self.field(address, "runnable_list.m_first")
        while one != 0:
            yield one
            one = self.field(one, "runnable.next")

    def vector(self, address):
        """A std::vector of pointers."""
        begin, end = struct.unpack("QQ", Memory.bytes(address, 16))
        return [pointer for pointer, in struct.iter_unpack("Q", Memory.bytes(begin, end - begin))] if end > begin else []

    def growing_list(self, address):
        """A growing_list of pointers."""
        items, count = self.field(address, "growing_list.m_items"), self.field(address, "growing_list.m_count")
        return [pointer for pointer, in struct.iter_unpack("Q", Memory.bytes(items, 8 * count))] if count else []

    def thread_names(self):
        """Id -> name, from libstdc++'s unordered_map: its nodes are in one list, each {next, id, {characters, length}}."""
        found = {}
        node = Memory.word(self.names + 16) if self.names else 0
        while node != 0:
            node, identity, characters, length = struct.unpack("QQQQ", Memory.bytes(node, 32))
            found[identity] = Memory.bytes(characters, length).decode(errors="replace") if length else ""
        return found


class Registers:
    """Where a context that is suspended goes on, by gdb's names of registers."""

    def __init__(self, layout, fiber):
        saved = layout.field(fiber, "fiber.context")
        self.known = (self.from_assembly, self.from_ucontext, self.from_setjmp)[layout["context"]](saved)

    @staticmethod
    def from_assembly(saved):
        """src/arch/x86_64/asm_backend.hpp. A context that has not run yet has less on its stack."""
        pc, rbp = struct.unpack("QQ", Memory.bytes(saved, 16))
        fresh = str(gdb.parse_and_eval(f"(void *){pc}")).find("tulle_context_entry") >= 0
        return {"rip": pc, "rbp": rbp, "rsp": saved + (8 if fresh else 152)}

    @staticmethod
    def from_ucontext(saved):
        names = ("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip")
        values = struct.unpack("17Q", Memory.bytes(saved + 40, 8 * 17))
        return dict(zip(names, values))

    @staticmethod
    def from_setjmp(saved):
        """glibc hides three of them: rotated and mixed with a word of the OS thread's control block."""
        names = ("rbx", "rbp", "r12", "r13", "r14", "r15", "rsp", "rip")
        known = dict(zip(names, struct.unpack("8Q", Memory.bytes(saved, 64))))
        secret = Memory.word(int(gdb.selected_frame().read_register("fs_base")) + 0x30)
        for name in ("rbp", "rsp", "rip"):
            value = known[name]
            known[name] = ((value >> 17) | (value << 47)) & (2**64 - 1) ^ secret
        return known


class FrameIdentity:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class SuspendedUnwinder(gdb.unwinder.Unwinder):
    """While a context is set, the innermost frame of the selected OS thread seems to be called from there."""

    def __init__(self):
        super().__init__("tulle")
        self.target = None
        self.here = None

    def __call__(self, pending):
        if self.target is None:
            return None
        sp, pc = pending.read_register("rsp"), pending.read_register("rip")
        if (int(sp), int(pc)) != self.here:
            return None
        inner = gdb.Value(self.target["rsp"] - 8).cast(sp.type)  # not above the frames that follow
        info = pending.create_unwind_info(FrameIdentity(inner, pc))
        for name, value in self.target.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info

    def show(self, registers):
        frame = gdb.newest_frame()
        self.here = (int(frame.read_register("rsp")), int(frame.read_register("rip")))
        self.target = registers.known
        gdb.invalidate_cached_frames()

    def hide(self):
        if self.target is None:
            return
        self.target = None
        gdb.invalidate_cached_frames()


UNWINDER = SuspendedUnwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)


class SelectedThread:
    """Puts the selected OS thread and frame back."""

    def __enter__(self):
        self.thread = gdb.selected_thread()
        if self.thread is None:
            raise gdb.GdbError("The program is not being run.")
        if gdb.selected_inferior().architecture().name() != "i386:x86-64":
            raise gdb.GdbError("Tulle's stacks can be shown on x86-64 only.")
        return self

    def __exit__(self, *_):
        UNWINDER.hide()
        if self.thread.is_valid():
            self.thread.switch()


class Thread:
    """One of Tulle's threads."""

    def __init__(self, label, state, site, fiber=0, span=None, os_thread=None):
        self.label, self.state, self.site, self.fiber, self.span, self.os_thread = label, state, site, fiber, span, os_thread
        self.name = ""

    def has_stack(self):
        return self.fiber != 0

    def select(self, layout):
        """Makes the frames of this thread those that gdb sees; the innermost one that counts."""
        UNWINDER.hide()
        if self.os_thread is not None:
            self.os_thread.switch()
            return gdb.newest_frame()
        UNWINDER.show(Registers(layout, self.fiber))
        borrowed = gdb.newest_frame()
        while borrowed.type() == gdb.INLINE_FRAME:
            borrowed = borrowed.older()
        return borrowed.older()


class Snapshot:
    """All threads of the process, as its memory says now. A process that is stopped in the middle of a switch may have one of them in
    neither place."""

    def __init__(self):
        self.layout = layout = Layout()
        scheduler = layout.scheduler
        self.workers = layout.growing_list(scheduler + layout["scheduler.m_workers"])
        self.shepherds = layout.vector(scheduler + layout["scheduler.m_shepherds"])
        self.guests = self.attached_guests()
        self.spares = set(layout.list(scheduler + layout["scheduler.m_shared_spares"]))
        self.cached = set()
        for worker in self.workers:
            self.spares |= {*layout.list(worker + layout["worker.spares"]), layout.field(worker, "worker.emergency")}
            self.cached |= self.cached_stacks(worker + layout["worker.stacks"])
        self.os_threads = self.find_os_threads()
        self.running = {}
        for worker in [*self.workers, *(guest + layout["guest.as_worker"] for guest in self.guests)]:
            self.running[layout.field(worker, "worker.current")] = worker
        self.queued = self.find_queued()
        self.names = layout.thread_names()
        self.idle = 0

    def attached_guests(self):
        layout = self.layout
        free, one = set(), layout.field(layout.scheduler, "scheduler.m_free_guests")
        while one != 0:
            free.add(one)
            one = layout.field(one, "guest.next_free")
        attached, one = [], layout.field(layout.scheduler, "scheduler.m_guests")
        while one != 0:
            if one not in free:
                attached.append(one)
            one = layout.field(one, "guest.next")
        return attached

    def cached_stacks(self, cache):
        layout = self.layout
        count = layout.field(cache, "stack_cache.m_count")
        first, step = cache + layout["stack_cache.m_free"], layout["size of span"]
        return {layout.field(first + step * k, "span.low") for k in range(count)}

    def find_os_threads(self):
        """Worker -> gdb's thread."""
        found = {}
        with SelectedThread():
            for one in gdb.selected_inferior().threads():
                one.switch()
                try:
                    pthread = int(gdb.newest_frame().read_register("fs_base"))
                    found[Memory.word(pthread + self.layout.current_worker)] = one
                except (gdb.error, ValueError):
                    continue  # an OS thread that has just been born
        return found

    def find_queued(self):
        """All that is in a queue: fibers that are ready, records of threads that have not started."""
        layout, queued = self.layout, set()
        for worker in self.workers:
            queued |= set(layout.list(worker + layout["worker.ready"] + layout["ready_queue.m_list"]))
            handoff = worker + layout["worker.sleeper"] + layout["sleeper.m_handoff"]
            queued |= {layout.field(worker, "worker.start_next"), layout.field(worker, "worker.mailbox"), Memory.word(handoff)}
        for shepherd in self.shepherds:
            for which in ("shepherd.placed", "shepherd.injected"):
                queued |= set(layout.list(shepherd + layout[which]))
        return queued - {0}

    def pooled_fibers(self):
        """(fiber, span) for each stack that is in use and in no cache."""
        layout = self.layout
        pool = layout.field(layout.scheduler, "scheduler.m_stacks")
        for k in range(layout["classes of stacks"] if pool != 0 else 0):
            yield from self.fibers_of_arena(Memory.word(pool + layout["stack_pool.m_arenas"] + 8 * k))

    def fibers_of_arena(self, arena):
        layout = self.layout
        size, guard = layout.field(arena, "stack_arena.m_bytes"), layout.field(arena, "stack_arena.m_guard_bytes")
        slabs = layout.field(arena, "stack_arena.m_slabs")
        for k in range(layout.field(arena, "stack_arena.m_slab_count", Memory.u32)):
            slab = slabs + layout["size of slab"] * k
            base, fresh = layout.field(slab, "slab.base"), layout.field(slab, "slab.fresh", Memory.u32)
            words = struct.unpack(f"{fresh}I", Memory.bytes(layout.field(slab, "slab.next"), 4 * fresh)) if fresh else ()
            for index, word in enumerate(words):
                low, end = base + index * size + guard, base + (index + 1) * size
                if word == layout["stack in use"] and low not in self.cached:
                    yield end - layout["bytes of a pooled fiber"], (low, end)

    def fibers(self):
        layout = self.layout
        for worker in self.workers:
            if WORKER_KINDS[layout.flag(worker, "worker.kind")] == "adopted":
                yield layout.scheduler + layout["scheduler.m_adopted"], None
        for guest in self.guests:
            yield guest + layout["guest.stack"], None
        for fiber, span in self.pooled_fibers():
            # A stack that was taken this moment has no fiber yet.
            if fiber not in self.spares and layout.field(fiber + layout["fiber.stack"], "span.low") == span[0]:
                yield fiber, span

    def threads(self):
        for fiber, span in self.fibers():
            yield from self.threads_of(fiber, span)
        for record in sorted(self.queued):
            if self.layout.flag(record, "runnable.kind") != 0 and self.layout.flag(record, "thread_record.claimed") == 0:
                identity, site = self.layout.field(record, "thread_record.id"), self.layout.field(record, "thread_record.site")
                yield self.named(Thread(str(identity), "not started", site))

    def named(self, thread):
        thread.name = self.names.get(int(thread.label), "") if thread.label.isdigit() else ""
        return thread

    def threads_of(self, fiber, span):
        """The thread that a stack belongs to, and those in whose frames it was started."""
        layout = self.layout
        worker = self.running.get(fiber)
        os_thread = self.os_threads.get(worker)
        identities = self.identities(fiber)
        innermost = Thread(identities[0][0], self.state(fiber, worker), identities[0][1], fiber, span, os_thread)
        if worker is not None and not layout.field(fiber, "fiber.frame") and self.is_loop(innermost):
            self.idle += 1
            return
        yield self.named(innermost)
        for label, site in identities[1:]:
            yield self.named(Thread(label, f"nested: runs {innermost.label} in its own frame", site, fiber, span, os_thread))

    def identities(self, fiber):
        """(id, where it was spawned), innermost first. A forked thread has neither: it is called by the address of its stack's fiber."""
        layout, found, frame = self.layout, [], self.layout.field(fiber, "fiber.frame")
        while frame != 0:
            found.append((str(layout.field(frame, "thread_frame.id")), layout.field(frame, "thread_frame.site")))
            frame = layout.field(frame, "thread_frame.outer")
        return found or [(hex(fiber), 0)]

    def state(self, fiber, worker):
        if worker is None:
            return "ready" if fiber in self.queued else "blocked"
        if WORKER_KINDS[self.layout.flag(worker, "worker.kind")] == "guest":
            return "foreign"
        return f"running on worker {self.layout.field(worker, 'worker.index', Memory.u32)}"

    def is_loop(self, thread):
        """Whether nothing of the user's stands on a stack that is known by no identity: an idle worker."""
        if thread.os_thread is None:
            return True
        with SelectedThread():
            return innermost_of_user(thread.select(self.layout))[0] is None

    def find(self, label):
        for thread in self.threads():
            if thread.label == label:
                return thread
        raise gdb.GdbError(f"There is no thread {label}; `tulle threads` lists them.")


def plain_name(frame):
    """The name of a function without arguments and template arguments; a symbol may have its type in front."""
    name, before = re.sub(r"^(void|bool|auto|decltype\(auto\)) ", "", frame.name() or ""), None
    while name != before:
        name, before = re.sub(r"<[^<>]*>", "", name), name
    return re.sub(r"\(.*", "", name.replace("(anonymous namespace)::", ""))


def is_internal(frame):
    """Whether a frame belongs to Tulle or to the system."""
    if re.match(r"(tulle::|tulle_|std::|__)", plain_name(frame)):
        return True
    library = gdb.solib_name(frame.pc())
    return library is not None and LIBRARIES.search(library) is not None


def innermost_of_user(frame):
    """(the user's innermost frame or None, the name of the call that it made into Tulle or None)"""
    called = None
    for _ in range(MOST_FRAMES):
        if frame is None or BOTTOM.match(plain_name(frame)):
            break
        if not is_internal(frame) or WRAPPER.match(frame.name() or ""):
            return frame, called
        if plain_name(frame).startswith("tulle"):
            called = plain_name(frame)
        try:
            frame = frame.older()
        except gdb.error:
            break
    return None, called


def describe(frame):
    """Function and place of a frame."""
    if frame is None:
        return "-"
    place = frame.find_sal()
    name = plain_name(frame) or hex(frame.pc())
    return f"{name} at {place.symtab.filename}:{place.line}" if place.symtab is not None else name


def describe_site(site):
    """The call before a return address."""
    if site == 0:
        return "-"
    block, inlined = gdb.block_for_pc(site - 1), False
    while block is not None and (block.function is None or block.function.name.startswith("tulle::")):
        inlined = inlined or block.function is not None
        block = block.superblock
    if block is not None:
        place = gdb.find_pc_line(site - 1)  # of what is inlined there
        return block.function.name + ("" if inlined else f" at {place.symtab.filename}:{place.line}")
    symbol = re.match(r"(.+?) \+ \d+ in section", gdb.execute(f"info symbol {site - 1}", to_string=True))
    return symbol[1] if symbol else hex(site)


class TulleCommand(gdb.Command):
    """Threads of the Tulle library."""

    def __init__(self):
        super().__init__("tulle", gdb.COMMAND_STACK, prefix=True)


class ThreadsCommand(gdb.Command):
    """List Tulle's threads: tulle threads [-all]

Id, name, state, where: the innermost function that is not Tulle's or the system's, and the span of the stack.
A forked thread that has no id is called by an address. Without -all the first 200 are shown, the rest is counted."""

    def __init__(self):
        super().__init__("tulle threads", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument not in ("", "-all"):
            raise gdb.GdbError("Usage: tulle threads [-all]")
        most = float("inf") if argument else MOST_SHOWN
        with SelectedThread():
            snapshot, rows, counts = Snapshot(), [("Id", "Name", "State", "Where", "Stack")], {}
            for number, thread in enumerate(snapshot.threads()):
                kind = re.sub(r"^(running|nested).*", r"\1", thread.state)
                counts[kind] = counts.get(kind, 0) + 1
                if number < most:
                    rows.append(self.row(snapshot.layout, thread))
        print_table(rows)
        total = sum(counts.values())
        if total > most:
            gdb.write(f"... and {total - most} more; `tulle threads -all` shows them.\n")
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        gdb.write(f"{total} threads ({kinds}) on {len(snapshot.workers)} workers, {snapshot.idle} of them idle.\n")

    @staticmethod
    def row(layout, thread):
        frame, called, state = None, None, thread.state
        if thread.has_stack():
            frame, called = innermost_of_user(thread.select(layout))
        if called is not None and state in ("blocked", "foreign"):
            state += f" in {called}"
        if thread.os_thread is not None:
            state += f" (OS thread {thread.os_thread.num})"
        where = describe(frame) if thread.has_stack() else f"(spawned by {describe_site(thread.site)})"
        span = f"{thread.span[0]:#x}-{thread.span[1]:#x}" if thread.span else "-"
        return thread.label, thread.name or "-", state, where, span


def print_table(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        gdb.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n")


class BacktraceCommand(gdb.Command):
    """Show the stack of a thread, or of all: tulle bt ID|all [arguments of bt]

ID is the first column of `tulle threads`. The arguments are handed to gdb's own bt, as in `tulle bt 7 full`."""

    def __init__(self):
        super().__init__("tulle bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        which, _, rest = argument.strip().partition(" ")
        if not which:
            raise gdb.GdbError("Usage: tulle bt ID|all [arguments of bt]")
        with SelectedThread():
            snapshot = Snapshot()
            for thread in snapshot.threads() if which == "all" else [snapshot.find(which)]:
                self.show(snapshot.layout, thread, rest)

    @staticmethod
    def show(layout, thread, arguments):
        name = f' "{thread.name}"' if thread.name else ""
        site = f", spawned by {describe_site(thread.site)}" if thread.site else ""
        gdb.write(f"Thread {thread.label}{name}: {thread.state}{site}\n")
        if thread.has_stack():
            first = thread.select(layout)
            if thread.os_thread is not None:
                gdb.execute(f"bt {arguments}")
            elif first is not None:
                shift = first.level()
                more = re.sub(r"(?<![-\w])\d+", lambda m: str(int(m[0]) + shift), arguments)
                gdb.write(renumbered(gdb.execute(f"bt {more}", to_string=True), shift))
        gdb.write("\n")


def renumbered(text, shift):
    """What bt said, without the frames below number `shift`."""
    frames = [m for m in re.finditer(r"^#(\d+)", text, re.MULTILINE) if int(m[1]) >= shift]
    text = text[frames[0].start():] if frames else ""
    return re.sub(r"^#(\d+) ( ?)", lambda m: f"#{int(m[1]) - shift}".ljust(len(m[0])), text, flags=re.MULTILINE)


TulleCommand()
ThreadsCommand()
BacktraceCommand()
