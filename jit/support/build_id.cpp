#include "jit/support/build_id.hpp"

#include <elf.h>
#include <errno.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace jit {

namespace {

constexpr std::size_t kShownBytes = 6;

/// Notes of a segment: header, name, description, both padded to four bytes.
std::string id_in(const char* at, const char* end) {
  const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* const name = at + sizeof note;
    const char* const id = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(name, note.n_namesz) == std::string_view("GNU", 4)) {
      std::string text;
      for (std::size_t i = 0; i < std::min<std::size_t>(note.n_descsz, kShownBytes); ++i)
        for (const int digit : {(id[i] >> 4) & 15, id[i] & 15}) text += "0123456789abcdef"[digit];
      return text;
    }
    at = id + padded(note.n_descsz);
  }
  return {};
}

/// Behind dl_iterate_phdr.
int add(dl_phdr_info* object, std::size_t, void* list) {
  auto& builds = *static_cast<std::vector<std::string>*>(list);
  std::string_view name = object->dlpi_name;
  if (builds.empty()) name = program_invocation_short_name;  // the program comes first
  name.remove_prefix(name.rfind('/') + 1);
  if (!builds.empty() && (!name.starts_with("libtessera_") || name.starts_with("libtessera_mpi"))) return 0;
  std::string id;
  for (int i = 0; i < object->dlpi_phnum && id.empty(); ++i)
    if (const auto& segment = object->dlpi_phdr[i]; segment.p_type == PT_NOTE) {
      const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
      id = id_in(begin, begin + segment.p_memsz);
    }
  builds.push_back(std::string(name.substr(0, name.find(".so"))) + ' ' + (id.empty() ? "unknown" : id));
  return 0;
}

}  // namespace

std::string builds_in_process() {
  std::vector<std::string> builds;
  dl_iterate_phdr(add, &builds);
  std::sort(builds.begin() + 1, builds.end());
  std::string text;
  for (const std::string& build : builds) text += (text.empty() ? "" : ", ") + build;
  return text;
}

}  // namespace jit
