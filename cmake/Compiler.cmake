# Flags for all code; `tutti_flags` carries them, so that nothing leaks to users of the library. `tutti_plain` has those
# that add nothing to the code.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_library(tutti_plain INTERFACE)
target_compile_definitions(tutti_plain INTERFACE _GNU_SOURCE)
# Same bits everywhere: no a * b + c in one rounding where the processor has it.
target_compile_options(tutti_plain INTERFACE -ffp-contract=off)
target_compile_options(tutti_plain INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(TUTTI_WERROR)
  target_compile_options(tutti_plain INTERFACE -Werror)
endif()
# gcc clears structs by `rep stos`, which takes 10 ns and more to start: as long as a whole MPI call may cost here.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(tutti_plain INTERFACE
                         $<$<COMPILE_LANGUAGE:C>:-mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
endif()
add_library(tutti_flags INTERFACE)
target_link_libraries(tutti_flags INTERFACE tutti_plain)
if(TUTTI_SANITIZE)
  set(sanitize -fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(tutti_flags INTERFACE ${sanitize} -fno-omit-frame-pointer)
  target_link_options(tutti_flags INTERFACE ${sanitize})
endif()
if(TUTTI_COVERAGE)
  target_compile_options(tutti_flags INTERFACE --coverage)
  target_link_options(tutti_flags INTERFACE --coverage)
endif()
