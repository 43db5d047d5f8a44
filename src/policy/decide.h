/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does, and what is decided on it. Private to this folder. */
#ifndef HASP_POLICY_DECIDE_H
#define HASP_POLICY_DECIDE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "data/tools.h"
#include "policy/rule.h"
#include "shell/analysis.h"

/* ---- acts -------------------------------------------------------------------- */

/* What a call does, in the words of rules.
 *
 * Most calls are one act: the tool's names and its arguments.  apply_changes is one act for each
 * of its changes, read_many_files for each path; so a rule about one file or one kind of edit
 * holds for them as well.  A call is decided on act by act, and the strictest counts.
 */

struct act {
	const char *name;               /* of the tool */
	const struct tool_info *info;   /* its row; NULL: a server's, or discovered */
	const char *agent;              /* of a call of an agent: its name, which is one, too */
	/* "covers": the tool of another agent that would do this; "strict": one whose denials and
	 * questions are meant for this too, but whose permissions are not.  Canonical, or NULL. */
	const char *covers, *strict;
	json_t *arguments; /* owned: in Gemini CLI's names; NULL: none but the call's
	                    * own */
	bool part;         /* it is not all that the call does */
	bool alone;        /* patterns are tried on its own arguments, and not on the call's */
	/* NULL, or the same act with its paths spelled otherwise, of another call: patterns are
	 * tried on each.  Both borrowed. */
	struct act *spelled;
	const struct policy_call *spelled_in;
	/* The texts that patterns are tried on; made when one is. */
	struct buf own, other, whole;
	bool own_made, other_made, whole_made;
};

struct acts {
	struct act *items; /* owned */
	size_t count, cap;
};

/* The acts of a call, which they borrow; at least one. */
void acts_make(const struct policy_call *call, struct acts *ret);
/* Frees the acts with their texts. */
void acts_release(struct acts *acts);
#define _cleanup_acts_ __attribute__((cleanup(acts_release)))

/* One act with these arguments (a new reference is taken), and no others. For command lines. */
void act_init(const struct policy_call *call, const json_t *arguments, struct act *ret);
void act_release(struct act *act);

/* How a rule's names fit. */
enum fit {
	FIT_NONE,
	FIT_OWN,   /* it names the tool */
	FIT_COVER, /* it names Gemini CLI's tool for this */
};
/* `strict`: for a rule that denies or asks. */
enum fit act_fit(const struct act *act, const struct policy_call *call,
                 const struct selector *selector, bool strict);

/* Whether the pattern is found in the act's arguments, in any of its spellings. Strict: in any form
 * of them, and where that is uncertain; else only where it is certain. */
bool act_matches(struct act *act, const struct policy_call *call, struct js_regex *regex,
                 enum fit fit, bool strict);

/* The arguments of the whole call, for the commands of a line: each pattern is tried once, not
 * once for each command. */
struct act_whole {
	const json_t *arguments; /* borrowed */
	struct buf text;
	bool made;
	struct act_answer {
		const struct js_regex *regex;
		bool found;
	} *answers;
	size_t count, cap;
};

/* `arguments` is borrowed; the text is made when the first pattern is tried. */
void act_whole_init(struct act_whole *whole, const json_t *arguments);
/* Frees the text and the remembered answers. */
void act_whole_release(struct act_whole *whole);
/* Whether the pattern is found, or may be: for a rule that denies or asks. */
bool act_whole_matches(struct act_whole *whole, struct js_regex *regex);

/* ---- arguments as text ------------------------------------------------------- */

/* Arguments as the text that argsPattern sees.
 *
 * Gemini CLI's: what JSON.stringify prints, names sorted, no blanks, and a NUL before and after
 * each member of the outermost object, so that a pattern can tell a member from text that looks
 * like one: {\0"command":"ls"\0,\0"dir_path":"src"\0}
 */

/* False: deeper than JSON_DEPTH_MAX, or `out` overflowed. */
bool act_write_json(struct buf *out, const json_t *value);
/* A string in it. */
void act_write_string(struct buf *out, struct span text);

/* ---- decisions -------------------------------------------------------------- */

struct outcome {
	enum policy_decision decision;
	const struct policy_rule *rule;   /* borrowed; NULL: none matched */
	const char *why;           /* a static sentence, where the rule alone does not say it;
	                            * or NULL */
	char *said;                /* owned: a sentence that was made for this call; or NULL */
};

/* One command of a command line, as rules see it. */
struct shell_view {
	const struct shell_analysis *analysis;
	const struct shell_command *command;
	struct act *raw;    /* the call with this command alone, as it is written */
	struct act *plain;  /* with its words without quotes; */
	struct act *base;   /* and its name without folders: what denies is tried on these too, */
	struct act_whole *whole; /* and on the whole line */
};

/* What counts where no rule does. */
enum policy_decision decide_default(const struct policy *policy, const struct policy_call *call);
/* The highest rule that is about this act. `view`: of run_shell_command, else NULL. */
struct outcome decide_act(const struct policy *policy, const struct policy_call *call,
                          struct act *act, const struct shell_view *view);
/* Whether modes, interactivity, sub-agent and annotations of the selector are the call's. */
bool decide_applies(const struct selector *selector, const struct policy_call *call);
/* Whether the rule counts for such a call: that, and who the call is for. */
bool decide_counts(const struct policy *policy, const struct policy_rule *rule,
                   const struct policy_call *call);
/* Whether the rule, which counts, has a caller's call asked about without permitting it. */
bool decide_only_asks(const struct policy *policy, const struct policy_rule *rule,
                      const struct policy_call *call);
static inline bool is_stricter(const struct outcome *a, const struct outcome *b)
{
	return a->decision > b->decision;
}

/* Adds what the outcome's rule asks of several people to the verdict, once. */
void decide_note_approvals(const struct outcome *outcome, struct policy_verdict *verdict);
/* The same for the line of run_shell_command: each command in it by itself, the strictest counts.
 * What the verdict says of the commands is filled in. */
struct outcome decide_shell(const struct policy *policy, const struct policy_call *call,
                            struct act *act, struct policy_verdict *verdict);

/* What rules about particular commands say of what write_background_input types, as a command line:
 * a shell may read it. Allow: none of them minds. */
struct outcome decide_typed(const struct policy *policy, const struct policy_call *typed);

/* Whether a name is one of a list's. */
bool decide_is_listed(struct span name, const char *const *list, size_t count);
/* What "always" would allow for the command: "git status"; NULL: nothing sensible. The caller
 * frees. */
char *decide_offer_prefix(const struct shell_command *command);

#endif
