/* SPDX-License-Identifier: Apache-2.0 */
/* Skills (agentskills.io): folders with a SKILL.md, whose front matter says when to use its
 * instructions.
 *
 *     struct skills *skills = skills_discover(settings, local);
 *     for (size_t i = 0; i < skills->count; i++) ... skills->at[i].name ...
 *     skill = skills_find(skills, "pdf-forms");
 *     json_t *text;                                    // as the file is now
 *     if (!skill_read(skill, &text, &err)) ...
 *     skills_free(skills);
 *
 * Searched are ~/.claude/skills, ~/.gemini/skills, ~/.agents/skills, the same three in the project,
 * if its folder is trusted and on this machine, and skills/ of extensions (config/extensions.h).
 * In each, SKILL.md of the folder itself and of its subfolders.  Of one name the user's has the
 * short name, then the project's, then the only extension's (catalog/names.h); all have OWNER:NAME.
 * Of three folders of one owner, a later skill replaces an earlier one of the same name.
 *
 * The project's skills are opened beneath its root; links cannot lead out of it (base/door.h).  In
 * the home folder the user may link to skills elsewhere; a skill's folder that belongs to another
 * user, or is writable by everyone, is ignored.
 *
 * As in Gemini CLI a name may differ from that of the folder and break the specification; this is
 * only reported.  Without a name the folder's counts, without a description the first line of the
 * text does, as in Claude Code, whose other fields have their effect, too: when_to_use,
 * argument-hint, arguments, disable-model-invocation, user-invocable, allowed-tools, model, context
 * and agent.  Names are compared case-insensitively (ASCII).
 */
#ifndef HASP_CATALOG_SKILLS_H
#define HASP_CATALOG_SKILLS_H

#include "config/settings.h"
#include "data/json.h"

struct skill {
	char *name;        /* owned; one line, without : \ / < > * ? " | and control characters */
	char *called;      /* owned; the name that finds it: its name, or OWNER:NAME, where the name
	                    * is another's or that of several */
	char *owner;       /* owned; "user", "project", or the extension's name */
	char *description; /* owned; one line of at most LIMIT_SKILL_DESCRIPTION bytes, invisible
	                    * characters in it as escapes */
	char *root;        /* owned; what files are opened beneath: the project, or the folder */
	char *folder;      /* owned; absolute */
	char *file;        /* owned; its SKILL.md */
	char *place;       /* owned; " (FILE)", without anything that acts on a terminal */
	char *sha256;      /* owned; of the file when it was found, 64 digits */
	bool project;      /* the project brings it */
	char *extension;   /* owned; the extension that brings it; NULL: it is the project's or the
	                    * user's */
	bool plugin;       /* that is a plugin of Claude Code, whose folder its text may name */
	bool disabled;     /* by skills.disabled */
	bool users_alone;  /* the model is not offered it (disable-model-invocation) */
	bool models_alone; /* the user has no command for it (user-invocable: false) */
	char *hint;        /* owned; what stands behind its name ("[issue]"); or NULL */
	char *model;       /* owned; that answers when the user calls it; NULL: the session's */
	char *agent;       /* owned; whose task it is (context: fork); NULL: it is no agent's */
	json_t *allowed;   /* owned; the words of allowed-tools; or NULL */
	json_t *arguments; /* owned; names of arguments; or NULL */
	json_t *unused;    /* owned; its fields that have no effect here, names; or NULL */
};

struct skills {
	struct skill *at; /* owned; in the order of their names */
	size_t count, cap;
	json_t *notices;  /* owned; sentences about what was left out or replaced, and why */
};

/* Never NULL, never fails. Empty if skills.enabled is false. `local`: the project's files are this
 * machine's. */
struct skills *skills_discover(const struct settings *settings, bool local);
/* The skills of a folder (absolute) to install from: its SKILL.md and those of its subfolders.
 * Links that lead out of it are not followed.  Never NULL. */
struct skills *skills_in(const char *folder);
/* Those of an extension in `folder` with this manifest (config/extensions.h), installed or not.
 * Never NULL. */
struct skills *skills_in_extension(const char *folder, const json_t *manifest);
void skills_free(struct skills *skills); /* NULL is fine */

/* Whose it is: "project", "user", or "extension NAME"; the caller frees. */
char *skill_from(const struct skill *skill);

/* What its file asks for, and what of that has no effect here, for people: "only you can call it;
 * without effect: hooks"; the caller frees. NULL: nothing to say. */
char *skill_notes(const struct skill *skill);

/* NULL: there is none, or it is disabled. */
const struct skill *skills_find(const struct skills *skills, const char *name);
/* Those that the model is offered: enabled, and not the user's alone. */
size_t skills_offered_count(const struct skills *skills);

/* Whether one is there, disabled or not, by its name or OWNER:NAME; NULL: there is none. */
const struct skill *skills_named(const struct skills *skills, const char *name);
/* Why there is none of this name: there is none, and those that have such words are listed; or
 * several have it, which are named.  The caller frees. */
char *skills_missing(const struct skills *skills, const char *name);

/* Takes a skill out of skills.disabled of a scope (USER or WORKSPACE), or puts it in, as the file
 * is now. *ret: a sentence that says what has changed, or that nothing had to; the caller frees.
 * `skills` stay as they are. INVALID_ARGUMENT: no such skill, skills are disabled, or another file
 * disables the skill to enable; PERMISSION_DENIED: WORKSPACE of a folder that is not trusted;
 * settings_write's errors. */
bool skills_switch(const struct skills *skills, struct settings *settings,
                   enum settings_scope scope, const char *name, bool enable, char **ret,
                   struct err *err);

/* {"name", "description", "body", "sha256", "fields"} of the file as it is now, a new reference:
 * the body is what follows the front matter, whose fields are as frontmatter.h has them.
 * FILE_NOT_FOUND, NOT_TEXT, TOO_LARGE, INVALID_ARGUMENT (the front matter), OUTSIDE_WORKSPACE (a
 * link). */
bool skill_read(const struct skill *skill, json_t **ret, struct err *err);

/* The files in its folder besides SKILL.md: relative paths, sorted, at most LIMIT_SKILL_RESOURCES;
 * links are not followed, hidden names and node_modules left out. *ret_more: there are more. A new
 * reference. */
json_t *skill_resources(const struct skill *skill, bool *ret_more);

/* For the system prompt: how skills are used, and a line for each as far as a budget of tokens goes
 * (catalog_lines_put); the caller frees. Empty without any. */
char *skills_prompt(const struct skills *skills);

#endif
