#include "jit/runtime/gathering.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "jit/ir/builder.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/support/env.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

// With fewer, what follows is asked for in time as it is.
constexpr std::size_t kFewest = 6;
// Launches that have found the same contents: a copy takes as long as two or three.
constexpr int kPatience = 3;
// A copy that so many plans have not used is of contents that have gone, or takes memory that others need more: to make it anew takes
// as long as a few of them.
constexpr std::uint64_t kLongAgo = 64;
// After so many launches on copies these may be made anew at the price of some hundredths of that time.
constexpr int kWorthMakingAnew = 64;
// Each way's turns of a trial: what else the machine does lasts longer than some launches.
constexpr int kRoundsOfTrial = 3;
// Copies are to save a little: they take memory, and a few launches' time to make.
constexpr double kPriceOfCopies = 1.05;
// Where fields take more than this of the memory there are no copies: what else the process and the system need is not known.
constexpr double kShareOfMemory = 0.75;

bool is_plain(const ir::Place& place) { return place.stride == 0 && place.leap == 0 && place.shifted_by < 0; }

std::size_t index(std::int16_t number) { return static_cast<std::size_t>(number); }

/// As Place::frame has it.
std::int16_t frame_of(std::int16_t slot) { return slot == 0 ? std::int16_t{-1} : slot; }

std::int64_t words_of(const ir::Kernel& kernel, std::span<const Operand> operands) {
  std::int64_t words = 0;
  for (const Operand& one : operands) words += kernel.leaves[index(one.leaf)].components;
  return words;
}

/// Of a kernel's last field, which has no groups before `first`, as if it had.
void* address_for(const ir::Kernel& kernel, void* first_of_all, std::int64_t first) {
  const ir::Leaf& copy = kernel.leaves.back();
  const std::int64_t words = word_index(kernel.lanes, copy.word, copy.components, first * kernel.lanes, 0);
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(first_of_all) -
                                 static_cast<std::uintptr_t>(words * ir::bytes(copy.word)));
}

}  // namespace

ir::Kernel gathering(const ir::Kernel& kernel, std::span<const Operand> operands) {
  ir::Kernel made;
  made.name = "gather";
  made.lanes = kernel.lanes;
  made.slots = kernel.slots;
  made.leaves = kernel.leaves;
  for (ir::Leaf& leaf : made.leaves) leaf.read = leaf.written = false;
  const auto copy = static_cast<std::int16_t>(made.leaves.size());
  const ir::Type word = kernel.leaves[index(operands.front().leaf)].word;
  made.leaves.push_back(
      {.word = word, .components = static_cast<std::int16_t>(words_of(kernel, operands)), .written = true});
  ir::Builder builder(made);
  std::int16_t next = 0;
  for (const Operand& one : operands)
    for (std::int16_t c = 0; c < kernel.leaves[index(one.leaf)].components; ++c, ++next)
      made.stores.push_back({{.leaf = copy, .component = next, .frame = frame_of(one.slot)},
                             builder.load({.leaf = one.leaf, .slot = one.slot, .component = c})});
  builder.finish();
  return made;
}

ir::Kernel gathered(const ir::Kernel& kernel, std::span<const Operand> operands) {
  ir::Kernel made = kernel;
  made.name += "_gathered";
  const auto copy = static_cast<std::int16_t>(made.leaves.size());
  made.leaves.push_back({.word = kernel.leaves[index(operands.front().leaf)].word,
                         .components = static_cast<std::int16_t>(words_of(kernel, operands)),
                         .read = true});
  std::map<std::pair<std::int16_t, std::int16_t>, std::int16_t> first;
  std::int16_t next = 0;
  for (const Operand& one : operands) {
    first[{one.leaf, one.slot}] = next;
    next = static_cast<std::int16_t>(next + kernel.leaves[index(one.leaf)].components);
  }
  std::vector<bool> read(made.leaves.size(), false);
  for (ir::Node& n : made.nodes) {
    if (n.op != ir::Op::load) continue;
    if (const auto found = first.find({n.place.leaf, n.place.slot}); found != first.end())
      n.place = {.leaf = copy,
                 .component = static_cast<std::int16_t>(found->second + n.place.component),
                 .frame = frame_of(n.place.slot)};
    read[index(n.place.leaf)] = true;
  }
  for (std::size_t i = 0; i < read.size(); ++i) made.leaves[i].read = read[i];
  return made;
}

