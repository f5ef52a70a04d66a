// From the text of a module to Code: scopes, functions inlined at each call, operands. Registers are virtual here;
// registers.cpp gives them rows.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>
#include <unordered_map>

#include "code.hpp"
#include "registers.hpp"
#include "text.hpp"

namespace ptx_machine {
namespace {

using Words = std::vector<Word>;

struct Type {
  Number number = Number::bits;
  bool floating = false, predicate = false;
  int bytes = 0;
};

std::optional<Type> find_type(std::string_view name) {
  if (name == "pred") return Type{Number::bits, false, true, 1};
  if (name.size() < 2 || name.size() > 3) return std::nullopt;
  int bits = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), bits);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  switch (name[0]) {
    case 'b':
      return Type{Number::bits, false, false, bits / 8};
    case 'u':
      return Type{Number::u, false, false, bits / 8};
    case 's':
      return Type{Number::s, false, false, bits / 8};
    case 'f':
      return bits >= 32 ? std::optional(Type{Number::f, true, false, bits / 8}) : std::nullopt;
    default:
      return std::nullopt;
  }
}
/// Bytes of a lane in a register's row; 1: a predicate.
int row_width(const Type& type) { return type.predicate ? 1 : type.bytes == 8 ? 8 : 4; }

/// A variable in parameter space, or memory with a name.
struct Variable {
  std::string name;
  Type type;
  int alignment = 1;
  std::uint64_t bytes = 0;
};

struct FunctionText {
  std::string name;
  bool kernel = false;
  std::vector<Variable> parameters, results;
  std::size_t begin = 0, end = 0;  ///< words of the body, without its braces
  int largest_block = 1024;
};

struct Symbol {
  enum Kind { reg, family, shared, local, global, blob, parameter } kind;
  int number = 0;  ///< first register, blob, offset in the kernel's parameters
  int count = 1, width = 4;
  std::uint64_t address = 0, bytes = 0;
};

class ModuleText {
 public:
  ModuleText(std::string_view ptx, const ModuleOptions& options) : words(split_words(ptx)), options_(options) {
    auto lines = std::make_shared<std::vector<std::string>>(split_lines(ptx));
    text = lines;
    while (!words[at].text.empty()) read_top();
  }

  Words words;
  std::size_t at = 0;
  std::shared_ptr<const std::vector<std::string>> text;
  std::map<std::string, FunctionText> functions;
  std::vector<std::unique_ptr<Module::Variable>> variables;

  const Word& peek(std::size_t ahead = 0) const { return words[std::min(at + ahead, words.size() - 1)]; }
  Word next() { return words[std::min(at++, words.size() - 1)]; }
  bool take(std::string_view text) {
    if (peek().text != text) return false;
    ++at;
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) fail("expected '" + std::string(text) + "', got '" + std::string(peek().text) + "'");
  }
  [[noreturn]] void fail(const std::string& what) const { throw PtxError(peek().line, what); }
  std::int64_t integer() {
    const bool minus = take("-");
    std::string_view word = next().text;
    if (word.ends_with('U')) word.remove_suffix(1);
    int base = 10;
    if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2), base = 16;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc{} || end != word.data() + word.size()) fail("expected an integer before this");
    return static_cast<std::int64_t>(minus ? 0 - value : value);
  }

  /// `.align 8 .b8 name[40]` after its state space.
  Variable variable() {
    Variable v;
    while (true) {
      const std::string_view word = next().text;
      if (word == ".align")
        v.alignment = static_cast<int>(integer());
      else if (word == ".ptr" || word == ".global" || word == ".shared" || word == ".local" || word == ".const")
        continue;
      else if (const auto type = find_type(word.substr(word.starts_with('.')))) {
        v.type = *type;
        break;
      } else
        fail("expected a type, got '" + std::string(word) + "'");
    }
    while (peek().text == ".ptr" || peek().text == ".align" || peek().text == ".global") {  // of pointers
      if (next().text == ".align") integer();
    }
    v.name = next().text;
    v.bytes = static_cast<std::uint64_t>(v.type.bytes);
    while (take("[")) {
      if (!take("]")) {
        v.bytes *= static_cast<std::uint64_t>(integer());
        expect("]");
      } else {
        v.bytes = 0;  // of a size given at launch
      }
    }
    v.alignment = std::max(v.alignment, v.type.bytes);
    return v;
  }

 private:
  void read_top() {
    const Word word = next();
    const std::string_view t = word.text;
    if (t == ".version") {
      next();
    } else if (t == ".target") {
      const std::string_view target = next().text;
      int sm = 0;
      if (!target.starts_with("sm_") ||
          std::from_chars(target.data() + 3, target.data() + target.size(), sm).ec != std::errc{})
        throw PtxError(word.line, "target " + std::string(target) + " is not known");
      if (sm > options_.compute_capability)
        throw PtxError(word.line, "made for " + std::string(target) + ", the device is sm_" +
                                      std::to_string(options_.compute_capability));
      while (take(",")) next();
    } else if (t == ".address_size") {
      if (integer() != 64) fail("only addresses of 64 bits");
    } else if (t == ".visible" || t == ".weak" || t == ".extern") {
      // of the next
    } else if (t == ".global" || t == ".const") {
      read_variable();
    } else if (t == ".entry" || t == ".func") {
      read_function(t == ".entry");
    } else {
      throw PtxError(word.line, "'" + std::string(t) + "' is not known here");
    }
  }

  void read_variable() {
    const Variable v = variable();
    auto made = std::make_unique<Module::Variable>();
    made->name = v.name;
    made->bytes = v.bytes;
    made->alignment = v.alignment;
    made->initial.assign(v.bytes, 0);
    if (take("=")) {
      const bool list = take("{");
      std::size_t k = 0;
      do {
        std::uint64_t bits = 0;
        const std::string_view word = peek().text;
        if (word.starts_with("0d") || word.starts_with("0D") || word.starts_with("0f") || word.starts_with("0F")) {
          const bool is_double = word[1] == 'd' || word[1] == 'D';
          if (is_double != (v.type.bytes == 8)) fail("a constant of another width");
          std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
          next();
        } else {
          bits = static_cast<std::uint64_t>(integer());
        }
        if (k + static_cast<std::size_t>(v.type.bytes) > v.bytes) fail("more values than elements");
        std::memcpy(made->initial.data() + k, &bits, static_cast<std::size_t>(v.type.bytes));
        k += static_cast<std::size_t>(v.type.bytes);
      } while (list && take(","));
      if (list) expect("}");
    }
    expect(";");
    variables.push_back(std::move(made));
  }

  std::vector<Variable> read_parameters() {
    std::vector<Variable> list;
    if (!take("(")) return list;
    while (!take(")")) {
      expect(".param");
      list.push_back(variable());
      take(",");
    }
    return list;
  }

  void read_function(bool kernel) {
    FunctionText f;
    f.kernel = kernel;
    if (!kernel) f.results = read_parameters();
    f.name = next().text;
    f.parameters = read_parameters();
    while (peek().text.starts_with('.')) {
      const std::string_view directive = next().text;
      if (directive == ".maxntid" || directive == ".reqntid") {
        int threads = static_cast<int>(integer());
        while (take(",")) threads *= static_cast<int>(integer());
        f.largest_block = threads;
      } else if (directive == ".minnctapersm" || directive == ".maxnreg") {
        integer();
      } else if (directive != ".noreturn") {
        fail(std::string(directive) + " is not known");
      }
    }
    if (take(";")) return;  // a declaration
    expect("{");
    f.begin = at;
    for (int depth = 1; depth > 0;) {
      const Word word = next();
      if (word.text.empty()) fail("a function without end");
      depth += word.text == "{" ? 1 : word.text == "}" ? -1 : 0;
    }
    f.end = at - 1;
    functions[f.name] = f;
  }

  const ModuleOptions& options_;
};

