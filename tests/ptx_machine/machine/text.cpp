#include "text.hpp"

#include <cctype>

#include "code.hpp"

namespace ptx_machine {

std::vector<std::string> split_lines(std::string_view ptx) {
  std::vector<std::string> lines{""};  // the first line is number 1
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    lines.emplace_back(ptx.substr(0, end));
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return lines;
}

std::vector<Word> split_words(std::string_view ptx) {
  std::vector<Word> words;
  int line = 1;
  const auto inside = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
  };
  for (std::size_t i = 0; i < ptx.size();) {
    const char c = ptx[i];
    if (c == '\n') ++line;
    if (c == '\0') break;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (ptx.substr(i, 2) == "//") {
      i = std::min(ptx.find('\n', i), ptx.size());
    } else if (ptx.substr(i, 2) == "/*") {
      const std::size_t end = ptx.find("*/", i);
      if (end == std::string_view::npos) throw PtxError(line, "a comment without end");
      for (; i < end + 2; ++i) line += ptx[i] == '\n';
    } else if (inside(c)) {
      std::size_t end = i;
      while (end < ptx.size() && inside(ptx[end])) ++end;
      words.push_back({ptx.substr(i, end - i), line});
      i = end;
    } else {
      words.push_back({ptx.substr(i, 1), line});
      ++i;
    }
  }
  words.push_back({"", line});
  return words;
}

std::vector<std::string> split_dots(std::string_view opcode) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    std::size_t end = std::min(dot, opcode.size());
    parts.emplace_back(opcode.substr(0, end));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(end + 1);
    // L1::no_allocate and the like: the colons are words of their own; not known here
  }
}

}  // namespace ptx_machine