std::vector<Operand> operands_to_gather(const ir::Kernel& kernel) {
  if (kernel.listed) return {};
  std::map<std::int16_t, std::set<std::int16_t>> slots;
  std::set<std::int16_t> unfit;  // leaves
  for (const ir::Node& n : kernel.nodes) {
    if (n.op != ir::Op::load) continue;
    const ir::Slot& slot = kernel.slots[index(n.place.slot)];
    slots[n.place.leaf].insert(n.place.slot);
    const bool is_near = n.place.slot == 0 || (slot.parent == 0 && !slot.gathered);
    if (!is_plain(n.place) || !is_near) unfit.insert(n.place.leaf);
  }
  std::map<ir::Type, std::vector<Operand>> of_word;
  for (const auto& [leaf, places] : slots) {
    const ir::Leaf& field = kernel.leaves[index(leaf)];
    const bool fits = !field.written && !field.host_order && field.word != ir::Type::b1 && !unfit.contains(leaf);
    // What is read at the sites alone is one stream as it is.
    const bool is_shifted = *places.rbegin() != 0;
    if (fits && is_shifted && places.size() <= 2)
      for (const std::int16_t slot : places) of_word[field.word].push_back({leaf, slot});
  }
  std::vector<Operand> most;
  for (const auto& [word, operands] : of_word)
    if (operands.size() > most.size()) most = operands;
  if (most.size() < kFewest || words_of(kernel, most) > std::numeric_limits<std::int16_t>::max()) return {};
  return most;
}

Gathering::Gathering(Device& device, Memory& memory, KernelTable& table, Variants& variants, bool useful)
    : device_(device), memory_(memory), table_(table), variants_(variants), useful_(useful) {
  if (useful_) memory_.add_holder(this);
}

Gathering::~Gathering() {
  if (!useful_) return;
  memory_.remove_holder(this);
  while (!copies_.empty()) free(copies_.size() - 1);
}

Gathering::Found Gathering::find(const Launch& launch, std::size_t size_class, std::span<void* const> addresses,
                                 std::span<const std::int32_t* const> tables) {
  if (!useful_ || !env().gather.value_or(true) || launch.component != 0) return {};
  if (launch.domain->begin == launch.domain->end) return {};
  KernelHandle& kernel = *launch.kernel;
  if (!kernel.gather) {
    kernel.gather = std::make_unique<GatherState>(operands_to_gather(kernel.ir));
    kernel.gather->leaves.resize(kernel.ir.leaves.size());
  }
  GatherState& state = *kernel.gather;
  if (state.operands.empty()) return {};
  const GatherState::Use& use = use_of(launch, state, size_class);
  const bool tries = use.trial && !env().gather;
  if (!use.copies && !tries && !env().gather) return {};
  choose(launch, state);
  if (chosen_.size() < kFewest) return {};
  if (tries && use.trial->way() == 0) return {.is_timed = true};
  const Copy* copy = copy_of(launch, addresses, tables);
  if (copy == nullptr) return {};

  KernelHandle& made = kernel_for(kernel, "gathered", gathered);
  return {&made, address_for(made.ir, copy->address, launch.domain->begin), tries};
}

GatherState::Use& Gathering::use_of(const Launch& launch, GatherState& state, std::size_t size_class) {
  if (state.uses.size() <= size_class) state.uses.resize(size_class + 1);
  GatherState::Use& use = state.uses[size_class];
  if (!use.is_known && !env().gather) find_out(launch, state, use);
  return use;
}

