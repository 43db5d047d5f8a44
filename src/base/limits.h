/* SPDX-License-Identifier: Apache-2.0 */
/* Every maximum in one place, each with its reason.
 *
 * These are hard ends that no setting passes; settable defaults live with the
 * option that sets them (worker/provider.h).
 */
#ifndef HASP_BASE_LIMITS_H
#define HASP_BASE_LIMITS_H

#include <stddef.h>

/* The largest file hasp reads whole: it is held in memory, with its result. */
#define LIMIT_FILE_BYTES ((size_t)4 << 30)
/* The default of max_file_size: far above any source file, below a runaway log. */
#define LIMIT_FILE_BYTES_DEFAULT ((size_t)1 << 30)
/* A diff is read by a model's user: 64 MiB is already absurd. */
#define LIMIT_DIFF_BYTES ((size_t)64 << 20)
/* Hunks are compared with each other when they are placed together. */
#define LIMIT_DIFF_HUNKS 10000
/* Candidate places named for one ambiguous hunk: more would only fill a context. */
#define LIMIT_CANDIDATES 8
/* Arguments of one call (a write_file carries a whole file). */
#define LIMIT_ARGUMENT_BYTES ((size_t)1 << 30)
#define LIMIT_RESULT_BYTES ((size_t)4 << 30)
/* Changes in one apply_changes; each holds two open descriptors at most while planned. */
#define LIMIT_CHANGES 4096
/* A path longer than the kernel takes is an error before it is a system call. */
#define LIMIT_PATH_BYTES 4096
#define LIMIT_SYMLINKS 40
/* Media parts are sent inline to a model; providers refuse more. */
#define LIMIT_MEDIA_BYTES ((size_t)20 << 20)

#endif
