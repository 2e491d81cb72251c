# SPDX-License-Identifier: Apache-2.0
#
# tulle::NAME (shared) and tulle::NAME_static: what programs for another library link, upon tulle::tulle. Their include path is
# include/compat/NAME. Inside this tree src/ is an include root of the sources.
function(tulle_add_compat_library name)
    tulle_glob(sources src/compat/${name}/*.cpp)
    set(map ${PROJECT_SOURCE_DIR}/src/compat/${name}/${name}.map)
    add_library(tulle_${name}_objects OBJECT ${sources})
    set_target_properties(tulle_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
    target_include_directories(tulle_${name}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include/compat/${name} ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tulle_${name}_objects PRIVATE tulle_flags Threads::Threads)
    foreach(kind shared static)
        string(TOUPPER ${kind} cmake_kind)
        set(target tulle_${name}_${kind})
        add_library(${target} ${cmake_kind} $<TARGET_OBJECTS:tulle_${name}_objects>)
        set_target_properties(${target} PROPERTIES OUTPUT_NAME tulle-${name} LINKER_LANGUAGE CXX)
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat/${name}>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/compat/${name}>)
        target_link_libraries(${target} PUBLIC tulle_${kind} PRIVATE $<BUILD_INTERFACE:tulle_flags>)
    endforeach()
    add_library(tulle::${name} ALIAS tulle_${name}_shared)
    add_library(tulle::${name}_static ALIAS tulle_${name}_static)

    set_target_properties(tulle_${name}_shared PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN" LINK_DEPENDS ${map})
    set_target_properties(tulle_${name}_static PROPERTIES EXPORT_NAME ${name}_static)
    # Threads that are alive at dlclose run its code.
    target_link_options(tulle_${name}_shared PRIVATE LINKER:--version-script=${map} LINKER:-z,now LINKER:-z,nodelete)
    if(TULLE_SANITIZE STREQUAL "none")
        target_link_options(tulle_${name}_shared PRIVATE LINKER:--no-undefined)
    endif()
endfunction()

tulle_add_compat_library(qthread)
tulle_add_compat_library(tnt)