/// By all that the kernel goes through: copies are of no use in the nearest caches; beyond, that is tried. Without trials where it comes
/// from memory otherwise.
void Gathering::find_out(const Launch& launch, const GatherState& state, GatherState::Use& use) {
  const ir::Kernel& kernel = launch.kernel->ir;
  std::int64_t each = 0;
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i) {
    const auto places = std::ranges::count(state.operands, static_cast<std::int16_t>(i), &Operand::leaf);
    each += std::max<std::int64_t>(places, 1) * kernel.leaves[i].components * ir::bytes(kernel.leaves[i].word);
  }
  const auto bytes = static_cast<double>(launch.domain->sites * each);
  use.is_known = true;
  if (env().tune == Env::Tune::off)
    use.copies = variants_.exceeds_caches(bytes);
  else if (!variants_.is_near(bytes))
    use.trial.emplace(2, kRoundsOfTrial);
}

void Gathering::launched(const Launch& launch, std::size_t size_class, double seconds) {
  GatherState::Use& use = launch.kernel->gather->uses[size_class];
  if (!use.trial) return;  // the trial has ended with another launch of this plan
  const double price = use.trial->way() != 0 ? kPriceOfCopies : 1;
  use.trial->record(price * seconds / static_cast<double>(launch.domain->sites));
  if (use.trial->trying()) return;
  use.copies = use.trial->way() != 0;
  use.trial.reset();
  have_lost_ |= !use.copies;
  log_debug("tune", launch.kernel->ir.name, ", ", launch.domain->sites, " sites: faster ",
            use.copies ? "with" : "without", " copies of its operands");
}

/// Copies that lost are not told from others: those are made anew.
void Gathering::begin_plan() {
  ++plan_;
  if (std::exchange(have_lost_, false)) free_spare_copies();
  for (std::size_t i = copies_.size(); i-- > 0;)
    if (copies_[i].used + kLongAgo < plan_) free(i);
}

/// The operands that have been what they are for some launches, and the name of their copy.
void Gathering::choose(const Launch& launch, GatherState& state) {
  const Domain& domain = *launch.domain;
  const std::int64_t middle = launch.fields.front()->order().first_odd;
  const auto is_odd = [&](std::int64_t group) { return group >= middle; };
  const bool one_parity = is_odd(domain.begin) == is_odd(domain.end - 1);
  chosen_.clear();
  name_ = {static_cast<std::uint64_t>(domain.begin), static_cast<std::uint64_t>(domain.end)};
  for (std::size_t i = 0; i < state.operands.size();) {
    const Operand one = state.operands[i];
    GatherState::Leaf& leaf = state.leaves[index(one.leaf)];
    const std::uint64_t contents = launch.fields[index(one.leaf)]->contents();
    if (contents != leaf.contents && leaf.unchanged >= kPatience) free_copies_of(leaf.contents);
    leaf.unchanged = contents != 0 && contents == leaf.contents ? leaf.unchanged + 1 : 0;
    leaf.contents = contents;
    bool fits = leaf.unchanged >= kPatience;
    std::size_t last = i;
    while (last < state.operands.size() && state.operands[last].leaf == one.leaf) ++last;
    if (last - i > 1) {
      // Twice the words of a field, unless the shift leads to the sites of the other checkerboard.
      const std::int16_t slot = state.operands[last - 1].slot;
      fits = fits && one_parity && one.slot == 0 &&
             is_odd(launch.maps[index(slot)]->group_sources()[static_cast<std::size_t>(domain.begin)] / 2) !=
                 is_odd(domain.begin);
    }
    for (; i < last; ++i) {
      if (!fits) continue;
      const Operand& operand = state.operands[i];
      chosen_.push_back(operand);
      name_.push_back(contents);
      name_.push_back(operand.slot == 0 ? 0 : launch.maps[index(operand.slot)]->identity().value());
    }
  }
}

