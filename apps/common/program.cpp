#include "apps/common/program.hpp"

#include "apps/common/signals.hpp"

#include "lib/io/program_info.hpp"

#include "qdp/init/about.hpp"
#include "qdp/util/machine.hpp"

#include <exception>
#include <filesystem>
#include <utility>

namespace common {

namespace {

/// Also by way of links, and for names that are not there yet.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return std::filesystem::is_regular_file(a, error);
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error) &&
         !std::filesystem::exists(a, error);
}

void look_for_documents(const Arguments& arguments, bool may_replace) {
  const std::pair<const char*, const std::string&> documents[] = {{"data document", arguments.data},
                                                                  {"log", arguments.log}};
  for (const auto& [what, name] : documents)
    if (same_file(name, arguments.input))
      throw qcd::InputError(std::string(what) + ' ' + name + ": expected another file than the input " +
                            arguments.input + ", which it would replace. Choose another name with -o and -l");
  if (same_file(arguments.data, arguments.log))
    throw qcd::InputError("data document and log: expected two files, got " + arguments.data +
                          " for both. Choose other names with -o and -l");
  for (const auto& [what, name] : documents) {
    std::error_code error;
    if (std::filesystem::is_directory(name, error))
      throw qcd::InputError(std::string(what) + ' ' + name + ": expected the name of a file, got a folder");
    if (may_replace || !std::filesystem::is_regular_file(name, error) || std::filesystem::file_size(name, error) == 0)
      continue;
    throw qcd::InputError(std::string(what) + ' ' + name +
                          ": expected no such file, got that of an earlier run. Choose another name with -o and -l, or "
                          "replace it with --overwrite");
  }
}

/// Names of files count on the primary alone, but what is done with them must be the same everywhere.
void require_one_command_line(int argc, char** argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) words += std::string(i > 1 ? " " : "") + argv[i];
  QDP::io::require_same_on_all_ranks("command lines of a job", words, "give all ranks the same arguments");
}

}  // namespace

void require_free_documents(const Arguments& arguments, bool may_replace) {
  QDP::io::once([&] { look_for_documents(arguments, may_replace); });
}

void create_layout(const std::vector<int>& lattice) {
  QDP::multi1d<int> nrow(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) nrow[mu] = lattice.at(static_cast<std::size_t>(mu));
  QDP::Layout::setLattSize(nrow);
  QDP::Layout::create();
}

void print_header() { QDP::QDPIO::cout << QDP::describe(QDP::about_program()) << std::endl; }

Document::Document(const std::string& file, const std::string& root, const qcd::Input& input) : xml(file) {
  QDP::push(xml, root);
  QDP::push(xml, "Input");
  xml.writeXML("\n" + input.xml() + "\n");
  QDP::pop(xml);
  qcd::write_program_info(xml);
}

void Document::close() {
  QDP::pop(xml);
  xml.close();
}

std::vector<std::string> remarks_on(const qcd::InputFile& file, const std::vector<int>& lattice,
                                    const qcd::MemoryNeed& memory) {
  std::vector<std::string> remarks = file.warnings();
  const double per_site = QDP::share_of_machine() * (memory.kept + memory.working);
  const std::string fault =
      QDP::io::once([&] { return qcd::memory_fault(lattice, per_site, qcd::available_memory()); });
  if (!fault.empty()) remarks.push_back(fault);
  return remarks;
}

int report_remarks(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) QDP::QDPIO::cout << "  " << remark << "\n";
  return remarks.empty() ? 0 : 2;
}

void warn_of_remarks(const std::string& file, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) QDP::QDPIO::cout << "warning: " << file << ": " << remark << "\n";
  QDP::QDPIO::cout.flush();
}

int run_program(const std::string& name, int& argc, char**& argv, const std::function<int()>& body) {
  int status = 1;
  try {
    make_write_signals_errors();
    QDP::QDP_initialize(&argc, &argv);
    require_one_command_line(argc, argv);
    status = body();
  } catch (const std::exception& error) {
    QDP::QDP_failed(name + ": " + error.what());
  } catch (const std::string& error) {  // what QDP++ readers throw
    QDP::QDP_failed(name + ": " + error);
  }
  if (QDP::QDP_isInitialized()) QDP::QDP_finalize();
  return status;
}

}  // namespace common
