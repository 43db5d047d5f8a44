/* SPDX-License-Identifier: Apache-2.0 */
/* How a confined command ended and what was denied to it: for people, and as data.
 *
 * As data: {"sandbox": "full", "weaker_because": null, "ended": "exited", "exit_code": 0,
 * "signal": 0, "wall_ms": 12, "cpu_ms": 9, "peak_memory_bytes": 0, "denials": [{"kind": "write",
 * "what": "/etc/x", "rule": "", "reason": "default", "level": "full", "program": "sh", "pid": 4,
 * "count": 1, "message": ..., "how_to_allow": "--write /etc"}]}
 */
#ifndef HASP_CLI_COMMAND_SANDBOX_REPORT_H
#define HASP_CLI_COMMAND_SANDBOX_REPORT_H

#include <jansson.h>

#include "cli/command/attend.h"

/* A line a denial, and one if it did not end by itself; nothing when all was well. */
void sandbox_report_lines(const struct attended *attended, struct buf *out);
/* The caller owns it. */
json_t *sandbox_report_json(const struct provider_info *info, const struct attended *attended);

#endif
