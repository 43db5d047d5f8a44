/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions as other agents write them: one entry of a list becomes rules.
 *
 *     const struct permission_place place = { .file = path, .tier = POLICY_USER, ... };
 *     policy_add_permission(policy, &place, POLICY_DENY, "Read(./.env)", NULL, line);
 *     policy_add_command(policy, &place, POLICY_ASK, "git push", "prefix_rule(...)", line);
 *
 * The entries are Claude Code's (code.claude.com/docs/en/permissions): Bash(npm run *),
 * Read(./.env), Edit(/src/x), WebFetch(domain:example.com), mcp__SERVER__TOOL, Agent(NAME),
 * Skill(NAME), and names of tools.  docs/policy.md has the table of what differs.
 *
 * As there, what is denied comes before what is asked about, and that before what is allowed,
 * whatever file says it: what restricts stands above all other rules of the user's tier, what
 * allows below them.  A rule's origin is "FILE:LINE: ENTRY".  An entry that is not understood makes
 * no rule, and a problem says so, with what was probably meant.
 */
#ifndef HASP_POLICY_PERMISSIONS_H
#define HASP_POLICY_PERMISSIONS_H

#include "policy/policy.h"

/* Where a list of permissions stands.  All borrowed. */
struct permission_place {
	const char *file;      /* as origins and problems name it */
	const char *folder;    /* absolute: where a path after one slash begins */
	const char *project;   /* absolute: where other relative paths begin */
	const char *home;      /* absolute: what ~ is */
	enum policy_tier tier; /* POLICY_ADMIN, POLICY_USER or POLICY_WORKSPACE */
	bool permits;          /* what it permits counts: of policy_add_prefix_rules */
	json_t *problems;      /* as of policy_add_file */
};

/* Adds the rules of one entry.  `written`: as its file has it; NULL: the same.  `line`: where it
 * stands; 0: not known. */
void policy_add_permission(struct policy *policy, const struct permission_place *place,
                           enum policy_decision decision, const char *entry,
                           const char *written, unsigned line);
/* Adds a rule on commands that begin with these words; `entry` says it for people. */
void policy_add_command(struct policy *policy, const struct permission_place *place,
                        enum policy_decision decision, const char *words, const char *entry,
                        unsigned line);
/* Adds a rule on every edit of files; one that denies keeps commands from writing, too
 * (policy_is_read_only). */
void policy_add_read_only(struct policy *policy, const struct permission_place *place,
                          enum policy_decision decision, const char *entry, unsigned line);
/* Adds the rules of one of Codex' *.rules files, as far as they are literal; the rest is a problem
 * (prefix_rules.c). */
void policy_add_prefix_rules(struct policy *policy, const struct permission_place *place,
                             struct span text);
/* The kinds of problems: something restricts less than its author thinks, which each run says; and
 * something is not permitted, or has no counterpart, which "hasp policy list" says. */
#define OTHERS_LOST "tool_name_warning"
#define OTHERS_UNUSED "without_effect"
/* Appends a sentence to place->problems. */
void policy_complain(const struct permission_place *place, unsigned line, const char *kind,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
