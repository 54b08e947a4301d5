# build/lib/libtutti-openmpi.so and libtutti-mpich.so: bindings/mpi/*.c, compiled once with each MPI's headers, and what
# gen_wrappers.py writes for that MPI. tutti is inside, with all its names hidden: only MPI's leave.
find_program(PYTHON python3)
file(GLOB interpose_sources CONFIGURE_DEPENDS bindings/mpi/*.c)
set(interpose_map ${CMAKE_SOURCE_DIR}/cmake/interpose.map)
set(interposers)
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
    COMMAND ${PYTHON} -B ${folder}/gen_${name}.py ${MPICC_${mpi}} ${file}
    DEPENDS ${folder}/gen_${name}.py ${folder}/functions.py COMMENT "Generating the functions of ${mpi}, ${name}" VERBATIM)
  set(${result} ${file} PARENT_SCOPE)
endfunction()

# Adds TT_MPI_SESSIONS where the MPI has them.
function(interpose_sessions mpi)
  execute_process(COMMAND ${MPICC_${mpi}} -fsyntax-only ${CMAKE_SOURCE_DIR}/cmake/sessions.c RESULT_VARIABLE missing
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing)
    target_compile_definitions(tutti_${mpi} PRIVATE TT_MPI_SESSIONS)
  endif()
endfunction()

function(interpose_library mpi)
  mpi_options(${mpi} I includes)
  mpi_options(${mpi} L folders)
  mpi_options(${mpi} l libraries)
  interpose_generate(${mpi} wrappers generated)
  find_library(MPI_FORTRAN_${mpi} NAMES ${fortran_${mpi}} HINTS ${folders})
  if(MPI_FORTRAN_${mpi})
    interpose_generate(${mpi} fortran fortran)
    list(APPEND generated ${fortran})
  endif()
  if(mpi STREQUAL openmpi AND MPI_FORTRAN_${mpi}) # MPICH's brings the Fortran compiler's own library with it
    list(PREPEND libraries ${MPI_FORTRAN_${mpi}})
  endif()
  add_library(tutti_${mpi} SHARED ${interpose_sources} ${generated} $<TARGET_OBJECTS:tutti_objects>)
  set_target_properties(tutti_${mpi} PROPERTIES OUTPUT_NAME tutti-${mpi} LINK_DEPENDS ${interpose_map})
  target_include_directories(tutti_${mpi} PRIVATE include bindings/mpi)
  target_include_directories(tutti_${mpi} SYSTEM PRIVATE ${includes})
  target_compile_options(tutti_${mpi} PRIVATE -fno-semantic-interposition)
  interpose_sessions(${mpi})
  target_link_directories(tutti_${mpi} PRIVATE ${folders})
  target_link_options(tutti_${mpi} PRIVATE -Wl,--version-script=${interpose_map} -Wl,-Bsymbolic-functions)
  if(NOT TUTTI_SANITIZE)
    target_link_options(tutti_${mpi} PRIVATE -Wl,-z,defs)
  endif()
  target_link_libraries(tutti_${mpi} PRIVATE tutti_flags PkgConfig::JANSSON ${libraries} ${system_libraries})
endfunction()

if(mpis AND NOT PYTHON)
  message(WARNING "without python3 there is nothing that stands in front of ${mpis}")
  set(mpis)
endif()
foreach(mpi ${mpis})
  interpose_library(${mpi})
  list(APPEND interposers tutti_${mpi})
endforeach()
