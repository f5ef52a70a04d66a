# Writes OUTPUT, the source of jit::generator_digest(): a digest of the names and contents of FILES, which lie in FOLDER. Where
# FOLDER is, and when the files were written, does not matter.
#   cmake -D FOLDER=jit -D FILES=ir/print.cpp;... -D OUTPUT=generator_digest.cpp -P GeneratorDigest.cmake
list(SORT FILES)
set(text "")
foreach(name IN LISTS FILES)
  file(SHA256 ${FOLDER}/${name} digest)
  string(APPEND text "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${text}")
file(WRITE ${OUTPUT} "// Made by cmake/GeneratorDigest.cmake.
#include \"jit/codegen/codegen.hpp\"

const char* jit::generator_digest() { return \"${digest}\"; }
")
