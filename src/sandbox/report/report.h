/* SPDX-License-Identifier: Apache-2.0 */
/* A plan explained: as a tree of keys and values, as lines for people, as a profile for macOS; and
 * which files of a workspace have names outside it.
 *
 *     explain_plan(plan, probe, &reporter);  // the reporter makes JSON of it, for instance
 *     explain_plan_text(plan, probe, &out);  // lines; strange characters in paths are escaped
 *
 * Not here: how results of commands name a denial (sandbox/plan/denial.h).
 *
 * The tree of a plan (keys that do not apply are left out):
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
#ifndef HASP_SANDBOX_REPORT_REPORT_H
#define HASP_SANDBOX_REPORT_REPORT_H

#include "base/buf.h"
#include "sandbox/plan/plan.h"

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

/* The tree above. `probe`: of the machine that the plan was made for, for `weaker`. */
void explain_plan(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                  const struct reporter *reporter);
/* The same as indented lines. Check out->overflowed. */
void explain_plan_text(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                       struct buf *out);

/* "hidden", "read", "write" */
const char *explain_access(enum sandbox_access access);
/* Text in which nothing steers a terminal or misleads the eye: that is \xNN or \u{N}. */
void explain_escape(struct buf *out, const char *text);

/* ---- what this machine allows ---- */

/* Behind `hasp sandbox --status`.
 *
 * The tree (keys that do not apply are left out):
 *   level                       in force: the strongest that can be had, or the one asked for
 *   kernel
 *   levels[] { level available why remedy }     remedy: a command that would change it
 *   enforced[]                  what that level does, in sentences
 *   weaker[]                    what it leaves open here, in sentences
 *   facts { user_namespaces privileged own_proc landlock_abi landlock_errata seccomp
 *           seccomp_notify cgroups } */

/* `level` is the one in force. */
void explain_status(const struct sandbox_probe *probe, enum sandbox_level level,
                  const struct reporter *reporter);
/* The same as indented lines. Check out->overflowed. */
void explain_status_text(const struct sandbox_probe *probe, enum sandbox_level level,
                         struct buf *out);

/* ---- a profile for macOS ---------------------------------------------------------- */

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
 * command's own servers cannot be distinguished from the machine's); there is no supervisor, so
 * what is refused leaves no records; limits of memory and processes are not held.
 */

/* `home`: whose keychains and the like are hidden; NULL: none. Check out->overflowed. */
void seatbelt_profile(const struct sandbox_plan *plan, const char *home, struct buf *out);

/* ---- files with names outside ----------------------------------------------------- */

/* Files of a workspace that are known outside by another name (hard links).
 *
 * Such a file is in the workspace, so a command may write it, and the change is seen under the
 * other name: only the user knows whether that is intended.  Package managers (pnpm, uv) and local
 * clones make many of them.
 *
 *     struct twins twins;
 *     twins_find(roots, root_count, &twins);
 *     twins_print(&twins, &reporter);          // or explain_twins_text (explain.c)
 *     twins_release(&twins);
 *
 * A file counts when it has more names than were found beneath the roots.  The walk is bounded in
 * time and in files; when it ends early it says so, and names that it did not see are taken for
 * outside. No file is opened and no symbolic link followed.
 */

struct twin {
	char *path;        /* owned; the first name that was found */
	uint64_t outside;  /* names that were not */
};

struct twins {
	struct twin *list; /* owned; sorted by path; at most LIMIT_TWINS_LISTED */
	size_t count;
	uint64_t all;      /* how many there are */
	bool cut;          /* the walk ended early */
};

/* Walks the roots; cannot fail. *ret is released with twins_release. */
void twins_find(const char *const *roots, size_t root_count, struct twins *ret);
void twins_release(struct twins *twins); /* frees the list */

/* hard_links { count cut files[] { path why } } */
void twins_print(const struct twins *twins, const struct reporter *reporter);
void explain_twins_text(const struct twins *twins, struct buf *out);

#endif
