# How a folder becomes a target: adding a source file needs no edit here or anywhere else.

# tessera_library(qdp): shared library tessera_qdp, alias Tessera::qdp, of every .cpp in and below the calling folder.
# Includes are written from the repository root; EXCLUDE takes a regular expression on the path.
function(tessera_library name)
  cmake_parse_arguments(arg "" "EXCLUDE" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  add_library(tessera_${name} SHARED ${sources})
  add_library(Tessera::${name} ALIAS tessera_${name})
  set_target_properties(tessera_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  tessera_include_directories(tessera_${name} PUBLIC)
  install(TARGETS tessera_${name} EXPORT TesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(tessera_include_directories target scope)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/qdp/include>
    $<BUILD_INTERFACE:${TESSERA_CONFIG_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tessera>)
  target_compile_features(${target} ${scope} cxx_std_20)
endfunction()

# With TESSERA_QUICK_BUILD: most of the time goes into reading our templates, which several sources of a folder share then.
function(tessera_quick_build target)
  if(TESSERA_QUICK_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")   # it takes the sources of one piece for headers
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# tessera_precompile(target header...) or (target REUSE_FROM other): headers that are read once for all sources. A compiler cache takes
# such sources, too, if it is told that what they do not name may be in their headers.
function(tessera_precompile target)
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # GCC tells headers that it has read by their bytes: one of other comments or spaces is another one, which a compiler cache that
    # compares what the preprocessor makes of it takes for the same.
    if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
      set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;CCACHE_DEPEND=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# tessera_program(hmc source...): program build/<preset>/bin/hmc, linked with the whole of Tessera. Target `programs`: all of them.
function(tessera_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE Tessera::qcd)
  tessera_quick_build(${name})
  if(NOT TARGET programs)
    add_custom_target(programs)   # everything but the tests
    if(TARGET tessera_mpi)   # which they load
      add_dependencies(programs tessera_mpi)
    endif()
  endif()
  add_dependencies(programs ${name})
endfunction()
