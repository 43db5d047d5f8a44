/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a profile for macOS's Seatbelt: sandbox-exec -p PROFILE CMD.
 *
 *     _cleanup_buf_ struct buf profile = BUF_INIT(LIMIT_SEATBELT_BYTES);
 *     seatbelt_profile(plan, home, &profile);
 *
 * The language (SBPL) is Scheme; of the rules that match, the last decides.  So the plan's rules,
 * sorted with parents first, say the same in that order: the longest path decides.  More can be
 * said than by mounts: names that must not come into being are denied as such.
 *
 * What is different there: with the network off there is no network at all, loopback neither (a
 * command's own servers cannot be told from the machine's); there is no supervisor, so what is
 * refused leaves no records; limits of memory and processes are not held.
 */
#ifndef HASP_SANDBOX_REPORT_SEATBELT_H
#define HASP_SANDBOX_REPORT_SEATBELT_H

#include "base/buf.h"
#include "sandbox/plan/plan.h"

/* `home`: whose keychains and the like are hidden; NULL: nobody's. Check out->overflowed. */
void seatbelt_profile(const struct sandbox_plan *plan, const char *home, struct buf *out);

#endif
