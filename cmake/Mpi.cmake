# Which MPIs there are (`mpis`: openmpi, mpich), and bench/mpi/*.c: the same loops on other libraries, as
# build/libexec/tutti/NAME-openmpi and NAME-mpich. tutti itself uses no MPI, and they use names of tutti's headers only.
file(GLOB mpi_sources CONFIGURE_DEPENDS bench/mpi/*.c)
separate_arguments(mpi_flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}")
set(mpi_programs)
set(mpis)

foreach(mpi openmpi mpich)
  find_program(MPICC_${mpi} mpicc.${mpi})
  if(TUTTI_MPI STREQUAL "OFF" OR NOT MPICC_${mpi})
    if(TUTTI_MPI STREQUAL "ON")
      message(FATAL_ERROR "TUTTI_MPI=ON, but there is no mpicc.${mpi}")
    endif()
    continue()
  endif()
  list(APPEND mpis ${mpi})
  foreach(source ${mpi_sources})
    get_filename_component(name ${source} NAME_WE)
    set(program ${CMAKE_BINARY_DIR}/libexec/tutti/${name}-${mpi})
    set(depends ${CMAKE_BINARY_DIR}/CMakeFiles/${name}-${mpi}.d)
    add_custom_command(OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/libexec/tutti
      COMMAND ${MPICC_${mpi}} -D_GNU_SOURCE -std=gnu11 -O2 ${mpi_flags} -Wall -Wextra -I${CMAKE_SOURCE_DIR}/include
        -I${CMAKE_SOURCE_DIR}/src -MMD -MT ${program} -MF ${depends} ${source} -o ${program} -lm
      DEPENDS ${source} DEPFILE ${depends}
      COMMENT "Building ${name}-${mpi}" VERBATIM)
    list(APPEND mpi_programs ${program})
  endforeach()
endforeach()
add_custom_target(mpi_programs ALL DEPENDS ${mpi_programs})
