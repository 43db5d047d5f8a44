/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox refused, as JSON: one shape in all results, reports and logs.
 *
 *     {"kind": "write", "what": "/t/proj/.git/config", "rule": "/t/proj/.git/config",
 *      "reason": "git", "level": "full", "program": "sh", "count": 2,
 *      "message": "...", "how_to_allow": "..."}
 *
 * `kind`, `what`, `reason`, `level` and `message` are always there; the others where they say
 * something.  The schema: RESULT_DENIAL (builtin/builtin.h).
 */
#ifndef HASP_TOOL_DENIAL_H
#define HASP_TOOL_DENIAL_H

#include <jansson.h>

#include "sandbox/plan/denial.h"

/* A new reference. `how_to_allow` is what the user can start hasp with: "--write /t/out"; who
 * has another way puts it in its place. */
json_t *denial_json(const struct denial *denial);

#endif
