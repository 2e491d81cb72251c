# SPDX-License-Identifier: Apache-2.0
#
# tulle_glob(OUT pattern...): files below this project that match, without those in the folder of another architecture.
set(tulle_architectures x86_64 aarch64 riscv64 ppc64 sparc64 sparc i386 arm s390x)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    if(CMAKE_SIZEOF_VOID_P EQUAL 4)
        set(TULLE_ARCH i386)
    else()
        set(TULLE_ARCH x86_64)
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(TULLE_ARCH aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
    set(TULLE_ARCH arm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(i[3-6]86|x86)$")
    set(TULLE_ARCH i386)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^ppc64(le)?$") # of either byte order and ABI
    set(TULLE_ARCH ppc64)
elseif(CMAKE_SYSTEM_PROCESSOR IN_LIST tulle_architectures)
    set(TULLE_ARCH ${CMAKE_SYSTEM_PROCESSOR})
else()
    set(TULLE_ARCH unknown)
    if(TULLE_ARCH_BACKEND STREQUAL "asm")
        message(FATAL_ERROR "There is no assembly switch for '${CMAKE_SYSTEM_PROCESSOR}'; use -DTULLE_ARCH_BACKEND=ucontext")
    endif()
endif()

set(TULLE_ARCH_FOLDER ${TULLE_ARCH})
if(TULLE_ARCH STREQUAL "ppc64le") # one folder for both byte orders
    set(TULLE_ARCH_FOLDER ppc64)
endif()
set(foreign_architectures ${tulle_architectures})
list(REMOVE_ITEM foreign_architectures ${TULLE_ARCH_FOLDER})
list(JOIN foreign_architectures "|" foreign_pattern)

function(tulle_glob out)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE patterns)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
    list(FILTER files EXCLUDE REGEX "/arch/(${foreign_pattern})/")
    set(${out} ${files} PARENT_SCOPE)
endfunction()
