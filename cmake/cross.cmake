# SPDX-License-Identifier: Apache-2.0
#
# The toolchain file of every other architecture: a Debian cross compiler and qemu's user-mode emulator. scripts/cross uses it; by hand:
#   cmake -S . -B build/cross/riscv64 --toolchain cmake/cross.cmake -DTULLE_TARGET=riscv64
# TULLE_TARGET chooses a line of the table below. For a target that has none, give what the lines give: TULLE_TRIPLE (of the compiler and its
# libraries), TULLE_PROCESSOR (folder of src/arch), TULLE_EMULATOR (program), and where they are needed TULLE_TARGET_FLAGS (for compiler and
# linker) and TULLE_SYSROOT (where the emulated program finds its dynamic linker).
set(CMAKE_SYSTEM_NAME Linux)

function(tulle_target name triple processor emulator)
    if(TULLE_TARGET STREQUAL name)
        set(TULLE_TRIPLE ${triple} CACHE STRING "Prefix of the cross compiler's programs")
        set(TULLE_PROCESSOR ${processor} CACHE STRING "Processor, as CMake and src/arch name it")
        set(TULLE_EMULATOR ${emulator} CACHE STRING "Program that runs programs of the target")
        set(TULLE_TARGET_FLAGS "${ARGN}" CACHE STRING "Flags that choose the target, of the compiler and the linker")
    endif()
endfunction()

#            name     triple                  processor  emulator          flags
tulle_target(aarch64  aarch64-linux-gnu       aarch64    qemu-aarch64      -mbranch-protection=standard)
tulle_target(riscv64  riscv64-linux-gnu       riscv64    qemu-riscv64)
tulle_target(ppc64le  powerpc64le-linux-gnu   ppc64le    qemu-ppc64le)
tulle_target(ppc64    powerpc64-linux-gnu     ppc64      qemu-ppc64        -maltivec)
tulle_target(sparc64  sparc64-linux-gnu       sparc64    qemu-sparc64)
tulle_target(sparc    sparc64-linux-gnu       sparc      qemu-sparc32plus  -m32)
tulle_target(i386     i686-linux-gnu          i386       qemu-i386)
tulle_target(armhf    arm-linux-gnueabihf     arm        qemu-arm          -marm)
tulle_target(s390x    s390x-linux-gnu         s390x      qemu-s390x)

if(NOT TULLE_TRIPLE OR NOT TULLE_PROCESSOR)
    message(FATAL_ERROR "cmake/cross.cmake knows no target '${TULLE_TARGET}': give -DTULLE_TARGET=NAME with a name of its table, or TULLE_TRIPLE, "
        "TULLE_PROCESSOR and TULLE_EMULATOR")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TULLE_TARGET TULLE_TRIPLE TULLE_PROCESSOR TULLE_EMULATOR TULLE_TARGET_FLAGS TULLE_SYSROOT)

set(CMAKE_SYSTEM_PROCESSOR ${TULLE_PROCESSOR})
set(CMAKE_C_COMPILER ${TULLE_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${TULLE_TRIPLE}-g++)
set(CMAKE_ASM_COMPILER ${TULLE_TRIPLE}-gcc)
foreach(language C CXX ASM)
    string(REPLACE ";" " " CMAKE_${language}_FLAGS_INIT "${TULLE_TARGET_FLAGS}")
endforeach()

# Debian keeps the 32-bit libraries of SPARC beside the 64-bit ones, where no dynamic linker's path leads to.
if(NOT TULLE_SYSROOT)
    set(TULLE_SYSROOT /usr/${TULLE_TRIPLE})
    if(TULLE_TARGET STREQUAL sparc)
        set(TULLE_SYSROOT ${CMAKE_BINARY_DIR}/sysroot)
        file(MAKE_DIRECTORY ${TULLE_SYSROOT})
        file(CREATE_LINK /usr/${TULLE_TRIPLE}/lib32 ${TULLE_SYSROOT}/lib SYMBOLIC)
    endif()
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR "${TULLE_EMULATOR};-L;${TULLE_SYSROOT}")
# When a signal comes qemu-sparc32plus loses the upper halves of registers, with which the C library's strcmp computes: a name that a test looks
# up while its timer signals may not be found. All are looked up at the start.
if(TULLE_TARGET STREQUAL sparc)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -E LD_BIND_NOW=1)
endif()
# Processors of x86-64 run programs of i386 themselves, by way of their dynamic linker. qemu-i386 hangs where a context moves to another OS thread.
if(TULLE_TARGET STREQUAL i386 AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL x86_64)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${TULLE_SYSROOT}/lib/ld-linux.so.2;--library-path;${TULLE_SYSROOT}/lib")
endif()

# Headers and libraries are those of the target; programs, and what has headers only, those of this machine.
set(CMAKE_FIND_ROOT_PATH /usr/${TULLE_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} /usr/${TULLE_TRIPLE}/lib/pkgconfig:/usr/lib/${TULLE_TRIPLE}/pkgconfig)
