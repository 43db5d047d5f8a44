/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, told: as a tree of keys and values, or as lines for people.
 *
 *     explain_plan(plan, probe, &reporter);       // reporter makes JSON of it, for instance
 *     explain_plan_text(plan, probe, &out);     // lines; strange characters in paths are escaped
 *
 * The tree (keys that do not apply are left out):
 *   level use network
 *   roots[] temp
 *   namespaces[]                    "user" "mount" "pid" "ipc" "network"
 *   landlock { abi layers[] { layer files[] network[] scope[] } }
 *   filters[] { name instructions }
 *   rules[] { access path reason why folder }
 *   absent[] { path reason why }   names that must not come into being
 *   limits { memory_bytes file_bytes processes open_files cpu_seconds }
 *   mounts[]                        steps.h, one line each, in order; level full alone
 *   unjudged[]                      sentences: what of git's configuration is not known to be
 *                                   protected
 *   weaker[]                        sentences: what is not enforced, and why */
#ifndef HASP_SANDBOX_REPORT_EXPLAIN_H
#define HASP_SANDBOX_REPORT_EXPLAIN_H

#include "base/buf.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/probe.h"

/* Called in the order of the tree.  `key` is NULL for members of a list; all texts are borrowed for
 * the call and may hold any bytes that a path may. */
struct reporter {
	void *data;
	void (*begin)(void *data, const char *key, bool list); /* a list, or an object */
	void (*end)(void *data);
	void (*text)(void *data, const char *key, const char *value);
	void (*number)(void *data, const char *key, uint64_t value);
	void (*flag)(void *data, const char *key, bool value);
};

void explain_plan(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                  const struct reporter *reporter);
void explain_plan_text(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                       struct buf *out);

/* "hidden", "read", "write" */
const char *explain_access(enum sandbox_access access);
/* Text in which nothing steers a terminal or misleads the eye: that is \xNN or \u{N}. */
void explain_escape(struct buf *out, const char *text);

/* ---- what this machine allows, told ---- */

/* Behind `hasp sandbox --status`.
 *
 * The tree (explain.h; keys that do not apply are left out):
 *   level                       in force: the strongest that can be had, or the one asked for
 *   kernel
 *   levels[] { level available why remedy }     remedy: a command that would change it
 *   enforced[]                  what that level does, in sentences
 *   weaker[]                    what it leaves open here, in sentences
 *   facts { user_namespaces privileged own_proc landlock_abi landlock_errata seccomp
 *           seccomp_notify cgroups } */

void explain_status(const struct sandbox_probe *probe, enum sandbox_level level,
                  const struct reporter *reporter);
void explain_status_text(const struct sandbox_probe *probe, enum sandbox_level level,
                         struct buf *out);

#endif
