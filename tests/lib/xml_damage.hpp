// Kinds of damage to an XML text, at places chosen at random.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tests {

/// A text and where its elements are.
class XmlText {
 public:
  struct Element {
    std::string name, parent;
    std::size_t open, content, close, end;  ///< "<a>", what follows it, "</a>", what follows that
    bool leaf = true;
  };

  explicit XmlText(const std::string& file) {
    std::ifstream in(file);
    std::ostringstream content;
    content << in.rdbuf();
    text_ = content.str();
    std::vector<std::size_t> open;
    for (std::size_t at = 0; (at = text_.find('<', at)) != std::string::npos;) {
      if (text_.compare(at, 4, "<!--") == 0) {
        at = text_.find("-->", at) + 3;
        continue;
      }
      const std::size_t end = text_.find('>', at) + 1;
      if (text_[at + 1] == '/') {
        Element& e = elements_[open.back()];
        e.close = at;
        e.end = end;
        open.pop_back();
      } else if (text_[at + 1] != '?' && text_[end - 2] != '/') {
        const std::string name = text_.substr(at + 1, end - at - 2);
        if (!open.empty()) elements_[open.back()].leaf = false;
        elements_.push_back({name, open.empty() ? "" : elements_[open.back()].name, at, end, 0, 0});
        open.push_back(elements_.size() - 1);
      }
      at = end;
    }
  }

  const std::string& text() const { return text_; }
  const std::vector<Element>& elements() const { return elements_; }
  std::string value(const Element& e) const { return text_.substr(e.content, e.close - e.content); }
  std::string replaced(std::size_t begin, std::size_t end, const std::string& by) const {
    return text_.substr(0, begin) + by + text_.substr(end);
  }

 private:
  std::string text_;
  std::vector<Element> elements_;
};

/// From 0 to n - 1.
inline std::size_t draw(std::uint64_t& random, std::size_t n) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::size_t>((random >> 33) % n);
}

struct XmlDamage {
  std::string name;
  /// Nothing where the place that was drawn leaves another good input.
  std::function<std::optional<std::string>(const XmlText&, std::uint64_t& random)> damage;
};

inline bool is_number_or_flag(const std::string& value) {
  const std::size_t first = value.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return false;
  if (value.find("true", first) == first || value.find("false", first) == first) return true;
  return value.find_first_not_of("0123456789+-.eE \t\r\n", first) == std::string::npos;
}

inline const std::vector<XmlDamage>& xml_damages() {
  using Text = const XmlText&;
  using Result = std::optional<std::string>;
  static const auto any = [](Text t, std::uint64_t& random) -> const XmlText::Element& {
    return t.elements()[draw(random, t.elements().size())];
  };
  // Who reads an annotation? Nobody is meant to.
  static const auto is_note = [](const XmlText::Element& e) {
    return e.name == "annotation" || e.parent == "annotation";
  };
  static const auto number = [](Text t, std::uint64_t& random) -> const XmlText::Element* {
    for (;;) {
      const XmlText::Element& e = any(t, random);
      if (e.leaf && !is_note(e) && is_number_or_flag(t.value(e))) return &e;
    }
  };
  static const std::vector<XmlDamage> kinds = {
      {"cut",
       [](Text t, std::uint64_t& random) -> Result {
         return t.text().substr(0, draw(random, t.elements()[0].end - 1));
       }},
      {"open",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         return t.replaced(e.open, e.content, "");
       }},
      {"close",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         return t.replaced(e.close, e.end, "");
       }},
      {"misspelt",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         if (is_note(e)) return {};
         std::string name = e.name;
         char& letter = name[draw(random, name.size())];
         letter = letter == 'q' ? 'p' : 'q';
         return t.text().substr(0, e.open) + '<' + name + '>' + t.value(e) + "</" + name + '>' + t.text().substr(e.end);
       }},
      {"twice",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         // A measurement may be done twice, and so may a pair of propagators.
         if (is_note(e) || e.parent == "InlineMeasurements" || e.parent == "sink_pairs") return {};
         return t.replaced(e.end, e.end, t.text().substr(e.open, e.end - e.open));
       }},
      {"empty",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         if (is_note(e) || !e.leaf || e.name == "InlineMeasurements") return {};
         return t.replaced(e.content, e.close, "");
       }},
      {"junk",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = *number(t, random);
         const std::string value = t.value(e);
         const std::size_t end = value.find_last_not_of(" \t\r\n") + 1;
         return t.replaced(e.content + end, e.content + end, std::string(1, "xdLf_,;%"[draw(random, 8)]));
       }},
      {"second",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = *number(t, random);
         if (t.value(e).find_first_of("0123456789") == std::string::npos) return t.replaced(e.close, e.close, " true");
         return t.replaced(e.close, e.close, " 7");
       }},
      {"type",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& e = any(t, random);
         if (is_note(e) || !e.leaf) return {};
         const bool is_number = is_number_or_flag(t.value(e));
         return t.replaced(e.content, e.close, is_number ? "several" : "<word>" + t.value(e) + "</word>");
       }},
      {"not text",
       [](Text t, std::uint64_t& random) -> Result {
         const auto& root = t.elements()[0];
         const std::size_t at = root.content + draw(random, root.close - root.content);
         return t.replaced(at, at, std::string(1, static_cast<char>(0xC0 + draw(random, 0x3F))));
       }},
  };
  return kinds;
}

/// Where two texts begin to differ, for messages.
inline std::string difference(const std::string& good, const std::string& bad) {
  const std::size_t n = std::min(good.size(), bad.size());
  std::size_t at = 0;
  while (at < n && good[at] == bad[at]) ++at;
  const std::size_t begin = at > 60 ? at - 60 : 0;
  return "..." + bad.substr(begin, 140) + "...";
}

}  // namespace tests
