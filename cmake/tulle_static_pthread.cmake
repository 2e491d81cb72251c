# SPDX-License-Identifier: Apache-2.0
#
# Makes libtulle-pthread.a of compiled files of the run time and of src/compat/pthread; a script, with -DOBJECTS=FILE -DTABLE=symbols.def
# -DARCHIVE=FILE -DFOLDER=FOLDER -DNM= -DOBJCOPY= -DAR=. A program is linked with --wrap for the names of the table: it then calls __wrap_NAME, which
# is ours here, and what the run time calls itself is __real_NAME, the C library's. Second names, which the C library itself calls, stay its own.
cmake_policy(SET CMP0057 NEW)
file(STRINGS ${OBJECTS} objects)
file(STRINGS ${TABLE} names REGEX "^TULLE_(INTERPOSED|EXPORTED|SECOND)\\(")
list(TRANSFORM names REPLACE "^.*\\((.*)\\).*$" "\\1")
file(STRINGS ${TABLE} second REGEX "^TULLE_SECOND\\(")
list(TRANSFORM second REPLACE "^.*\\((.*)\\).*$" "\\1")

function(rename object out)
    execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[A-Za-z] [A-Za-z0-9_]+\n" symbols "${text}")
    set(renames "")
    foreach(symbol IN LISTS symbols)
        string(REGEX REPLACE "^(.) (.*)\n$" "\\1;\\2" symbol "${symbol}")
        list(GET symbol 0 kind)
        list(GET symbol 1 name)
        string(REGEX REPLACE "^__real_" "" own ${name})
        if(NOT own STREQUAL name AND own IN_LIST names)
            string(APPEND renames "${name} __wrap_${own}\n") # own.hpp
        elseif(name IN_LIST names AND NOT kind MATCHES "[Uw]")
            string(APPEND renames "${name} __wrap_${name}\n")
        elseif(name IN_LIST names AND NOT name IN_LIST second)
            string(APPEND renames "${name} __real_${name}\n")
        endif()
    endforeach()
    file(WRITE ${FOLDER}/renames "${renames}")
    execute_process(COMMAND ${OBJCOPY} --redefine-syms=${FOLDER}/renames ${object} ${out} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER} ${ARCHIVE})
file(MAKE_DIRECTORY ${FOLDER})
set(number 0)
foreach(object IN LISTS objects)
    if(object MATCHES "/tulle_static_places[.]dir/") # which know of __real_NAME
        list(APPEND members ${object})
        continue()
    endif()
    get_filename_component(name ${object} NAME)
    math(EXPR number "${number} + 1")
    rename(${object} ${FOLDER}/${number}-${name})
    list(APPEND members ${number}-${name})
endforeach()
execute_process(COMMAND ${AR} qcs ${ARCHIVE} ${members} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
