/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy consists of. Private to this folder. */
#ifndef HASP_POLICY_RULE_H
#define HASP_POLICY_RULE_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/span.h"
#include "data/tools.h"
#include "policy/policy.h"
#include "search/match/js_regex.h"

/* What of a call's arguments a selector looks at. */
enum narrow {
	NARROW_NONE,
	NARROW_ARGUMENTS, /* regex, on the arguments as stable JSON */
	NARROW_PREFIX,    /* prefixes, each on one command of a command line */
	NARROW_COMMAND,   /* regex, on one command of a command line */
	NARROW_EXACT,     /* a whole call of a command (shell.c) */
};

/* Which calls a rule or a checker is about. All strings and arrays are owned; NULL: anything. */
struct selector {
	char **names; /* as written; at least one */
	const struct tool_info **known; /* the row of each, or NULL */
	size_t name_count;
	char *server;         /* "*": any server's */
	char *server_identity; /* that very one */
	char *subagent;
	json_t *callers;      /* names, of calls of these callers' tasks alone */
	unsigned modes;       /* bits 1 << enum approval_mode; 0: all */
	int interactive;      /* -1: either; 0, 1 */
	json_t *annotations;  /* each must be there and equal */
	unsigned changes;     /* enum policy_change: of calls that do nothing else; 0: any */
	json_t *hosts;        /* of calls that fetch from nowhere else; also "*.HOST", "*" */
	bool any_host;        /* of calls that fetch from one of these, or from unknown ones */
	enum narrow narrow;
	char **prefixes;
	size_t prefix_count;
	struct js_regex *regex;
	char *exact;          /* policy_exact_call's */
};

struct policy_rule {
	struct selector selector;
	enum policy_decision decision;
	double priority;        /* tier + priority / 1000 */
	size_t order;           /* of equals, the first that was added comes first */
	bool allow_redirection;
	bool always;            /* the user chose "always" */
	bool others;            /* of another agent's file; its names were judged before */
	bool hides;             /* `paths` are hidden from commands, and not just kept */
	bool foreign;           /* it may be about tools of MCP servers; set when it is added */
	char **paths;           /* owned; of a rule on paths: as the sandbox gets them; or NULL */
	size_t path_count;
	json_t *approvals;      /* owned: as approvals.h has a rule; NULL: one person is enough */
	char *message;          /* denyMessage; of a rule of the session, the scope's text; or
	                         * NULL */
	char *origin;           /* "FILE:LINE", "default:NAME:LINE", "settings: ..." */
	time_t since;           /* of a rule of the session: when it was made; 0: not known */
};

enum checker_kind {
	CHECKER_ALLOWED_PATH,
	CHECKER_UNSUPPORTED, /* its verdict is unknown: the user is asked */
};

struct checker {
	struct selector selector;
	enum checker_kind kind;
	char *name;
	json_t *included, *excluded; /* arrays of names of arguments, or NULL */
	double priority;
	size_t order;
	char *origin;
};

struct policy {
	pthread_rwlock_t lock; /* rules and checkers; deciding only reads */
	struct policy_rule **rules;   /* the highest first */
	size_t rule_count, rule_cap;
	struct checker **checkers;
	size_t checker_count, checker_cap;
	size_t added;          /* for `order` */
	bool has_approvals;    /* some rule asks for several people */
	bool no_always;        /* rules that the user chose with "always" do not count */
	bool read_only;        /* nothing may be written, not by commands either */
	char *unasked;         /* owned: what says that questions are denials; NULL */
	char *caller;          /* owned: whose tasks' calls it decides on; NULL: the user's */
	struct policy_renewal renewal; /* before each decision; its data is owned */
};

/* `selector` is released with the rule or checker. */
void rule_selector_init(struct selector *selector);
/* After `server`, if it has one. */
void rule_selector_add_name(struct selector *selector, const char *given);
/* All tools that write the files that their arguments name. */
void rule_selector_add_editors(struct selector *selector);
void rule_selector_add_prefix(struct selector *selector, const char *prefix);
void rule_free(struct policy_rule *rule);
void rule_checker_free(struct checker *checker);

/* Removes the rules that `drops` is true of. */
void policy_drop_rules(struct policy *policy, bool (*drops)(const struct policy_rule *rule));
/* Take ownership, and put it in its place. */
void policy_add_rule(struct policy *policy, struct policy_rule *rule);
void policy_add_checker(struct policy *policy, struct checker *checker);

/* What a text says of a command. */
enum command_form {
	COMMAND_PREFIX, /* how it begins, word by word */
	COMMAND_WHOLE,     /* all of it */
};
/* Makes the rule one about commands that the text is about, in which "*" stands for any characters,
 * and " *" or ":*" at its end for further words or none; "" and "*" are every command.
 * INVALID_ARGUMENT, TOO_LARGE: it cannot be matched. */
bool rule_take_command(struct policy_rule *rule, struct span text, enum command_form form,
                       struct err *err);
/* A new rule with nothing but these; `origin` is copied. */
struct policy_rule *rule_new(enum policy_decision decision, double priority, const char *origin);

/* The mode and the more permissive ones, as bits. */
unsigned policy_modes_from(enum approval_mode mode);
/* Gemini CLI's priority for "always", within its tier. */
enum { ALWAYS_PRIORITY = 950 };
/* The origin of rules that the user chose for this session. */
#define RULE_OF_SESSION "session"
/* The origin of rules of policy_lend. */
#define RULE_LENT "allowed-tools"
/* Whether it is one of these. */
bool rule_is_of_session(const struct policy_rule *rule);

/* ---- from TOML to rules ------------------------------------------------------------ */

struct loader {
	struct policy *policy;
	enum policy_tier tier;
	const char *file;  /* as origins and problems name it */
	json_t *problems;  /* an array; or NULL: they are not reported */
	bool lazy;         /* hasp's own: expressions are compiled when they are used */
	bool trial;        /* for examples, which are not looked at again */
	bool failed;       /* something worse than a warning was found */
	size_t reported;   /* problems of this file */
};

/* Appends a problem; `kind` is one of the words of policy.h. `table`: where, or NULL.  Of a
 * file's problems after the first LIMIT_WARNINGS load_text reports only the number, but the first
 * error always counts. */
__attribute__((format(printf, 4, 5)))
void load_problem(struct loader *loader, const json_t *table, const char *kind,
                  const char *format, ...);
/* Makes `rule`, whose decision and priority are set, one about the paths of `table` (path.c).
 * Returns why it cannot be used, a sentence that the caller frees; NULL: it can. */
char *rule_take_paths(struct policy_rule *rule, const json_t *table);

/* Adds the rules and checkers of one file. False: what loader->failed says. */
bool load_text(struct loader *loader, struct span text);

/* The member that a rule gets which allows something and whose own examples fail. */
#define LOAD_FAILED "\x01" "failed"

#endif
