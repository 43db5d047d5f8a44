/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows, told: behind `hasp sandbox --status`.
 *
 * The tree (explain.h; keys that do not apply are left out):
 *   level                       in force: the strongest that can be had, or the one asked for
 *   kernel
 *   levels[] { level available why remedy }     remedy: a command that would change it
 *   enforced[]                  what that level does, in sentences
 *   weaker[]                    what it leaves open here, in sentences
 *   facts { user_namespaces privileged own_proc landlock_abi landlock_errata seccomp
 *           seccomp_notify cgroups }
 */
#ifndef HASP_SANDBOX_REPORT_STATUS_H
#define HASP_SANDBOX_REPORT_STATUS_H

#include "sandbox/report/explain.h"

void status_print(const struct sandbox_probe *probe, enum sandbox_level level,
                  const struct reporter *reporter);
void status_text(const struct sandbox_probe *probe, enum sandbox_level level, struct buf *out);

#endif