const Gathering::Copy* Gathering::copy_of(const Launch& launch, std::span<void* const> addresses,
                                          std::span<const std::int32_t* const> tables) {
  for (Copy& copy : copies_)
    if (copy.name == name_) {
      copy.used = plan_;
      ++served_;
      return &copy;
    }

  const ir::Kernel& kernel = launch.kernel->ir;
  const Domain& domain = *launch.domain;
  const auto words = words_of(kernel, chosen_);
  const std::size_t bytes = static_cast<std::size_t>((domain.end - domain.begin) * kernel.lanes * words) *
                            static_cast<std::size_t>(ir::bytes(kernel.leaves[index(chosen_.front().leaf)].word));
  const double room = kShareOfMemory * static_cast<double>(memory_.limit());
  if (static_cast<double>(memory_.live_bytes() + bytes) > room) return nullptr;
  void* const address = memory_.try_allocate(bytes);
  if (address == nullptr) return nullptr;
  Block block(memory_, address, bytes);

  KernelHandle& maker = kernel_for(*launch.kernel, "gathering", gathering);
  std::vector<void*> fields(addresses.begin(), addresses.end());
  fields.push_back(address_for(maker.ir, address, domain.begin));
  const std::size_t size_class = size_class_of(domain);
  variants_.prepare(maker, size_class, 2.0 * static_cast<double>(bytes));
  DeviceLaunch run;
  run.kernel = &maker.ir;
  apply(maker.classes[size_class], run);
  run.fields = fields;
  run.tables = tables;
  run.begin = domain.begin, run.end = domain.end;
  run.middle = launch.fields.front()->order().first_odd;
  const Device::Mark start = device_.mark();
  if (!device_.launch(run)) return nullptr;
  maker.seconds += device_.seconds_between(start, device_.mark());
  ++maker.calls;
  maker.bytes += 2.0 * static_cast<double>(bytes);
  log_debug("memory", "gathered ", format_bytes(bytes), " of ", chosen_.size(), " operands of ", kernel.name);
  copies_.push_back({name_, block.keep(), bytes, plan_});
  return &copies_.back();
}

KernelHandle& Gathering::kernel_for(const KernelHandle& kernel, const char* what,
                                    ir::Kernel (*make)(const ir::Kernel&, std::span<const Operand>)) {
  std::string how = what;
  for (const Operand& one : chosen_) how.append(" ").append(std::to_string(one.leaf));
  return table_.derived(kernel, how, [&](const ir::Kernel& of) { return make(of, chosen_); });
}

/// They may live on in another field, whose first launches then make another copy.
void Gathering::free_copies_of(std::uint64_t contents) noexcept {
  for (std::size_t i = copies_.size(); i-- > 0;)
    if (may_be_freed(copies_[i]) && std::ranges::find(copies_[i].name, contents) != copies_[i].name.end()) free(i);
}

void Gathering::free(std::size_t copy) noexcept {
  memory_.free(copies_[copy].address, copies_[copy].bytes);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(copy));
}

std::size_t Gathering::spare_bytes() const {
  std::size_t bytes = 0;
  for (const Copy& copy : copies_)
    if (may_be_freed(copy)) bytes += Memory::block_bytes(copy.bytes);
  return bytes;
}

bool Gathering::give_up_one() {
  std::size_t oldest = copies_.size();
  for (std::size_t i = 0; i < copies_.size(); ++i)
    if (may_be_freed(copies_[i]) && (oldest == copies_.size() || copies_[i].used < copies_[oldest].used)) oldest = i;
  if (oldest == copies_.size()) return false;
  free(oldest);
  return true;
}

bool Gathering::free_spare_copies() {
  const std::size_t before = copies_.size();
  while (give_up_one()) {
  }
  return copies_.size() < before;
}

/// Were it whenever it is asked, a program whose memory is at its peak in each iteration would make copies in each.
bool Gathering::make_way() {
  if (served_ < kWorthMakingAnew || !free_spare_copies()) return false;
  served_ = 0;
  return true;
}

std::string Gathering::describe() const {
  return copies_.empty() ? "" : std::to_string(copies_.size()) + " copies of operands in the order of their use";
}

}  // namespace jit
