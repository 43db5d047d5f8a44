/* SPDX-License-Identifier: Apache-2.0 */
/* Applies rules on paths to the files that a call really opens.
 *
 * A pattern in a rule is matched against the arguments, but a link, "..", a folder, a glob or a
 * search can reach a file under another name. Each call therefore gets its own provider in front of
 * the workspace's, which checks the rules again for every file. The worker resolves and opens; this
 * process decides: each reply carries the path that was opened, and a denied one is dropped before
 * a tool, a hook or the model sees any of it.
 *
 *     path_rules_init(&rules, policy, session->provider, &who); // mode, sub-agent, interactive
 *     session->provider = &rules.front.provider;
 *     path_rules_decide(&rules, tool, &subject, &verdict);  // after policy_decide on the arguments
 *     ... tool->run(session, arguments) ...
 *     path_rules_release(&rules);
 *
 * A path in the arguments (files, folders to search) is resolved before the decision, and checked
 * both as given and as resolved; the stricter result counts. At that point the user can still be
 * asked. The call must then reach exactly those files: reads compare the path, edits hand it to the
 * worker (change.resolved), which compares it with the place it has open.
 *
 * A file that no argument names (found in a folder, by a glob or by a search) is checked against
 * the rules with an argsPattern, once as a read_file of it and once as a call of the tool itself
 * with this path; names that glob and list_directory show are checked for the tool only. Denied
 * files are left out and counted (walk_result.denied), and so are files that would need
 * confirmation, because one search could ask a thousand questions. Before a search a walk finds the
 * denied files and excludes them, so that neither counts nor limits reveal their contents.
 *
 * If no rule with an argsPattern concerns the tool or reading, every request is passed on
 * unchanged.
 */
#ifndef HASP_AGENT_CALL_PATH_RULES_H
#define HASP_AGENT_CALL_PATH_RULES_H

#include "policy/policy.h"
#include "tool/tool.h"
#include "worker/interpose.h"

/* ---- rules on paths ---------------------------------------------------------- */

struct path_rules {
	struct interposer front;     /* first: what the tools of the call are given */
	const struct policy *policy; /* borrowed; NULL: nothing is judged */
	struct policy_call who;      /* of which the tool and its arguments do not matter */
	struct policy_files *reading; /* owned: what keeps files from read_file; NULL: nothing */

	/* Of the call that was decided on last. */
	const struct tool *tool;     /* NULL: none yet */
	struct policy_files *own;    /* owned: what keeps files from the tool; NULL: nothing */
	bool by_tool;                /* some rule is about which files the tool reaches */
	json_t *judged;              /* owned: a path as named: where it led */
	bool asked;                  /* the call runs only if the user accepts it as it is */
};

/* `policy` (NULL: everything is allowed), `base` and the strings of `who` are borrowed until the
 * release. */
void path_rules_init(struct path_rules *rules, const struct policy *policy,
                     struct provider *base, const struct policy_call *who);
/* Frees what it owns; `base` is left alone. */
void path_rules_release(struct path_rules *rules);

/* Checks the files that the arguments name; a stricter decision replaces *verdict, which is
 * policy_decide's for the arguments of `subject`. */
void path_rules_decide(struct path_rules *rules, const struct tool *tool,
                       const struct policy_call *subject, struct policy_verdict *verdict);

/* For calls that no rule is asked about first: they are judged as those of `tool`. */
void path_rules_mention(struct path_rules *rules, const struct tool *tool);

#endif
