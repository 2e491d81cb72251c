# SPDX-License-Identifier: Apache-2.0
#
# The plug-ins libtulle-mpi-FLAVOUR.so: src/mpi compiled with each MPI that is found, by its compiler wrapper. -DTULLE_MPICC=PATH names the wrapper of an
# MPI elsewhere. Nothing else is compiled with an MPI or links one, but for the peers in bench/.
set(TULLE_MPICC "" CACHE STRING "Compiler wrappers of MPIs (mpicc) besides mpicc.openmpi, mpicc.mpich and mpicc; a list")
set(tulle_mpi_flavours "")
tulle_glob(mpi_sources src/mpi/*.cpp)
file(WRITE ${PROJECT_BINARY_DIR}/mpi_probe.c [[
#include <mpi.h>
#if defined(OPEN_MPI)
tulle_flavour=openmpi
#elif defined(MPICH_VERSION) || defined(MVAPICH2_VERSION) || defined(I_MPI_VERSION)
tulle_flavour=mpich
#endif
]])

# The flavour of a wrapper; empty: it is none that can be used.
function(tulle_mpi_flavour wrapper out)
    execute_process(COMMAND ${wrapper} -E ${PROJECT_BINARY_DIR}/mpi_probe.c OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
    set(${out} "" PARENT_SCOPE)
    if(NOT failed AND text MATCHES "tulle_flavour=([a-z]+)")
        set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
endfunction()

function(tulle_add_mpi_plugin flavour wrapper)
    execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${words}")
    set(folders ${words})
    list(FILTER folders INCLUDE REGEX "^-I")
    list(TRANSFORM folders REPLACE "^-I" "")
    set(links ${words})
    list(FILTER links INCLUDE REGEX "^(-L|-l|-Wl,)")
    set(mpi tulle_with_${flavour})
    add_library(${mpi} INTERFACE)
    target_include_directories(${mpi} SYSTEM INTERFACE ${folders})
    target_compile_definitions(${mpi} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1) # the old C++ interfaces
    target_link_libraries(${mpi} INTERFACE ${links})
    set(target tulle_mpi_${flavour})
    add_library(${target} MODULE ${mpi_sources})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME tulle-mpi-${flavour} CXX_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE tulle_flags ${mpi})
    if(TULLE_INSTALL)
        install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
    endif()
    message(STATUS "Places on several hosts: ${flavour} (${wrapper})")
endfunction()

if(TULLE_BUILD_MPI AND NOT CMAKE_CROSSCOMPILING)
    foreach(name IN LISTS TULLE_MPICC ITEMS mpicc.openmpi mpicc.mpich mpicc)
        unset(wrapper)
        find_program(wrapper ${name} NO_CACHE)
        if(NOT wrapper)
            continue()
        endif()
        tulle_mpi_flavour(${wrapper} flavour)
        if(flavour AND NOT flavour IN_LIST tulle_mpi_flavours)
            list(APPEND tulle_mpi_flavours ${flavour})
            string(REPLACE "mpicc" "mpirun" tulle_mpirun_${flavour} ${wrapper})
            tulle_add_mpi_plugin(${flavour} ${wrapper})
        endif()
    endforeach()
endif()
