// Where a run's first gauge field comes from: Cfg {cfg_type, ...}.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/table.hpp"

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace qcd {

/// What the making of a start field found out.
struct StartReport {
  std::string file;           ///< that the field came from, if any
  std::string verdict;        ///< how the file's checksum compares: "verified", "absent", "wrong: ..."
  std::string data_checksum;  ///< of SciDAC and ILDG files: of the data as read
};

/// Fills a gauge field. Needs the layout; throws InputError or the file reader's error.
class GaugeInit {
 public:
  GaugeInit() = default;
  /// From a function that returns a StartReport, or nothing.
  template <class Make>
  requires(std::is_invocable_v<Make&, GaugeField&> && !std::is_same_v<Make, GaugeInit>) GaugeInit(Make make)
      : make_([make = std::move(make)](GaugeField& u) -> StartReport {
          if constexpr (std::is_void_v<decltype(make(u))>) {
            make(u);
            return {};
          } else {
            return make(u);
          }
        }) {}
  StartReport operator()(GaugeField& u) const { return make_(u); }

 private:
  std::function<StartReport(GaugeField&)> make_;
};

/// What a reader does about the checksum of a SciDAC or ILDG file; [verify_checksum] in inputs.
enum class ChecksumRule {
  if_there,  ///< no element: a wrong or unreadable one is an error, a file without one is read with a warning
  required,  ///< true: so is a file without one
  ignored    ///< false: warnings only
};
ChecksumRule read_checksum_rule(const Input& input);

/// Throws FileError if what `file`, just read from `name`, says of its checksum is against the rule.
void apply_checksum_rule(ChecksumRule rule, const QDP::QDPFileReader& file, const std::string& name);

/// Cfg/cfg_type -> start.
const Table<GaugeInit>& gauge_init_table();

/// Reads a group Cfg or GaugeStartup; an empty function after recording an error.
GaugeInit read_gauge_init(const Input& cfg);

}  // namespace qcd
