// A kernel as the machine runs it: one record per instruction, functions inlined, registers given places in a file of
// rows. A row holds one register of the 32 lanes of a warp side by side: 4 or 8 bytes a lane; a predicate is one 32-bit
// mask. Constants are rows too, of a pool that all warps share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ptx_machine {

constexpr int kWarp = 32;
constexpr std::uint32_t kAllLanes = ~0u;
/// What memory and registers hold that nobody wrote: a NaN as one double and as two floats, no index of anything.
constexpr std::uint64_t kPoison = 0x7FFBADBA7FFBADBAull;

/// Text that is not PTX, or not the part of it that the machine knows.
struct PtxError : std::runtime_error {
  PtxError(int line, const std::string& text) : std::runtime_error("line " + std::to_string(line) + ": " + text) {}
};
/// What a kernel did wrong; `code` is the CUresult that the driver's functions return from then on.
struct KernelError : std::runtime_error {
  KernelError(int code, const std::string& text) : std::runtime_error(text), code(code) {}
  int code;
};

enum class Space : std::uint8_t { generic, global, shared, local };
enum class Scope : std::uint8_t { cta, gpu, sys };
/// Of a load, store or atomic: weak ones order nothing and race; the others are "strong".
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel };
enum class AtomicOp : std::uint8_t { none, exch, cas, add, inc, dec, min, max, and_, or_, xor_ };
enum class Number : std::uint8_t { bits, u, s, f };

enum class Kind : std::uint8_t {
  alu,
  divide,
  branch,
  exit,
  trap,
  load_param,
  load,
  store,
  atomic,
  barrier,
  fence,
  warp_barrier,
  shuffle,
  vote,
  match,
  active_mask,
  check_defined,
  set_defined,
  dropped_reduction,
};
enum class Reduction : std::uint8_t { none, popc, and_, or_ };  // of bar.red
enum class Vote : std::uint8_t { all, any, uni, ballot };
enum class Shuffle : std::uint8_t { up, down, bfly, idx };

struct Instruction;
using Operation = void (*)(char* rows, const char* constants, const Instruction&, std::uint32_t mask);

constexpr int kNothing = -0x40000000;  ///< an operand that is not there

/// Operands are offsets into the warp's rows (>= 0) or the pool of constants (< 0).
struct Instruction {
  Operation run = nullptr;
  Kind kind = Kind::alu;
  Space space = Space::generic;
  Scope scope = Scope::cta;
  Order order = Order::weak;
  AtomicOp atomic = AtomicOp::none;
  Number number = Number::bits;
  std::uint8_t bytes = 0;      ///< of an element in memory
  std::uint8_t elements = 1;   ///< of a vector access
  std::uint8_t row_bytes = 4;  ///< of a lane of the register that is loaded, stored, divided
  std::uint8_t address_bytes = 8;
  std::uint8_t mode = 0;       ///< of setp, bar.red, vote, shfl
  bool constant_data = false;  ///< ld.global.nc
  bool negated = false;        ///< the guard
  bool not_c = false;          ///< the third operand of setp, or the predicate of a vote or bar.red
  bool aligned = false;        ///< barriers: the lanes of a warp arrive at the same instruction
  bool arrive = false;         ///< bar.arrive
  bool is_target = false;      ///< of a branch: lanes may meet here
  bool uniform = false;        ///< bra.uni
  bool result_unused = false;  ///< atomics: may be performed late
  int guard = kNothing;
  int o[6] = {kNothing, kNothing, kNothing, kNothing, kNothing, kNothing};
  std::int64_t immediate = 0;  ///< of addresses, parameters
  int target = -1;
  int line = 0;
};

inline const char* operand(const char* rows, const char* constants, int offset) {
  return offset >= 0 ? rows + offset : constants - offset - 1;
}

struct Parameter {
  std::string name;
  int offset, bytes;
};

struct Code {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<char> constants;
  std::vector<Parameter> parameters;
  int parameter_bytes = 0;
  int row_bytes = 0;   ///< of a warp's file
  int mask_bytes = 0;  ///< its first part: the carry flag, predicates, "is defined" masks; zero at first
  int shared_bytes = 0, local_bytes = 0;
  int registers = 0;  ///< 32-bit registers alive at a time
  int largest_block = 1024;
  /// Rows that are set when a warp begins: special register, offset.
  std::vector<std::pair<std::string, int>> specials;
  std::shared_ptr<const std::vector<std::string>> text;  ///< the lines of the module
  std::string source_line(int line) const;
};

constexpr std::uint64_t kSharedBegin = 1024;  // shared memory of address 0 is a legal place; ours catches null pointers
constexpr std::uint64_t kSharedWindow = 0x1'0000'0000, kLocalWindow = 0x2'0000'0000, kWindowBytes = 0x1'0000'0000;
constexpr std::uint64_t kLocalBegin = 64;

/// An operation on registers: what to run, and the bytes of a lane of its result and operands (1: predicate).
struct OperationInfo {
  Operation run;
  std::vector<int> widths;  ///< result first
};
/// nullptr if there is none of that name. The name is the opcode with its modifiers, as written in PTX.
const OperationInfo* find_operation(const std::string& name);
/// setp.<cmp>.<type>, with operands (p, q, a, b, c).
Operation find_comparison(const std::string& comparison, const std::string& type);

struct Module {
  std::map<std::string, std::unique_ptr<Code>> kernels;
  struct Variable {
    std::string name;
    std::uint64_t bytes = 0;
    int alignment = 1;
    std::vector<char> initial;
    std::uint64_t address = 0;
  };
  std::vector<std::unique_ptr<Variable>> variables;
  std::vector<std::string> dropped;  ///< what `drop` removed
};

struct ModuleOptions {
  int compute_capability = 90;
  /// The n-th barrier or fence (in the order of the text, from 0) of each kernel that has a memory fence is left out.
  int drop = -1;
};

/// Takes a module apart. `place(bytes, alignment)` gives module variables their addresses. Throws PtxError.
std::unique_ptr<Module> decode(std::string_view ptx, const ModuleOptions& options,
                               std::uint64_t (*place)(std::uint64_t bytes, void* user), void* user);

}  // namespace ptx_machine
