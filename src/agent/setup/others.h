/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions in the files of other agents: which files are read, what of them counts, and what
 * becomes of it.  docs/policy.md, "Rules of other products", has all of it in tables.
 *
 *     others_add_rules(policy, settings, problems);     // before the first decision
 *     others_mode(settings, &mode);                     // where neither flag nor setting says one
 *
 * A project's file restricts in any folder, trusted or not.  What it permits counts in a trusted
 * folder after "hasp config allow FILE", as it stood then.  The switches are the settings
 * hasp.rules.claude, .codex and .cursor.
 */
#ifndef HASP_AGENT_SETUP_OTHERS_H
#define HASP_AGENT_SETUP_OTHERS_H

#include "base/file.h"
#include "config/settings.h"
#include "policy/permissions.h"
#include "policy/policy.h"

/* ---- for the rest of this folder ---- */

/* Adds the rules of all these files, and to `problems` (policy.h) what of them is not used. */
void others_add_rules(struct policy *policy, const struct settings *settings, json_t *problems);
/* Makes what these files permit one of settings_withheld where the user has not allowed it. */
void others_note_withheld(const struct settings *settings);
/* permissions.defaultMode of Claude Code's settings; false: none says one that hasp has. */
bool others_mode(const struct settings *settings, enum approval_mode *ret);
/* The file that forbids the mode yolo (disableBypassPermissionsMode); the caller frees.  NULL:
 * none does. */
char *others_forbid_yolo(const struct settings *settings);
/* permissions.additionalDirectories: absolute paths, a new reference. */
json_t *others_directories(const struct settings *settings);

/* ---- between others.c (Claude Code's), others_more.c (Codex', Cursor's) and others_file.c ---- */

enum others_format { OTHERS_JSON, OTHERS_TOML, OTHERS_TEXT };

/* One file of another agent. */
struct others_file {
	const struct settings *settings;
	char *path;               /* owned, absolute */
	char *name;               /* owned: of a project's, its path in it; else NULL */
	enum policy_tier tier;
	struct file_text text;
	json_t *value;            /* owned: an object; NULL: there is none */
	json_t *lines;            /* owned: jsonc_lines; NULL */
	bool permits;             /* what it permits counts */
	char *wrong;              /* owned: why it cannot be read; NULL */
};

/* What of a project's file permits something; a new reference, NULL: nothing does. */
typedef json_t *(*others_part)(const struct others_file *file);

/* Reads the file, with what `part` says (NULL: it permits nothing); takes `path` and `name`. */
void others_open(const struct settings *settings, enum others_format format, char *path,
                 char *name, enum policy_tier tier, others_part part, struct others_file *ret);
/* Frees what it owns. */
void others_file_release(struct others_file *file);
/* Where its rules stand; `folder`: where paths after one slash begin in a user's file. */
struct permission_place others_place(const struct others_file *file, const char *folder,
                                     json_t *problems);
/* Says that it cannot be read, or that what it permits is ignored; where neither is so, nothing. */
void others_report(const struct others_file *file, json_t *problems);
/* permissions.MEMBER of a JSON file, whose entries decide so; borrowed.  NULL: there is none, or it
 * is no list, which is then one of the place's problems. */
const json_t *others_list(const struct others_file *file, const struct permission_place *place,
                          const char *member, enum policy_decision decision);
/* The line on which `entry` stands as a JSON string, from line `from` on; `from`: it does not. */
unsigned others_line_of(const struct others_file *file, unsigned from, const char *entry);

/* Adds the rules of Codex' and Cursor's files. */
void others_add_more_rules(struct policy *policy, const struct settings *settings,
                           json_t *problems);
/* others_note_withheld for these. */
void others_note_more_withheld(const struct settings *settings);

#endif