const std::map<std::string_view, AtomicOp> kAtomics{
    {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas}, {"add", AtomicOp::add}, {"inc", AtomicOp::inc},
    {"dec", AtomicOp::dec},   {"min", AtomicOp::min}, {"max", AtomicOp::max}, {"and", AtomicOp::and_},
    {"or", AtomicOp::or_},    {"xor", AtomicOp::xor_}};
const std::map<std::string_view, Space> kSpaces{
    {"global", Space::global}, {"shared", Space::shared}, {"local", Space::local}};
const std::map<std::string_view, Scope> kScopes{
    {"cta", Scope::cta}, {"cluster", Scope::gpu}, {"gpu", Scope::gpu}, {"gl", Scope::gpu}, {"sys", Scope::sys}};

/// One kernel, its calls inlined.
class KernelDecoder {
 public:
  KernelDecoder(ModuleText& module, const FunctionText& kernel,
                const std::vector<std::unique_ptr<Module::Variable>>& globals, int drop,
                std::vector<std::string>& dropped)
      : m_(module), drop_(drop), dropped_(dropped), code_(std::make_unique<Code>()) {
    code_->name = kernel.name;
    code_->text = module.text;
    code_->largest_block = kernel.largest_block;
    scopes_.emplace_back();
    for (const auto& v : globals) {
      Symbol s{Symbol::global};
      s.address = v->address, s.bytes = v->bytes;
      scopes_.back()[v->name] = s;
    }
    int offset = 0;
    for (const Variable& p : kernel.parameters) {
      offset = (offset + p.alignment - 1) / p.alignment * p.alignment;
      Symbol s{Symbol::parameter};
      s.number = offset, s.bytes = p.bytes;
      scopes_.back()[p.name] = s;
      code_->parameters.push_back({p.name, offset, static_cast<int>(p.bytes)});
      offset += static_cast<int>(p.bytes);
    }
    code_->parameter_bytes = offset;
    drops_here_ = drop >= 0 && has_memory_fence(kernel);
    decode_body(kernel, true);
    Instruction end;
    end.kind = Kind::exit;
    end.line = line_;
    emit(end);
    for (std::size_t k = 0; k < labels_.size(); ++k)
      if (labels_[k].place < 0) throw PtxError(labels_[k].line, "there is no label " + labels_[k].name);
    for (Draft& d : drafts_)
      if (d.instruction.target >= 0) {
        d.instruction.target = labels_[static_cast<std::size_t>(d.instruction.target)].place;
        drafts_[static_cast<std::size_t>(d.instruction.target)].instruction.is_target = true;
      }
    mark_unused_results();
    give_rows(drafts_, registers_, specials_, *code_);
  }

  std::unique_ptr<Code> take() { return std::move(code_); }

 private:
  struct Label {
    std::string name;
    int place, line;
  };
  struct Operand {
    enum Kind { none, reg, constant, address_of, special } kind = none;
    int number = -1;  ///< register
    int width = 4;
    std::uint64_t bits = 0;  ///< of a constant
    bool negated = false;    ///< !%p
    const Symbol* symbol = nullptr;
  };

  bool has_memory_fence(const FunctionText& f) const {
    for (std::size_t k = f.begin; k < f.end; ++k)
      if (m_.words[k].text.starts_with("membar.") || m_.words[k].text.starts_with("fence.")) return true;
    return false;
  }

  [[noreturn]] void fail(const std::string& what) const { throw PtxError(line_, what + ": " + source()); }
  std::string source() const {
    std::string s = (*m_.text)[static_cast<std::size_t>(line_)];
    s.erase(0, s.find_first_not_of(" \t"));
    return s;
  }

  // ---- registers and constants ----

  int new_register(int width) {
    registers_.push_back(width);
    return static_cast<int>(registers_.size()) - 1;
  }
  /// The pool's row of a constant, as an operand (negative).
  int constant(std::uint64_t bits, int width) {
    const auto [found, fresh] = constants_.try_emplace({bits, width}, 0);
    if (fresh) {
      auto& pool = code_->constants;
      const std::size_t row = width == 1 ? 4 : static_cast<std::size_t>(width) * kWarp;
      while (pool.size() % 8 != 0) pool.push_back(0);
      const std::size_t begin = pool.size();
      pool.resize(begin + row);
      if (width == 1) {
        const std::uint32_t mask = bits != 0 ? kAllLanes : 0;
        std::memcpy(pool.data() + begin, &mask, 4);
      } else {
        for (std::size_t l = 0; l < kWarp; ++l)
          std::memcpy(pool.data() + begin + l * static_cast<std::size_t>(width), &bits,
                      static_cast<std::size_t>(width));
      }
      found->second = -static_cast<int>(begin) - 1;
    }
    return found->second;
  }

