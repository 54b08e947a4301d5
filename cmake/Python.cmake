# build/lib/python/tutti, a Python package: an extension over the shared library, for Python 3.11 and later. The address
# sanitizer must be preloaded (Tests.cmake); that of threads would need a Python and a torch compiled for it.
set(python no)
if(NOT TUTTI_PYTHON STREQUAL OFF)
  pkg_check_modules(PYTHON3 QUIET python3)
  find_path(DLPACK dlpack/dlpack.h)
  if(NOT TUTTI_SANITIZE MATCHES thread AND PYTHON3_FOUND AND PYTHON3_VERSION VERSION_GREATER_EQUAL 3.11 AND DLPACK AND NOT CMAKE_CROSSCOMPILING)
    set(python ${PYTHON3_VERSION})
  elseif(TUTTI_PYTHON STREQUAL ON)
    message(FATAL_ERROR "TUTTI_PYTHON is ON, which needs python3-dev (3.11 or newer) and libdlpack-dev")
  endif()
endif()
if(python)
  file(GLOB python_sources CONFIGURE_DEPENDS bindings/python/src/*.c)
  set_source_files_properties(${python_sources} PROPERTIES COMPILE_OPTIONS -Wno-pedantic) # functions as void *
  add_library(tutti_python MODULE ${python_sources})
  target_include_directories(tutti_python SYSTEM PRIVATE ${PYTHON3_INCLUDE_DIRS} ${DLPACK})
  target_link_libraries(tutti_python PRIVATE tutti_shared tutti_flags m)
  set_target_properties(tutti_python PROPERTIES PREFIX "" OUTPUT_NAME _tutti SUFFIX .abi3.so
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/python/tutti
    BUILD_RPATH "\$ORIGIN/../..")
  file(GLOB python_modules CONFIGURE_DEPENDS bindings/python/tutti/*.py bindings/python/tutti/*.pyi
       bindings/python/tutti/py.typed)
  foreach(module ${python_modules})
    get_filename_component(name ${module} NAME)
    configure_file(${module} ${CMAKE_BINARY_DIR}/lib/python/tutti/${name} COPYONLY)
  endforeach()
endif()

# tutti.torch: a backend for torch.distributed, for the torch that the system's Python has.
set(torch no)
if(python AND NOT TUTTI_TORCH STREQUAL OFF)
  find_program(SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_path(TORCH torch/csrc/distributed/c10d/Store.hpp)
  find_path(PYBIND11 pybind11/pybind11.h)
  if(SYSTEM_PYTHON AND TORCH AND PYBIND11)
    file(STRINGS ${TORCH}/torch/csrc/api/include/torch/version.h torch_lines REGEX "_(MAJOR|MINOR) [0-9]+")
    string(REGEX MATCHALL "[0-9]+" torch "${torch_lines}")
    list(JOIN torch . torch)
  endif()
endif()
if(TUTTI_TORCH STREQUAL ON AND NOT torch)
  message(FATAL_ERROR "TUTTI_TORCH is ON, which needs the Python package, libtorch-dev, pybind11-dev and /usr/bin/python3")
endif()
if(torch)
  enable_language(CXX)
  file(GLOB torch_sources CONFIGURE_DEPENDS bindings/python/torch/*.cpp)
  add_library(tutti_torch MODULE ${torch_sources})
  execute_process(COMMAND ${SYSTEM_PYTHON} -c "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
                  OUTPUT_VARIABLE suffix OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_include_directories(tutti_torch SYSTEM PRIVATE ${PYTHON3_INCLUDE_DIRS} ${PYBIND11} ${TORCH}
                             ${TORCH}/torch/csrc/api/include)
  target_compile_features(tutti_torch PRIVATE cxx_std_17)
  target_compile_options(tutti_torch PRIVATE -Wall -Wextra -Wshadow ${sanitize})
  target_link_options(tutti_torch PRIVATE ${sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # what torch's futures have in them, inlined
    target_compile_options(tutti_torch PRIVATE -Wno-maybe-uninitialized)
  endif()
  # To read torch's headers takes three quarters of the time of a file: two processors read them once each.
  set_target_properties(tutti_torch PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  target_link_libraries(tutti_torch PRIVATE tutti_shared torch_python torch_cpu c10)
  set_target_properties(tutti_torch PROPERTIES PREFIX "" OUTPUT_NAME _torch SUFFIX ${suffix}
    CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/python/tutti/torch
    BUILD_RPATH "\$ORIGIN/../../..")
  file(GLOB torch_modules RELATIVE ${CMAKE_SOURCE_DIR}/bindings/python CONFIGURE_DEPENDS
       bindings/python/tutti/torch/*.py bindings/python/tutti/torch/*.pyi bindings/python/tutti/torch/site/*.py)
  foreach(module ${torch_modules})
    configure_file(bindings/python/${module} ${CMAKE_BINARY_DIR}/lib/python/${module} COPYONLY)
  endforeach()
endif()
