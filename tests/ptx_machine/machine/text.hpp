// PTX as text: words with their lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptx_machine {

struct Word {
  std::string_view text;
  int line;
};

std::vector<std::string> split_lines(std::string_view ptx);

/// Words are runs of letters, digits, `_ $ % .`; any other character is a word of its own. Comments are left out; the
/// last word is empty.
std::vector<Word> split_words(std::string_view ptx);

/// The parts of an opcode: ld.global.nc.f64.
std::vector<std::string> split_dots(std::string_view opcode);

}  // namespace ptx_machine
