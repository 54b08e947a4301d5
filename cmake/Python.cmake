# build/lib/python/tutti, a Python package: an extension over the shared library, for Python 3.11 and later.
set(python no)
if(NOT TUTTI_PYTHON STREQUAL OFF)
  pkg_check_modules(PYTHON3 QUIET python3)
  find_path(DLPACK dlpack/dlpack.h)
  if(PYTHON3_FOUND AND PYTHON3_VERSION VERSION_GREATER_EQUAL 3.11 AND DLPACK AND NOT CMAKE_CROSSCOMPILING)
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
