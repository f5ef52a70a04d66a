// What a restart file knows of its configuration and of itself, so that damage, mix-ups and edits are found.
//
//   MCControl/Identity { cfg_checksum, w_plaq, as_written {...}, protected_hash, text_hash }
//
// text_hash is that of every byte but its own digits. If it does not fit, protected_hash tells whether anything has
// changed but what may be edited by hand: how long to run and where to save (free_elements). as_written keeps the
// values of those, so that a change can be named.
#pragma once

#include "lib/io/input.hpp"

#include "qdp.h"

#include <optional>
#include <string>
#include <vector>

namespace qcd {

/// The configuration that a restart file belongs to.
struct CheckpointIdentity {
  std::string cfg_checksum;  ///< of its data: "suma sumb"
  double w_plaq = 0;         ///< average plaquette
};

/// Elements of MCControl that may be edited by hand in a restart file.
const std::vector<std::string>& free_elements();

/// Writes the group Identity where `xml` stands, with room for the hashes. `control` is the text of the elements of
/// MCControl written before.
void write_identity(QDP::XMLWriter& xml, const CheckpointIdentity& identity, const std::string& control);
/// Puts in the hashes, when the document is complete.
std::string sealed(std::string text);

/// The group Identity of MCControl, if there is one.
std::optional<CheckpointIdentity> read_identity(const Input& mc_control);

struct RestartText {
  enum State {
    no_identity,  ///< an input, or the restart file of another program or version: nothing to compare
    untouched,
    edited,  ///< in the free elements only
    changed  ///< elsewhere, by hand or by damage
  };
  State state = no_identity;
  std::string message;  ///< names the file and, for `edited`, each change
};

RestartText check_restart_text(const std::string& text, const std::string& file);

/// Checks the text of `file`; throws FileError if it was changed and `accept_edited` is false. Returns what somebody
/// should read about it, or an empty text.
std::string require_unchanged_restart(const std::string& text, const std::string& file, bool accept_edited);

}  // namespace qcd
