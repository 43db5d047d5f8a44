/* SPDX-License-Identifier: Apache-2.0 */
/* Commits with the switches of stage.h, for tests. Internal to file/. */
#ifndef HASP_FILE_COMMIT_INTERNAL_H
#define HASP_FILE_COMMIT_INTERNAL_H

#include "file/stage.h"

bool commit_write_how(struct snapshot *base, const struct span *pieces, size_t count,
                      const struct commit_how *how, struct file_state *ret, struct err *err);
bool commit_delete_how(struct snapshot *base, const struct commit_how *how, struct err *err);

#endif
