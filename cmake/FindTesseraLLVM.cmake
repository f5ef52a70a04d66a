# LLVM: target Tessera::LLVM for its headers, TESSERA_LLVM_LINK for its library: the shared one, or with
# TESSERA_BUNDLE=ON the parts that are used, to be linked into libtessera_jit.
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
    if(TESSERA_BUNDLE)
      find_library(LLVM_LIBRARY NAMES libLLVMCore.a HINTS ${llvm_libdir} NO_DEFAULT_PATH)
    else()
      find_library(LLVM_LIBRARY NAMES LLVM-${TESSERA_LLVM_VERSION} LLVM HINTS ${llvm_libdir} NO_DEFAULT_PATH)
    endif()
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
  add_library(Tessera::LLVM INTERFACE IMPORTED)
  set_target_properties(Tessera::LLVM PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${LLVM_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "__STDC_CONSTANT_MACROS;__STDC_FORMAT_MACROS;__STDC_LIMIT_MACROS")
endif()

if(TesseraLLVM_FOUND AND TESSERA_BUNDLE)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles native nvptx orcjit jitlink passes ipo linker irreader
                  OUTPUT_VARIABLE TESSERA_LLVM_LINK OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(TESSERA_LLVM_LINK)
  # Not what llvm-config names as system libraries: libxml2 and Z3 belong to parts that no one here calls. Compressed
  # sections are never written, but the readers and writers of objects know them; libzstd's development package need not be there.
  find_library(LLVM_ZLIB z REQUIRED)
  find_library(LLVM_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
  mark_as_advanced(LLVM_ZLIB LLVM_ZSTD)
  # LLVM's symbols stay inside: the linker can drop what is not used, and a program's other LLVM is not confused.
  list(APPEND TESSERA_LLVM_LINK ${LLVM_ZLIB} ${LLVM_ZSTD} -Wl,--exclude-libs,ALL -Wl,--gc-sections)
else()
  set(TESSERA_LLVM_LINK ${LLVM_LIBRARY})
endif()
