// Backup: a changelog as a file of envelopes, a record a line, from which it can be written again:
//
//   kstream-filter --in envelope -i FILE -b BROKERS -o TOPIC --partition '$partition' true
//
// All of it is there or nothing: it is written under another name first. Tested by
// tests/unit/admin/reset_test.cc.
#ifndef KSTREAM_ADMIN_BACKUP_H_
#define KSTREAM_ADMIN_BACKUP_H_

#include <string>

#include "base/clock.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::admin {

// Where a topic is copied to.
std::string BackupPath(const std::string& directory, const std::string& topic);

// Makes the directory where it is missing. kRefused: the file is there already. kData: it cannot be
// written. kCluster.
Status Backup(transport::Cluster* cluster, const Clock& clock, const std::string& topic,
              const std::string& path);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_BACKUP_H_
