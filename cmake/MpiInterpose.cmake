# What stands in front of an MPI, in two halves, each compiled once with each MPI's headers:
#   build/lib/libtutti-openmpi.so              is preloaded: bindings/mpi/front, and what gen_front.py writes
#   build/lib/tutti/libtutti-openmpi-serve.so  it loads at the first MPI call: bindings/mpi/*.c, and what gen_wrappers.py
#                                              and gen_fortran.py write; over libtutti.so.0, as the program may be
# and the same for mpich. Only MPI's names leave them.
find_program(PYTHON python3)
file(GLOB interpose_sources CONFIGURE_DEPENDS bindings/mpi/*.c)
file(GLOB interpose_front CONFIGURE_DEPENDS bindings/mpi/front/*.c)
set(interpose_map ${CMAKE_SOURCE_DIR}/cmake/interpose.map)
set(interposers)
set(interposers_serve)
set(fortran_openmpi mpi_mpifh)
set(fortran_mpich mpichfort)

# Options of one kind (-I, -L, -l) in the command that the MPI's compiler runs, without the letter.
function(mpi_options mpi letter result)
  execute_process(COMMAND ${MPICC_${mpi}} -show OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(command UNIX_COMMAND "${command}")
  list(FILTER command INCLUDE REGEX "^-${letter}")
  list(TRANSFORM command REPLACE "^-${letter}" "")
  set(${result} ${command} PARENT_SCOPE)
endfunction()

function(interpose_generate mpi name result)
  set(folder ${CMAKE_SOURCE_DIR}/bindings/mpi)
  set(file ${CMAKE_BINARY_DIR}/bindings/${mpi}/${name}.c)
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bindings/${mpi}
    COMMAND ${PYTHON} -B ${folder}/gen_${name}.py ${MPICC_${mpi}} ${file} ${ARGN}
    DEPENDS ${folder}/gen_${name}.py ${folder}/gen_fortran.py ${folder}/functions.py
    COMMENT "Generating the functions of ${mpi}, ${name}" VERBATIM)
  set(${result} ${file} PARENT_SCOPE)
endfunction()

# Adds TT_MPI_SESSIONS where the MPI has them.
function(interpose_sessions mpi)
  execute_process(COMMAND ${MPICC_${mpi}} -fsyntax-only ${CMAKE_SOURCE_DIR}/cmake/sessions.c RESULT_VARIABLE missing
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing)
    target_compile_definitions(tutti_${mpi}_serve PRIVATE TT_MPI_SESSIONS)
  endif()
endfunction()

# Nothing but the C library, no start files, no sanitizers, few segments: it is in every process that a rank starts.
function(interpose_front mpi includes fortran)
  interpose_generate(${mpi} front generated ${fortran})
  add_library(tutti_${mpi} SHARED ${interpose_front} ${generated})
  set_target_properties(tutti_${mpi} PROPERTIES OUTPUT_NAME tutti-${mpi} LINK_DEPENDS ${interpose_map})
  target_compile_definitions(tutti_${mpi} PRIVATE TUTTI_FRONT_SERVES="tutti/libtutti-${mpi}-serve.so")
  target_include_directories(tutti_${mpi} PRIVATE bindings/mpi bindings/mpi/front)
  target_include_directories(tutti_${mpi} SYSTEM PRIVATE ${includes})
  target_link_libraries(tutti_${mpi} PRIVATE tutti_plain ${CMAKE_DL_LIBS})
  target_link_options(tutti_${mpi} PRIVATE -nostartfiles -Wl,-z,noseparate-code -Wl,--version-script=${interpose_map}
    -Wl,-Bsymbolic-functions -Wl,-z,defs)
endfunction()

function(interpose_serve mpi includes fortran)
  mpi_options(${mpi} L folders)
  mpi_options(${mpi} l libraries)
  interpose_generate(${mpi} wrappers generated)
  if(fortran)
    interpose_generate(${mpi} fortran fortran_generated)
    list(APPEND generated ${fortran_generated})
  endif()
  if(mpi STREQUAL openmpi AND fortran) # MPICH's brings the Fortran compiler's own library with it
    list(PREPEND libraries ${MPI_FORTRAN_${mpi}})
  endif()
  set(serve tutti_${mpi}_serve)
  add_library(${serve} SHARED ${interpose_sources} ${generated})
  set_target_properties(${serve} PROPERTIES OUTPUT_NAME tutti-${mpi}-serve LINK_DEPENDS ${interpose_map}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti BUILD_RPATH "\$ORIGIN/.." INSTALL_RPATH "\$ORIGIN/..")
  target_include_directories(${serve} PRIVATE bindings/mpi)
  target_include_directories(${serve} SYSTEM PRIVATE ${includes})
  target_compile_options(${serve} PRIVATE -fno-semantic-interposition)
  interpose_sessions(${mpi})
  target_link_directories(${serve} PRIVATE ${folders})
  # Lazily: beside a libtutti.so.0 of another version (job.c) it must load, though it is not used. By RPATH, which comes
  # before LD_LIBRARY_PATH: that may have one, too, which the program does not use.
  target_link_options(${serve} PRIVATE -Wl,--version-script=${interpose_map} -Wl,-Bsymbolic-functions -Wl,-z,lazy
    -Wl,--disable-new-dtags)
  if(NOT TUTTI_SANITIZE)
    target_link_options(${serve} PRIVATE -Wl,-z,defs)
  endif()
  target_link_libraries(${serve} PRIVATE tutti_shared tutti_flags Threads::Threads ${libraries})
endfunction()

function(interpose_library mpi)
  mpi_options(${mpi} I includes)
  mpi_options(${mpi} L folders)
  find_library(MPI_FORTRAN_${mpi} NAMES ${fortran_${mpi}} HINTS ${folders})
  set(fortran)
  if(MPI_FORTRAN_${mpi})
    set(fortran fortran)
  endif()
  interpose_front(${mpi} "${includes}" "${fortran}")
  interpose_serve(${mpi} "${includes}" "${fortran}")
endfunction()

if(mpis AND NOT PYTHON)
  message(WARNING "without python3 there is nothing that stands in front of ${mpis}")
  set(mpis)
endif()
foreach(mpi ${mpis})
  interpose_library(${mpi})
  list(APPEND interposers tutti_${mpi})
  list(APPEND interposers_serve tutti_${mpi}_serve)
endforeach()

# build/libexec/tutti/tune-openmpi and tune-mpich: tools/tune/mpi, for `tutti tune --mpi`.
file(GLOB tune_mpi_sources CONFIGURE_DEPENDS tools/tune/mpi/*.c tools/tune/options.c tools/tune/load.c
  tools/shared/*.c)
foreach(mpi ${mpis})
  mpi_options(${mpi} I includes)
  mpi_options(${mpi} L folders)
  mpi_options(${mpi} l libraries)
  add_executable(tune_${mpi} ${tune_mpi_sources})
  set_target_properties(tune_${mpi} PROPERTIES OUTPUT_NAME tune-${mpi}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/tutti)
  target_include_directories(tune_${mpi} PRIVATE ${CMAKE_SOURCE_DIR})
  target_include_directories(tune_${mpi} SYSTEM PRIVATE ${includes})
  target_link_directories(tune_${mpi} PRIVATE ${folders})
  target_link_libraries(tune_${mpi} PRIVATE tutti_internals ${libraries})
endforeach()
