/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that ask for the approval of several people: who counts, and what their votes come to.
 * Pure.
 *
 *     [[rule]]
 *     toolName = "run_shell_command"
 *     commandPrefix = "kubectl apply"
 *     decision = "ask_user"
 *     approvals = 2
 *     reviewers = ["@operators", "anna"]
 *     owner = "does_not_count"
 *
 * Everything here is JSON, as questions and votes carry it (docs/bus.md):
 *
 *     rules   [{needed (int), reviewers? ["anna", "@operators"], owner, rule "FILE:LINE"}]
 *     person  {name, groups ["operators"]} of a reviewer; {} of the session's owner
 *     votes   [{person, ...}]: approvals, one of each person
 *
 * Each rule must be met; one approval may count for several.
 */
#ifndef HASP_POLICY_APPROVALS_H
#define HASP_POLICY_APPROVALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Whether two are one person. */
bool approvals_same_person(const json_t *a, const json_t *b);
/* Whether the person's approval counts for any of the rules. */
bool approvals_count(const json_t *rules, const json_t *person);
/* Whether a no of this person ends it: of those who count, and of the owner, unless a rule says
 * that the owner may be outvoted. */
bool approvals_may_veto(const json_t *rules, const json_t *person);
/* Whether all rules are met. */
bool approvals_met(const json_t *rules, const json_t *votes);
/* Whether they could be, if those of `people` who have not voted approved; `against`: persons who
 * will not. */
bool approvals_possible(const json_t *rules, const json_t *votes, const json_t *people,
                        const json_t *against);
/* The most approvals that one of the rules asks for. */
size_t approvals_needed(const json_t *rules);
/* Appends what is missing: "1 more of @operators, anna"; nothing when all is met. */
void approvals_put_missing(const json_t *rules, const json_t *votes, struct buf *out);
/* Appends what the rules ask for: "2 approvals of @operators, anna (FILE:3)". */
void approvals_put_rules(const json_t *rules, struct buf *out);

#endif
