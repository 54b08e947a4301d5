# Every X_test.c, X_test.sh and X_test.py under src/ and tests/ is a test named by its path: src/dtype/kernels_test.c is
# "dtype/kernels". Its label is its folder. C tests use cmocka and may use the library's internals; scripts find the
# programs in $TUTTI_BIN and the sources in $TUTTI_SOURCE. Exit code 77 means skipped.
# Of jobs of many processes (tests/system, tests/cluster) one runs at a time, of those that fail (tests/fault) another one,
# and one of those of MPIs (tests/mpi): they start first, since most of them wait more than they compute, and others run
# beside them.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

function(test_name source result)
  string(REGEX REPLACE "^(src|tests)/(.*)_test\\.[a-z]+$" "\\2" name ${source})
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# The leak check of gcc 12 takes what stands before a block of a library's TLS for a header of glibc 2.19, where the
# block is 16 bytes behind a page's beginning, and crashes on the addresses there ("Tracer caught signal 11").
set(options "TUTTI_BIN=${CMAKE_BINARY_DIR}/bin;TUTTI_SOURCE=${CMAKE_SOURCE_DIR};TUTTI_WISDOM=off")
if(TUTTI_SANITIZE MATCHES address)
  set(asan ASAN_OPTIONS=intercept_tls_get_addr=0)
  # Before a Python that knows nothing of it; and what throws, which it looks for at once.
  foreach(library asan stdc++)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${library}.so OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(APPEND preloaded "${path} ")
  endforeach()
  set(asan_python ${asan}:detect_leaks=0 "LD_PRELOAD=${preloaded}" PYTHONMALLOC=malloc)
endif()

set(timeout 1800)
if(CMAKE_CROSSCOMPILING)
  set(timeout 7200) # an emulator is many times slower
endif()

function(test_register name)
  add_test(NAME ${name} COMMAND ${ARGN})
  get_filename_component(folder ${name} DIRECTORY)
  set(more ${options} ${asan})
  if(folder MATCHES "^python$")
    set(more ${options} ${asan_python})
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "${folder}" SKIP_RETURN_CODE 77 TIMEOUT ${timeout}
    ENVIRONMENT "${more}")
  if(folder MATCHES "^system" AND EXISTS ${CMAKE_SOURCE_DIR}/tests/${name}_test.c)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK jobs_within COST 200)
  elseif(folder MATCHES "^system")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK jobs COST 300)
  elseif(folder MATCHES "^cluster")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK bed COST 300)
  elseif(folder MATCHES "^fault")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK jobs_of_faults COST 200)
  elseif(name MATCHES "^mpi/[a-p]")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK jobs_of_mpi COST 200)
  elseif(folder MATCHES "^mpi")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK more_jobs_of_mpi COST 200)
  elseif(name IN_LIST long_tests)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()

# Start first, so that nobody waits for them.
set(long_tests property/execute python/torch python/torch_launch python/torch_examples python/jobs python/joined python/types
    conformance/large conformance/counts mutants/mutants mutants/bound transport/tcp/fault exec/engine transport/between
    transport/shm/process api/threads property/claim conformance/api conformance/outstanding)

file(GLOB_RECURSE c_tests RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS src/*_test.c tests/*_test.c)
if(NOT svm)
  list(FILTER c_tests EXCLUDE REGEX "^tests/svm/")
endif()
foreach(source ${c_tests})
  test_name(${source} name)
  string(REPLACE "/" "_" target test_${name})
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE tests)
  target_link_libraries(${target} PRIVATE tutti_internals PkgConfig::CMOCKA)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  test_register(${name} ${target})
endforeach()

if(svm)
  target_sources(test_svm_classify PRIVATE tools/learn/svm.c)
  target_link_libraries(test_svm_classify PRIVATE ${svm_library})
endif()

find_program(SH sh REQUIRED)
file(GLOB_RECURSE sh_tests RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS tests/*_test.sh)
foreach(source ${sh_tests})
  test_name(${source} name)
  test_register(${name} ${SH} ${CMAKE_SOURCE_DIR}/${source})
endforeach()

find_program(PYTHON python3 REQUIRED)
file(GLOB_RECURSE python_tests RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS tests/*_test.py)
foreach(source ${python_tests})
  test_name(${source} name)
  test_register(${name} ${PYTHON} ${CMAKE_SOURCE_DIR}/${source})
endforeach()

# The threads of tutti.torch over a stub of torch: sanitizers see all of them, and need not compile torch's headers.
if(TUTTI_SANITIZE)
  enable_language(CXX)
  set(stub ${CMAKE_BINARY_DIR}/stub)
  foreach(header distributed/c10d/Store.hpp distributed/c10d/Work.hpp utils/pybind.h)
    file(CONFIGURE OUTPUT ${stub}/torch/csrc/${header} CONTENT "#include \"torch.hpp\"\n")
  endforeach()
  set(sources callbacks.cpp job.cpp p2p.cpp running.cpp work.cpp)
  list(TRANSFORM sources PREPEND bindings/python/torch/)
  add_executable(test_python_works tests/python/programs/works.cpp ${sources})
  target_include_directories(test_python_works PRIVATE bindings/python/torch tests/python/stub ${stub})
  target_compile_features(test_python_works PRIVATE cxx_std_17)
  target_compile_options(test_python_works PRIVATE -Wall -Wextra -Wshadow ${sanitize})
  target_link_options(test_python_works PRIVATE ${sanitize})
  target_link_libraries(test_python_works PRIVATE tutti_shared Threads::Threads)
  set_target_properties(test_python_works PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  test_register(python/works test_python_works)
endif()

# What scripts start as ranks: tests/X/programs/Y.c is build/tests/X_Y.
file(GLOB rank_programs RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS
     tests/cluster/programs/*.c tests/system/programs/*.c)
foreach(source ${rank_programs})
  string(REGEX REPLACE "^tests/([^/]*)/programs/(.*)\\.c$" "\\1_\\2" name ${source})
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests)
  target_link_libraries(${name} PRIVATE tutti_internals)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endforeach()

# Plans on SimGrid's machines, where it is installed. Its actors change stacks in ways that sanitizers do not follow.
set(simgrid no)
pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET simgrid)
if(SIMGRID_FOUND AND NOT TUTTI_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(simgrid ${SIMGRID_VERSION})
  set(played tests/simgrid/machines.c tests/simgrid/once.c tests/simgrid/platform.c tests/simgrid/play.c)
  add_executable(simgrid_compare tests/simgrid/compare.c ${played})
  add_executable(simulated_plans bench/simulated/plans.c bench/simulated/candidates.c ${played}) # beside SMPI: scripts/bench_simulated.py
  foreach(program simgrid_compare simulated_plans)
    target_include_directories(${program} PRIVATE tests)
    target_link_libraries(${program} PRIVATE tutti_internals PkgConfig::SIMGRID)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endforeach()
endif()

# Ring or halving between nodes: scripts/simulated_map.py
set(mapped map)
if(svm)
  list(APPEND mapped learn)
endif()
foreach(program ${mapped})
  add_executable(simulated_${program} bench/simulated/${program}.c)
  target_include_directories(simulated_${program} PRIVATE tests)
  target_link_libraries(simulated_${program} PRIVATE tutti_internals)
  set_target_properties(simulated_${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endforeach()
if(svm)
  target_sources(simulated_learn PRIVATE tools/learn/svm.c)
  target_link_libraries(simulated_learn PRIVATE ${svm_library})
endif()
