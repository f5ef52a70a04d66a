# LLVM as one shared library, imported target Tessera::LLVM.
# Asks llvm-config rather than LLVM's own CMake package: on Debian and Ubuntu that one fails to load unless
# development packages that Tessera does not use (Polly, curl, edit) are installed as well.
# TESSERA_LLVM_VERSION is the one place in the build that names an LLVM version.
set(TESSERA_LLVM_VERSION 19)

find_program(LLVM_CONFIG NAMES llvm-config-${TESSERA_LLVM_VERSION} llvm-config
             HINTS /usr/lib/llvm-${TESSERA_LLVM_VERSION}/bin)
if(LLVM_CONFIG)
  foreach(item version includedir libdir)
    execute_process(COMMAND ${LLVM_CONFIG} --${item} OUTPUT_VARIABLE llvm_${item} OUTPUT_STRIP_TRAILING_WHITESPACE)
  endforeach()
  if(llvm_version VERSION_GREATER_EQUAL TESSERA_LLVM_VERSION
     AND llvm_version VERSION_LESS ${TESSERA_LLVM_VERSION}.99)
    find_library(LLVM_LIBRARY NAMES LLVM-${TESSERA_LLVM_VERSION} LLVM HINTS ${llvm_libdir} NO_DEFAULT_PATH)
    set(LLVM_INCLUDE_DIR ${llvm_includedir})
  else()
    message(STATUS "${LLVM_CONFIG} is of LLVM ${llvm_version}; Tessera needs ${TESSERA_LLVM_VERSION}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TesseraLLVM
  REQUIRED_VARS LLVM_LIBRARY LLVM_INCLUDE_DIR VERSION_VAR llvm_version
  REASON_FAILURE_MESSAGE "Install llvm-${TESSERA_LLVM_VERSION}-dev, or set LLVM_CONFIG to an llvm-config of that version.")

if(TesseraLLVM_FOUND AND NOT TARGET Tessera::LLVM)
  add_library(Tessera::LLVM SHARED IMPORTED)
  set_target_properties(Tessera::LLVM PROPERTIES
    IMPORTED_LOCATION ${LLVM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${LLVM_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "__STDC_CONSTANT_MACROS;__STDC_FORMAT_MACROS;__STDC_LIMIT_MACROS")
endif()
