// What the programs that read an XML input share: the lattice, output documents, and how errors end a run.
#pragma once

#include "apps/common/arguments.hpp"

#include "lib/io/input.hpp"
#include "lib/io/memory.hpp"

#include "qdp.h"

#include <functional>
#include <string>
#include <vector>

namespace common {

/// Throws InputError if input, data document and log are not three files, or if a document of an earlier run is there and
/// may not be replaced.
void require_free_documents(const Arguments& arguments, bool may_replace);

/// Makes the layout.
void create_layout(const std::vector<int>& lattice);

/// What runs and where, as the first line of a run.
void print_header();

/// An output document with its root element, the input and the program's data in it.
struct Document {
  QDP::XMLFileWriter xml;

  Document(const std::string& file, const std::string& root, const qcd::Input& input);
  void close();
};

/// What can be run and is hardly meant: elements that nothing reads, fields that do not fit in memory, and the like.
std::vector<std::string> remarks_on(const qcd::InputFile& file, const std::vector<int>& lattice,
                                    const qcd::MemoryNeed& memory);
/// For --check, below the line that says that the input is valid: the remarks, and the exit status, 0 if there are none.
int report_remarks(const std::vector<std::string>& remarks);
/// For a run, which goes on: the remarks on the input `file` as warnings.
void warn_of_remarks(const std::string& file, const std::vector<std::string>& remarks);

/// Starts the language, runs `body` and ends the language; an exception becomes one message with the program's name and
/// status 1.
int run_program(const std::string& name, int& argc, char**& argv, const std::function<int()>& body);

}  // namespace common
