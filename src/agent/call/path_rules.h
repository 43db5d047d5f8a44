/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on paths, judged by the files that a call opens.
 *
 * A pattern in a rule sees the arguments; a link, "..", a folder, a glob or a search reaches a
 * file by others.  So each call gets a provider of its own, in front of the workspace's, which
 * asks the rules again about every file.  The worker resolves and opens, this process judges: what
 * comes back carries the path that was opened, and is dropped before a tool, a hook or the model
 * sees any of it.
 *
 *     path_rules_init(&rules, policy, session->provider, &who); // mode, sub-agent, interactive
 *     session->provider = &rules.front.provider;
 *     path_rules_decide(&rules, tool, &subject, &verdict);  // after policy_decide on the arguments
 *     ... tool->run(session, arguments) ...
 *     path_rules_release(&rules);
 *
 * A path in the arguments (files, folders to look through) is resolved before the decision, and
 * decided on as named and as resolved; the stricter counts, so that somebody can be asked.  The
 * call then has to reach those files: reads compare, edits hand the path to the worker
 * (change.resolved), which compares it with the place that it has open.
 *
 * A file that no argument names (of a folder, a glob, a search) is judged by the rules with an
 * argsPattern, as read_file of it would be, and as the tool itself with this path; the names that
 * glob and list_directory show, as the tool itself.  Such files are left out and counted
 * (walk_result.denied). One that somebody would have to be asked about is left out too: nobody is
 * asked a thousand times. Before a search the denied files are found by a walk and excluded, so
 * that neither counts nor limits say what is in them.
 *
 * Without a rule that has an argsPattern and is about the tool, or about reading, every request is
 * handed on as it is.
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
	bool asked;                  /* the call runs only if somebody says yes to it, as it is */
};

/* `policy` (NULL: everything is allowed), `base` and the strings of `who` are borrowed until the
 * release. */
void path_rules_init(struct path_rules *rules, const struct policy *policy,
                     struct provider *base, const struct policy_call *who);
/* Frees what it owns; `base` is left alone. */
void path_rules_release(struct path_rules *rules);

/* What the rules say about the files that the arguments lead to; a stricter decision replaces
 * *verdict, which is policy_decide's on the arguments of `subject`. */
void path_rules_decide(struct path_rules *rules, const struct tool *tool,
                       const struct policy_call *subject, struct policy_verdict *verdict);

/* For calls that no rule is asked about first: they are judged as those of `tool`. */
void path_rules_mention(struct path_rules *rules, const struct tool *tool);

#endif