  const Symbol* find(std::string_view name, int* index = nullptr) const {
    std::size_t digits = name.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
    const std::string whole(name), stem(name.substr(0, digits));
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(whole); found != scope->end()) return &found->second;
      if (digits == name.size()) continue;
      const auto family = scope->find(stem + "<");
      if (family == scope->end()) continue;
      int number = 0;
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
      if (number >= family->second.count) continue;
      if (index != nullptr) *index = number;
      return &family->second;
    }
    return nullptr;
  }

  std::optional<std::uint64_t> number_bits(bool minus, std::string_view word, int width) {
    std::uint64_t bits = 0;
    if (word.size() > 2 && word[0] == '0' && std::strchr("dDfF", word[1]) != nullptr && word.size() >= 10) {
      const bool is_double = word[1] == 'd' || word[1] == 'D';
      std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
      if (word.size() != (is_double ? 18u : 10u)) fail("a floating constant of a wrong length");
      if (width != (is_double ? 8 : 4)) fail("a constant of another width than the operand");
      if (minus) bits ^= std::uint64_t{1} << (is_double ? 63 : 31);
      return bits;
    }
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) return std::nullopt;
    std::string_view digits = word;
    if (digits.ends_with('U')) digits.remove_suffix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2), base = 16;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) fail("the number '" + std::string(word) + "'");
    return minus ? 0 - bits : bits;
  }

  /// A register, number, symbol or special register where a value of `width` bytes is wanted (0: any register).
  Operand value(int width) {
    Operand o;
    if (m_.take("!")) o.negated = true;
    const bool minus = m_.take("-");
    const std::string_view word = m_.next().text;
    if (word == "_") return o;
    int index = 0;
    if (const Symbol* s = find(word, &index)) {
      if (s->kind == Symbol::reg || s->kind == Symbol::family) {
        o.kind = Operand::reg;
        o.number = s->number + index;
        o.width = s->width;
        if (width != 0 && o.width != width)
          fail("register " + std::string(word) + " has " + std::to_string(8 * o.width) + " bits, " +
               std::to_string(8 * width) + " are due");
      } else {
        o.kind = Operand::address_of;
        o.symbol = s;
        o.width = 8;
        o.bits = s->address;
        if (s->kind == Symbol::blob || s->kind == Symbol::parameter)
          fail("the address of a parameter is not supported");
      }
      return o;
    }
    if (word.starts_with('%')) {
      o.kind = Operand::special;
      o.width = 4;
      o.number = special(std::string(word));
      return o;
    }
    if (width == 0) fail("expected a register, got '" + std::string(word) + "'");
    const auto bits = number_bits(minus, word, width);
    if (!bits) fail("'" + std::string(word) + "' is not known");
    o.kind = Operand::constant;
    o.bits = width == 4 ? *bits & 0xFFFFFFFFull : *bits;
    o.width = width;
    return o;
  }
  int special(const std::string& name) {
    static const char* const kKnown[] = {"%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",
                                         "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",     "%nctaid.x",
                                         "%nctaid.y",    "%nctaid.z",    "%laneid",      "%warpid",      "%nwarpid",
                                         "%smid",        "%lanemask_lt", "%lanemask_le", "%lanemask_eq", "%lanemask_ge",
                                         "%lanemask_gt", "%clock"};
    if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) fail(name + " is not known");
    const auto [found, fresh] = specials_.try_emplace(name, 0);
    if (fresh) found->second = new_register(4);
    return found->second;
  }

  /// The operand's place: a register, or a row of the pool.
  int source(const Operand& o, Draft& d) {
    switch (o.kind) {
      case Operand::reg:
      case Operand::special:
        d.uses.push_back(o.number);
        return o.number;
      case Operand::constant:
        return constant(o.bits, o.width);
      case Operand::address_of:
        return constant(o.bits, 8);
      case Operand::none:
        break;
    }
    fail("an operand is missing");
  }
  int destination(const Operand& o, Draft& d) {
    if (o.kind == Operand::none) return kNothing;
    if (o.kind != Operand::reg) fail("the result is not a register");
    d.defines.push_back(o.number);
    return o.number;
  }

  // ---- code ----

  void emit(const Instruction& i) { drafts_.push_back({i, {}, {}}); }
  Draft& draft(Kind kind) {
    drafts_.emplace_back();
    Draft& d = drafts_.back();
    d.instruction.kind = kind;
    d.instruction.line = line_;
    if (guard_ >= 0) {
      d.instruction.guard = guard_;
      d.instruction.negated = guard_negated_;
      d.uses.push_back(guard_);
    }
    return d;
  }
  int label(const std::string& name) {
    auto& names = label_names_.back();
    const auto [found, fresh] = names.try_emplace(name, static_cast<int>(labels_.size()));
    if (fresh) labels_.push_back({name, -1, line_});
    return found->second;
  }
  int fresh_label() {
    labels_.push_back({"(end of a function)", -1, line_});
    return static_cast<int>(labels_.size()) - 1;
  }
  void put_label(int number) { labels_[static_cast<std::size_t>(number)].place = static_cast<int>(drafts_.size()); }
  void jump(int to) { draft(Kind::branch).instruction.target = to; }

  void decode_body(const FunctionText& f, bool kernel) {
    const std::size_t back = m_.at;
    m_.at = f.begin;
    scopes_.emplace_back();
    label_names_.emplace_back();
    const int end = fresh_label();
    returns_.push_back(kernel ? -1 : end);
    int depth = 0;
    while (m_.at < f.end) statement(depth);
    put_label(end);
    returns_.pop_back();
    label_names_.pop_back();
    scopes_.pop_back();
    m_.at = back;
  }

  void statement(int& depth) {
    const Word word = m_.peek();
    line_ = word.line;
    guard_ = -1;
    if (m_.take("{")) {
      scopes_.emplace_back();
      ++depth;
      return;
    }
    if (m_.take("}")) {
      scopes_.pop_back();
      --depth;
      return;
    }
    if (m_.take(";")) return;
    if (word.text.starts_with('.')) {
      directive();
      return;
    }
    if (m_.peek(1).text == ":") {
      const int number = label(std::string(word.text));
      if (labels_[static_cast<std::size_t>(number)].place >= 0) fail("a label twice");
      put_label(number);
      m_.at += 2;
      return;
    }
    if (m_.take("@")) {
      guard_negated_ = m_.take("!");
      const Operand p = value(1);
      if (p.kind != Operand::reg) fail("the guard is not a predicate");
      guard_ = p.number;
    }
    instruction();
    if (!m_.take(";")) fail("more operands than expected, at '" + std::string(m_.peek().text) + "'");
  }

  void directive() {
    const std::string_view name = m_.next().text;
    if (name == ".reg") {
      const auto type = find_type(m_.next().text.substr(1));
      if (!type) fail("a type of registers that is not supported");
      do {
        std::string reg(m_.next().text);
        Symbol s{Symbol::reg};
        s.width = row_width(*type);
        if (m_.take("<")) {
          s.kind = Symbol::family;
          s.count = static_cast<int>(m_.integer());
          m_.expect(">");
          reg += "<";
        }
        s.number = static_cast<int>(registers_.size());
        registers_.resize(registers_.size() + static_cast<std::size_t>(s.count), s.width);
        scopes_.back()[reg] = s;
      } while (m_.take(","));
      m_.expect(";");
    } else if (name == ".shared" || name == ".local") {
      const Variable v = m_.variable();
      Symbol s{name == ".shared" ? Symbol::shared : Symbol::local};
      int& used = name == ".shared" ? code_->shared_bytes : code_->local_bytes;
      used = (used + v.alignment - 1) / v.alignment * v.alignment;
      s.address = static_cast<std::uint64_t>(used) + (name == ".shared" ? kSharedBegin : kLocalBegin);
      s.bytes = v.bytes;
      used += static_cast<int>(v.bytes);
      scopes_.back()[v.name] = s;
      m_.expect(";");
    } else if (name == ".param") {
      const Variable v = m_.variable();
      scopes_.back()[v.name] = new_blob(v.bytes);
      m_.expect(";");
    } else if (name == ".loc" || name == ".file") {
      const int line = m_.peek().line;
      while (m_.peek().line == line) m_.next();
    } else if (name == ".pragma") {
      while (!m_.take(";")) m_.next();
    } else {
      fail(std::string(name) + " is not known");
    }
  }
  Symbol new_blob(std::uint64_t bytes) {
    Symbol s{Symbol::blob};
    s.number = blobs_++;
    s.bytes = bytes;
    return s;
  }
  /// The register that stands for a piece of a parameter of a function.
  int blob_register(const Symbol& s, std::int64_t offset, int bytes) {
    if (offset < 0 || static_cast<std::uint64_t>(offset + bytes) > s.bytes) fail("outside the parameter");
    for (const auto& [key, reg] : pieces_)
      if (key.first == s.number && key.second != offset && key.second < offset + bytes &&
          offset < key.second + piece_bytes_[reg])
        fail("pieces of a parameter that overlap are not supported");
    const auto [found, fresh] = pieces_.try_emplace({s.number, offset}, 0);
    if (fresh) {
      found->second = new_register(bytes == 8 ? 8 : 4);
      piece_bytes_[found->second] = bytes;
    } else if (piece_bytes_[found->second] != bytes) {
      fail("a piece of a parameter with another size than before");
    }
    return found->second;
  }

  void instruction() {
    const std::string opcode(m_.next().text);
    const auto parts = split_dots(opcode);
    const std::string& op = parts[0];
    if (synchronises(op) && drops_here_ && returns_.size() == 1 && synchronisations_++ == drop_) {
      dropped_.push_back(code_->name + " line " + std::to_string(line_) + ": " + source());
      if (opcode.starts_with("bar.red") || opcode.starts_with("barrier.red") || opcode.starts_with("barrier.cta.red")) {
        dropped_reduction(parts);
      } else {
        while (m_.peek().text != ";") m_.next();
      }
      return;
    }
    if (op == "ld" || op == "ldu")
      load(parts);
    else if (op == "st")
      store(parts);
    else if (op == "atom" || op == "red")
      atomic(parts);
    else if (op == "bra")
      branch(parts);
    else if (op == "call")
      call();
    else if (op == "ret")
      leave();
    else if (op == "exit")
      draft(Kind::exit);
    else if (op == "trap")
      draft(Kind::trap);
    else if (op == "bar" || op == "barrier")
      barrier(parts);
    else if (op == "membar" || op == "fence")
      fence(parts);
    else if (op == "shfl")
      shuffle(parts);
    else if (op == "vote")
      vote(parts);
    else if (op == "match")
      match(parts);
    else if (op == "activemask")
      active_mask();
    else if (op == "setp")
      comparison(parts);
    else if (op == "cvta")
      to_generic(parts);
    else if (op == "mov" && (m_.peek().text == "{" || (m_.peek(1).text == "," && m_.peek(2).text == "{")))
      pieces(parts);
    else if (op == "div" && find_type(parts.back()) && !find_type(parts.back())->floating)
      divide(parts, false);
    else if (op == "rem")
      divide(parts, true);
    else if (op == "prefetch" || op == "prefetchu" || op == "nanosleep")
      skip_hint();
    else
      operation(opcode);
  }
  static bool synchronises(const std::string& op) {
    return op == "bar" || op == "barrier" || op == "membar" || op == "fence";
  }
  void skip_hint() {
    while (m_.peek().text != ";") m_.next();
  }

  void operation(const std::string& opcode) {
    std::string name = opcode;
    if (name == "lop3.b32") m_.at += 0;
    const OperationInfo* info = find_operation(name);
    if (info == nullptr) fail("the machine does not know " + opcode);
    if (opcode.starts_with("cvt.") && !name.ends_with("@8")) {  // from the lower part of a wider register
      int index = 0;
      const Symbol* s = find(m_.peek(2).text, &index);
      if (s != nullptr && s->width == 8 && info->widths[1] == 4) info = find_operation(name + "@8");
      if (info == nullptr) fail("the machine does not know this with a wider register");
    }
    Draft& d = draft(Kind::alu);
    d.instruction.run = info->run;
    for (std::size_t k = 0; k < info->widths.size(); ++k) {
      if (k > 0) m_.expect(",");
      if (k == 0) {
        const Operand o = value(0);
        if (o.kind != Operand::reg) fail("the result is not a register");
        // A conversion into a wider register fills it with the extended value: only where that has the same row.
        if (o.width != info->widths[0]) fail("the result has another width");
        d.instruction.o[0] = destination(o, d);
      } else {
        const Operand o = value(info->widths[k]);
        if (o.negated) {
          if (info->widths[k] != 1) fail("'!' on what is no predicate");
          const int reg = new_register(1);
          // A negation in front, as its own instruction.
          Draft negation = drafts_.back();
          negation.instruction = Instruction{};
          negation.uses.clear(), negation.defines.clear();
          negation.instruction.line = line_;
          negation.instruction.run = find_operation("not.pred")->run;
          negation.instruction.o[1] = source(o, negation);
          negation.instruction.o[0] = reg;
          negation.defines.push_back(reg);
          drafts_.insert(drafts_.end() - 1, negation);
          drafts_.back().instruction.o[k] = reg;
          drafts_.back().uses.push_back(reg);
          continue;
        }
        drafts_.back().instruction.o[k] = source(o, drafts_.back());
      }
    }
  }

  void comparison(const std::vector<std::string>& parts) {
    // setp.CmpOp{.BoolOp}{.ftz}.type p{|q}, a, b{, {!}c}
    const auto type = find_type(parts.back());
    if (parts.size() < 3 || !type) fail("setp of an unknown form");
    Draft& d = draft(Kind::alu);
    for (std::size_t k = 2; k + 1 < parts.size(); ++k) {
      if (parts[k] == "and")
        d.instruction.mode = 1;
      else if (parts[k] == "or")
        d.instruction.mode = 2;
      else if (parts[k] == "xor")
        d.instruction.mode = 3;
      else
        fail("the machine does not know setp with ." + parts[k]);
    }
    d.instruction.run = find_comparison(parts[1], "." + parts.back());
    if (d.instruction.run == nullptr) fail("the machine does not know this comparison");
    d.instruction.o[0] = destination(value(1), d);
    if (m_.take("|")) d.instruction.o[1] = destination(value(1), d);
    m_.expect(",");
    d.instruction.o[2] = source(value(row_width(*type)), d);
    m_.expect(",");
    d.instruction.o[3] = source(value(row_width(*type)), d);
    if (d.instruction.mode != 0) {
      m_.expect(",");
      const Operand c = value(1);
      d.instruction.not_c = c.negated;
      d.instruction.o[4] = source(c, d);
    }
  }

  void divide(const std::vector<std::string>& parts, bool remainder) {
    const auto type = find_type(parts.back());
    if (parts.size() != 2 || !type || type->bytes < 2 || type->number == Number::bits) fail("unknown division");
    Draft& d = draft(Kind::divide);
    d.instruction.bytes = static_cast<std::uint8_t>(type->bytes);
    d.instruction.row_bytes = static_cast<std::uint8_t>(row_width(*type));
    d.instruction.number = type->number;
    d.instruction.mode = remainder ? 1 : 0;
    d.instruction.o[0] = destination(value(row_width(*type)), d);
    m_.expect(",");
    d.instruction.o[1] = source(value(row_width(*type)), d);
    m_.expect(",");
    d.instruction.o[2] = source(value(row_width(*type)), d);
  }

  std::vector<Operand> braces(int width) {
    std::vector<Operand> list;
    m_.expect("{");
    do list.push_back(value(width));
    while (m_.take(","));
    m_.expect("}");
    return list;
  }

  /// mov with braces on one side.
  void pieces(const std::vector<std::string>& parts) {
    const auto type = find_type(parts.back());
    if (!type || parts.size() != 2 || (type->bytes != 4 && type->bytes != 8)) fail("mov of an unknown form");
    const std::string whole = ".b" + std::to_string(8 * type->bytes) + ".";
    if (m_.peek().text == "{") {
      const auto to = braces(0);
      m_.expect(",");
      const Operand from = value(type->bytes);
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (to[k].kind == Operand::none) continue;
        const OperationInfo* info =
            find_operation("part" + whole + std::to_string(to.size()) + "." + std::to_string(k));
        if (info == nullptr) fail("mov of an unknown form");
        Draft& d = draft(Kind::alu);
        d.instruction.run = info->run;
        if (to[k].width != info->widths[0]) fail("a piece of a wrong width");
        d.instruction.o[1] = source(from, d);
        d.instruction.o[0] = destination(to[k], d);
      }
    } else {
      const Operand to = value(type->bytes);
      m_.expect(",");
      const auto from = braces(4);
      const OperationInfo* info = find_operation("pack" + whole + std::to_string(from.size()));
      if (info == nullptr) fail("mov of an unknown form");
      Draft& d = draft(Kind::alu);
      d.instruction.run = info->run;
      for (std::size_t k = 0; k < from.size(); ++k) d.instruction.o[k + 1] = source(from[k], d);
      d.instruction.o[0] = destination(to, d);
    }
  }

  void to_generic(const std::vector<std::string>& parts) {
    // cvta{.to}.space.u64
    const bool from_generic = parts.size() > 2 && parts[1] == "to";
    const std::string space = parts[from_generic ? 2 : 1];
    const Operand to = value(8);
    m_.expect(",");
    const Operand from = value(8);
    Draft& d = draft(Kind::alu);
    const bool same = space == "global" || space == "const" || space == "param";
    if (!same && space != "shared" && space != "local") fail("an unknown space");
    d.instruction.run = find_operation(same ? "mov.u64" : (from_generic ? "from_generic." : "generic.") + space)->run;
    d.instruction.o[1] = source(from, d);
    d.instruction.o[0] = destination(to, d);
  }

  // ---- memory ----

  /// [register], [register+number], [symbol+number], [number]: into o[4] and immediate.
  /// A symbol of parameter space is returned instead.
  const Symbol* address(Draft& d, std::int64_t& offset) {
    m_.expect("[");
    const std::string_view word = m_.next().text;
    const Symbol* symbol = nullptr;
    int index = 0;
    if (const Symbol* s = find(word, &index)) {
      if (s->kind == Symbol::reg || s->kind == Symbol::family) {
        if (s->width == 1) fail("a predicate as address");
        d.instruction.o[4] = s->number + index;
        d.instruction.address_bytes = static_cast<std::uint8_t>(s->width);
        d.uses.push_back(s->number + index);
      } else if (s->kind == Symbol::blob || s->kind == Symbol::parameter) {
        symbol = s;
      } else {
        d.instruction.o[4] = constant(s->address, 8);
      }
    } else if (const auto bits = number_bits(false, word, 8)) {
      d.instruction.o[4] = constant(*bits, 8);
    } else {
      fail("'" + std::string(word) + "' is not known");
    }
    offset = 0;
    if (m_.take("+"))
      offset = m_.integer();
    else if (m_.peek().text == "-")
      offset = m_.integer();
    d.instruction.immediate = offset;
    m_.expect("]");
    return symbol;
  }

  /// The modifiers of ld, st, atom that say where, how and how much; the rest is returned.
  std::vector<std::string> access(const std::vector<std::string>& parts, Draft& d, bool& parameter, Type& type) {
    Instruction& i = d.instruction;
    std::vector<std::string> rest;
    bool scoped = false, ordered = false, vol = false;
    const auto found = find_type(parts.back());
    if (!found || found->predicate) fail("a type that is not known here");
    type = *found;
    i.bytes = static_cast<std::uint8_t>(type.bytes);
    i.number = type.number;
    for (std::size_t k = 1; k + 1 < parts.size(); ++k) {
      const std::string& p = parts[k];
      if (p == "param")
        parameter = true;
      else if (const auto s = kSpaces.find(p); s != kSpaces.end())
        i.space = s->second;
      else if (p == "const")
        i.space = Space::global, i.constant_data = true;
      else if (const auto c = kScopes.find(p); c != kScopes.end())
        i.scope = c->second, scoped = true;
      else if (p == "v2")
        i.elements = 2;
      else if (p == "v4")
        i.elements = 4;
      else if (p == "nc")
        i.constant_data = true;
      else if (p == "weak")
        ordered = true;
      else if (p == "volatile")
        i.order = Order::relaxed, i.scope = Scope::sys, ordered = true, vol = true;
      else if (p == "relaxed")
        i.order = Order::relaxed, ordered = true;
      else if (p == "acquire")
        i.order = Order::acquire, ordered = true;
      else if (p == "release")
        i.order = Order::release, ordered = true;
      else if (p == "acq_rel")
        i.order = Order::acq_rel, ordered = true;
      else if (p == "ca" || p == "cg" || p == "cs" || p == "lu" || p == "cv" || p == "wb" || p == "wt")
        continue;
      else
        rest.push_back(p);
    }
    (void)ordered;
    const bool weak = i.order == Order::weak || vol;
    if (parts[0] != "atom" && parts[0] != "red" && scoped == weak) fail("relaxed, acquire and release need a scope");
    if (i.constant_data && i.space != Space::global) fail(".nc is for global memory");
    return rest;
  }

  void load(const std::vector<std::string>& parts) {
    Draft d = new_draft(Kind::load);
    bool parameter = false;
    Type type;
    if (!access(parts, d, parameter, type).empty()) fail("the machine does not know a modifier");
    if (d.instruction.order == Order::release || d.instruction.order == Order::acq_rel) fail("a load that releases");
    std::vector<Operand> to = d.instruction.elements > 1 ? braces(0) : std::vector<Operand>{value(0)};
    if (to.size() != d.instruction.elements) fail("another number of registers than elements");
    m_.expect(",");
    std::int64_t offset = 0;
    const Symbol* symbol = address(d, offset);
    if (parameter != (symbol != nullptr)) fail("parameters are addressed by their names");
    int width = 0;
    for (std::size_t k = 0; k < to.size(); ++k) {
      if (to[k].kind == Operand::none) continue;
      if (to[k].width == 1 || to[k].width < type.bytes) fail("a register that is too narrow");
      if (width != 0 && to[k].width != width) fail("registers of different widths");
      width = to[k].width;
    }
    d.instruction.row_bytes = static_cast<std::uint8_t>(width);
    if (parameter) {
      for (std::size_t k = 0; k < to.size(); ++k) {
        const std::int64_t place = offset + static_cast<std::int64_t>(k) * type.bytes;
        if (symbol->kind == Symbol::blob) {
          move(to[k], blob_register(*symbol, place, type.bytes), type, width);
          continue;
        }
        if (place < 0 || static_cast<std::uint64_t>(place + type.bytes) > symbol->bytes) fail("outside the parameter");
        if ((symbol->number + place) % type.bytes != 0) fail("a parameter that is not aligned");
        Draft& p = draft(Kind::load_param);
        p.instruction.bytes = d.instruction.bytes;
        p.instruction.number = type.number;
        p.instruction.row_bytes = d.instruction.row_bytes;
        p.instruction.immediate = symbol->number + place;
        p.instruction.o[0] = destination(to[k], p);
      }
      return;
    }
    for (std::size_t k = 0; k < to.size(); ++k) d.instruction.o[k] = destination(to[k], d);
    drafts_.push_back(d);
  }

  /// A piece of a parameter of a function into a register or back.
  void move(const Operand& to, int from, const Type& type, int width) {
    if ((type.bytes == 8 ? 8 : 4) != width) fail("parameters in wider registers are not supported");
    Draft& d = draft(Kind::alu);
    d.instruction.run = find_operation(width == 8 ? "mov.u64" : "mov.u32")->run;
    d.instruction.o[1] = from;
    d.uses.push_back(from);
    d.instruction.o[0] = destination(to, d);
  }

  void store(const std::vector<std::string>& parts) {
    Draft d = new_draft(Kind::store);
    bool parameter = false;
    Type type;
    if (!access(parts, d, parameter, type).empty()) fail("the machine does not know a modifier");
    if (d.instruction.order == Order::acquire || d.instruction.order == Order::acq_rel) fail("a store that acquires");
    if (d.instruction.constant_data) fail("a store to constant data");
    std::int64_t offset = 0;
    const Symbol* symbol = address(d, offset);
    if (parameter != (symbol != nullptr && symbol->kind == Symbol::blob))
      fail("parameters are addressed by their names");
    m_.expect(",");
    const int due = row_width(type);
    std::vector<Operand> from;
    if (d.instruction.elements > 1) {
      m_.expect("{");
      do from.push_back(stored(due));
      while (m_.take(","));
      m_.expect("}");
    } else {
      from.push_back(stored(due));
    }
    if (from.size() != d.instruction.elements) fail("another number of registers than elements");
    int width = 0;
    for (const Operand& o : from)
      if (o.kind == Operand::reg) {
        if (width != 0 && width != o.width) fail("registers of different widths");
        width = o.width;
      }
    d.instruction.row_bytes = static_cast<std::uint8_t>(width == 0 ? due : width);
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (from[k].kind == Operand::constant) from[k].width = d.instruction.row_bytes;
      if (parameter) {
        Draft& p = draft(Kind::alu);
        if (d.instruction.row_bytes != due) fail("parameters from wider registers are not supported");
        p.instruction.run = find_operation(due == 8 ? "mov.u64" : "mov.u32")->run;
        p.instruction.o[1] = source(from[k], p);
        const int piece = blob_register(*symbol, offset + static_cast<std::int64_t>(k) * type.bytes, type.bytes);
        p.instruction.o[0] = piece;
        p.defines.push_back(piece);
      } else {
        d.instruction.o[k] = source(from[k], d);
      }
    }
    if (!parameter) drafts_.push_back(d);
  }
  /// What is stored: a constant of the type's width, or a register as wide or wider.
  Operand stored(int due) {
    const std::string_view word = m_.peek().text;
    const bool reg = find(word) != nullptr || word.starts_with('%');
    const Operand o = value(reg ? 0 : due);
    if (o.kind == Operand::none) fail("'_' cannot be stored");
    if (o.width < due || o.width == 1) fail("a register that is too narrow");
    return o;
  }

  Draft new_draft(Kind kind) {
    draft(kind);
    Draft d = drafts_.back();
    drafts_.pop_back();
    return d;
  }

  void atomic(const std::vector<std::string>& parts) {
    Draft d = new_draft(Kind::atomic);
    Instruction& i = d.instruction;
    i.scope = Scope::gpu;
    i.order = Order::relaxed;
    bool parameter = false;
    Type type;
    const auto rest = access(parts, d, parameter, type);
    if (rest.size() != 1 || !kAtomics.contains(rest[0])) fail("an unknown atomic operation");
    i.atomic = kAtomics.at(rest[0]);
    i.row_bytes = static_cast<std::uint8_t>(row_width(type));
    if (type.bytes < 4 || parameter || i.elements != 1) fail("an atomic operation of an unknown form");
    if (i.space == Space::local) fail("atomic operations on local memory");
    const AtomicOp op = i.atomic;
    const bool bits = type.number == Number::bits, floating = type.floating;
    const bool valid = op == AtomicOp::exch || op == AtomicOp::cas || op == AtomicOp::and_ || op == AtomicOp::or_ ||
                               op == AtomicOp::xor_
                           ? bits
                       : op == AtomicOp::add ? !bits && !(type.number == Number::s && type.bytes == 8)
                       : op == AtomicOp::inc || op == AtomicOp::dec ? type.number == Number::u && type.bytes == 4
                                                                    : !bits && !floating;
    if (!valid) fail("PTX has no atomic operation of this type");
    i.result_unused = parts[0] == "red";
    if (!i.result_unused) {
      i.o[0] = destination(value(i.row_bytes), d);
      m_.expect(",");
    }
    std::int64_t offset = 0;
    if (address(d, offset) != nullptr) fail("an atomic operation on a parameter");
    m_.expect(",");
    i.o[1] = source(value(i.row_bytes), d);
    if (op == AtomicOp::cas) {
      m_.expect(",");
      i.o[2] = source(value(i.row_bytes), d);
    }
    drafts_.push_back(d);
  }

  /// The result of `atom` that no instruction reads: the hardware does not wait for it either.
  void mark_unused_results() {
    std::vector<bool> used(registers_.size());
    for (const Draft& d : drafts_)
      for (const int reg : d.uses) used[static_cast<std::size_t>(reg)] = true;
    for (Draft& d : drafts_)
      if (d.instruction.kind == Kind::atomic && d.instruction.o[0] >= 0 &&
          !used[static_cast<std::size_t>(d.instruction.o[0])])
        d.instruction.result_unused = true;
  }

  // ---- control ----

  void branch(const std::vector<std::string>& parts) {
    const bool uniform = parts.size() == 2 && parts[1] == "uni";
    if (parts.size() > 2 || (parts.size() == 2 && !uniform)) fail("an unknown branch");
    const int to = label(std::string(m_.next().text));
    Draft& d = draft(Kind::branch);
    d.instruction.target = to;
    d.instruction.uniform = uniform && guard_ >= 0;
  }
  void leave() {
    if (returns_.back() < 0)
      draft(Kind::exit);
    else
      jump(returns_.back());
  }

  void call() {
    // call{.uni} (result, ...), name, (argument, ...)
    const int line = line_;
    const auto names = [this] {
      std::vector<const Symbol*> list;
      m_.expect("(");
      if (m_.take(")")) return list;
      do {
        const Symbol* s = find(m_.next().text);
        if (s == nullptr || s->kind != Symbol::blob) fail("arguments are parameters declared before the call");
        list.push_back(s);
      } while (m_.take(","));
      m_.expect(")");
      return list;
    };
    std::vector<const Symbol*> results, arguments;
    if (m_.peek().text == "(") {
      results = names();
      m_.expect(",");
    }
    const std::string name(m_.next().text);
    if (m_.take(",")) {
      if (m_.peek().text != "(") fail("a call through a pointer");
      arguments = names();
    }
    const auto found = m_.functions.find(name);
    if (found == m_.functions.end()) fail("there is no function " + name);
    const FunctionText& f = found->second;
    if (f.kernel || results.size() != f.results.size() || arguments.size() != f.parameters.size())
      fail("the call does not fit the function");
    if (returns_.size() > 30) fail("recursion, or functions nested more than 30 deep");
    const int after = fresh_label();
    if (guard_ >= 0) {
      Draft& d = draft(Kind::branch);
      d.instruction.target = after;
      d.instruction.negated = !d.instruction.negated;
      guard_ = -1;
    }
    // The function sees the module's variables and its own parameters, which are the caller's blobs.
    std::vector<std::unordered_map<std::string, Symbol>> inside{scopes_.front()};
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (results[k]->bytes < f.results[k].bytes) fail("a result that is too small");
      inside.back()[f.results[k].name] = *results[k];
    }
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (arguments[k]->bytes != f.parameters[k].bytes) fail("an argument of another size");
      inside.back()[f.parameters[k].name] = *arguments[k];
    }
    std::swap(scopes_, inside);
    decode_body(f, false);
    std::swap(scopes_, inside);
    put_label(after);
    line_ = line;
  }

  // ---- barriers and warps ----

  void dropped_reduction(const std::vector<std::string>& parts) {
    Draft& d = draft(Kind::dropped_reduction);
    barrier_operands(parts, d, parts.back() == "pred");
  }
  void barrier_operands(const std::vector<std::string>& parts, Draft& d, bool predicate) {
    // {d,} a{, b}{, {!}c}
    const bool reduces = std::find(parts.begin(), parts.end(), "red") != parts.end();
    const auto read_mode = [&] {
      for (const std::string& p : parts)
        d.instruction.mode = static_cast<std::uint8_t>(p == "popc"  ? Reduction::popc
                                                       : p == "and" ? Reduction::and_
                                                       : p == "or"  ? Reduction::or_
                                                                    : Reduction{d.instruction.mode});
    };
    read_mode();
    if (reduces) {
      d.instruction.o[0] = destination(value(predicate ? 1 : 4), d);
      m_.expect(",");
    }
    d.instruction.o[1] = source(value(4), d);
    if (reduces) {
      m_.expect(",");
      // the count of threads is left out or there: what comes last is the predicate
      const std::string_view word = m_.peek().text;
      int index = 0;
      const Symbol* s = find(word, &index);
      if (word != "!" && !(s != nullptr && s->width == 1)) {
        d.instruction.o[2] = source(value(4), d);
        m_.expect(",");
      }
      const Operand c = value(1);
      d.instruction.not_c = c.negated;
      d.instruction.o[3] = source(c, d);
    } else if (m_.take(",")) {
      d.instruction.o[2] = source(value(4), d);
    }
  }
  void barrier(const std::vector<std::string>& parts) {
    if (parts.size() > 1 && parts[1] == "warp") {
      if (parts.size() != 3 || parts[2] != "sync") fail("an unknown barrier");
      Draft& d = draft(Kind::warp_barrier);
      d.instruction.o[5] = source(value(4), d);
      return;
    }
    Draft& d = draft(Kind::barrier);
    d.instruction.aligned = parts[0] == "bar";
    bool known = false;
    for (std::size_t k = 1; k < parts.size(); ++k) {
      const std::string& p = parts[k];
      if (p == "aligned")
        d.instruction.aligned = true;
      else if (p == "arrive")
        d.instruction.arrive = known = true;
      else if (p == "sync" || p == "red")
        known = true;
      else if (p != "cta" && p != "popc" && p != "and" && p != "or" && p != "pred" && p != "u32")
        fail("an unknown barrier");
    }
    if (!known) fail("an unknown barrier");
    barrier_operands(parts, d, parts.back() == "pred");
  }
  void fence(const std::vector<std::string>& parts) {
    const auto scope = kScopes.find(parts.back());
    const bool known = (parts[0] == "membar" && parts.size() == 2) ||
                       (parts[0] == "fence" &&
                        (parts.size() == 2 || (parts.size() == 3 && (parts[1] == "sc" || parts[1] == "acq_rel"))));
    if (!known || scope == kScopes.end()) fail("an unknown fence");
    draft(Kind::fence).instruction.scope = scope->second;
  }
  void shuffle(const std::vector<std::string>& parts) {
    // shfl.sync.mode.b32 d{|p}, a, b, c, mask
    static const std::map<std::string_view, Shuffle> kModes{
        {"up", Shuffle::up}, {"down", Shuffle::down}, {"bfly", Shuffle::bfly}, {"idx", Shuffle::idx}};
    if (parts.size() != 4 || parts[1] != "sync" || !kModes.contains(parts[2]) || parts[3] != "b32")
      fail("an unknown shuffle");
    Draft& d = draft(Kind::shuffle);
    d.instruction.mode = static_cast<std::uint8_t>(kModes.at(parts[2]));
    d.instruction.o[0] = destination(value(4), d);
    if (m_.take("|")) d.instruction.o[4] = destination(value(1), d);
    for (const int k : {1, 2, 3, 5}) {
      m_.expect(",");
      d.instruction.o[k] = source(value(4), d);
    }
  }
  void vote(const std::vector<std::string>& parts) {
    static const std::map<std::string_view, Vote> kModes{
        {"all", Vote::all}, {"any", Vote::any}, {"uni", Vote::uni}, {"ballot", Vote::ballot}};
    if (parts.size() != 4 || parts[1] != "sync" || !kModes.contains(parts[2])) fail("an unknown vote");
    Draft& d = draft(Kind::vote);
    d.instruction.mode = static_cast<std::uint8_t>(kModes.at(parts[2]));
    d.instruction.o[0] = destination(value(parts[2] == "ballot" ? 4 : 1), d);
    m_.expect(",");
    const Operand p = value(1);
    d.instruction.not_c = p.negated;
    d.instruction.o[1] = source(p, d);
    m_.expect(",");
    d.instruction.o[5] = source(value(4), d);
  }
  void match(const std::vector<std::string>& parts) {
    if (parts.size() != 4 || parts[1] != "any" || parts[2] != "sync") fail("an unknown match");
    const auto type = find_type(parts[3]);
    if (!type || type->bytes < 4) fail("an unknown match");
    Draft& d = draft(Kind::match);
    d.instruction.row_bytes = static_cast<std::uint8_t>(type->bytes);
    d.instruction.o[0] = destination(value(4), d);
    m_.expect(",");
    d.instruction.o[1] = source(value(type->bytes), d);
    m_.expect(",");
    d.instruction.o[5] = source(value(4), d);
  }
  void active_mask() {
    Draft& d = draft(Kind::active_mask);
    d.instruction.o[0] = destination(value(4), d);
  }

  ModuleText& m_;
  const int drop_;
  std::vector<std::string>& dropped_;
  bool drops_here_ = false;
  int synchronisations_ = 0;
  std::unique_ptr<Code> code_;
  std::vector<Draft> drafts_;
  std::vector<int> registers_;  ///< widths
  std::map<std::string, int> specials_;
  std::map<std::pair<std::uint64_t, int>, int> constants_;
  std::vector<std::unordered_map<std::string, Symbol>> scopes_;
  std::vector<std::unordered_map<std::string, int>> label_names_;
  std::vector<Label> labels_;
  std::vector<int> returns_;
  int blobs_ = 0;
  std::map<std::pair<int, std::int64_t>, int> pieces_;
  std::map<int, int> piece_bytes_;
  int line_ = 0, guard_ = -1;
  bool guard_negated_ = false;
};

}  // namespace

std::string Code::source_line(int line) const {
  std::string s = (*text)[static_cast<std::size_t>(line)];
  s.erase(0, s.find_first_not_of(" \t"));
  return "line " + std::to_string(line) + " `" + s + "`";
}

std::unique_ptr<Module> decode(std::string_view ptx, const ModuleOptions& options,
                               std::uint64_t (*place)(std::uint64_t bytes, void* user), void* user) {
  ModuleText text(ptx, options);
  auto module = std::make_unique<Module>();
  module->variables = std::move(text.variables);
  for (const auto& v : module->variables) v->address = place(std::max<std::uint64_t>(v->bytes, 1), user);
  for (const auto& [name, f] : text.functions)
    if (f.kernel)
      module->kernels[name] = KernelDecoder(text, f, module->variables, options.drop, module->dropped).take();
  return module;
}

}  // namespace ptx_machine
