/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that ask for the approval of several people: which calls they are about, which other rules
 * lower them, and what votes come to. */
#include "policy_fixture.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/approvals.h"
#include "policy/rule.h"

/* ---- which calls --------------------------------------------------------------------- */

#define QUORUM(TOOL, MORE, PRIORITY)                                                             \
	"[[rule]]\ntoolName = \"" TOOL "\"\ndecision = \"ask_user\"\npriority = " #PRIORITY      \
	"\napprovals = 2\n" MORE
#define ALLOW(TOOL, MORE, PRIORITY)                                                              \
	"[[rule]]\ntoolName = \"" TOOL "\"\ndecision = \"allow\"\npriority = " #PRIORITY "\n" MORE

static void add(struct policy *policy, enum policy_tier tier, const char *text)
{
	struct loader loader = { .policy = policy, .tier = tier, .file = "f.toml" };

	if (text)
		assert_true(load_text(&loader, span_str(text)));
}

static void rules_and_what_lowers_them(void **state)
{
	static const struct {
		const char *admin, *user, *project;
		const char *tool, *arguments;
		enum approval_mode mode;
		int approvals; /* rules that ask for several people */
		enum policy_decision decision;
	} rows[] = {
		/* The administrator's, against everything that allows. */
		{ QUORUM("write_file", "", 1), ALLOW("write_file", "", 999), NULL, "write_file",
		  "{\"file_path\": \"a\"}", MODE_DEFAULT, 1, POLICY_ASK },
		{ QUORUM("*", "", 1), ALLOW("*", "", 999), NULL, "write_file", "{}", MODE_YOLO, 1,
		  POLICY_ASK },
		{ QUORUM("write_file", "", 1), NULL, NULL, "write_file", "{}", MODE_YOLO, 1,
		  POLICY_ASK },
		/* The user's, against a project's; not the other way round. */
		{ NULL, QUORUM("write_file", "", 1), ALLOW("write_file", "", 999), "write_file",
		  "{}", MODE_DEFAULT, 1, POLICY_ASK },
		{ NULL, ALLOW("write_file", "", 1), QUORUM("write_file", "", 999), "write_file",
		  "{}", MODE_DEFAULT, 0, POLICY_ALLOW },
		/* Within a tier the priority decides, but "always" (950) does not. */
		{ NULL, QUORUM("write_file", "", 100) ALLOW("write_file", "", 200), NULL,
		  "write_file", "{}", MODE_DEFAULT, 0, POLICY_ALLOW },
		{ NULL, QUORUM("write_file", "", 100) ALLOW("write_file", "", 950), NULL,
		  "write_file", "{}", MODE_DEFAULT, 1, POLICY_ASK },
		{ NULL, QUORUM("write_file", "", 950), NULL, "write_file", "{}", MODE_DEFAULT, 1,
		  POLICY_ASK },
		{ NULL, QUORUM("write_file", "", 100) "[[rule]]\ntoolName = \"write_file\"\ndecision "
		  "= \"deny\"\npriority = 950\n", NULL, "write_file", "{}", MODE_DEFAULT, 0,
		  POLICY_DENY },
		/* A path, and a list of changes with it. */
		{ NULL, "[[rule]]\npath = \"deploy\"\ndecision = \"ask_user\"\napprovals = 2\n",
		  NULL, "write_file", "{\"file_path\": \"deploy/a\"}", MODE_DEFAULT, 1, POLICY_ASK },
		{ NULL, QUORUM("write_file", "argsPattern = \"deploy/\"\n", 500)
		  QUORUM("write_file", "argsPattern = \"docs/\"\n", 501), NULL, "apply_changes",
		  "{\"changes\": [{\"kind\": \"write\", \"file_path\": \"deploy/a\"}, {\"kind\": "
		  "\"write\", \"file_path\": \"docs/b\"}]}", MODE_AUTO_EDIT, 2, POLICY_ASK },
		/* A command in a line; one that may be it; a line that cannot be read. */
		{ NULL, QUORUM("run_shell_command", "commandPrefix = \"kubectl apply\"\n", 500)
		  ALLOW("run_shell_command", "", 1), NULL, "run_shell_command",
		  "{\"command\": \"ls && kubectl apply -f x\"}", MODE_DEFAULT, 1, POLICY_ASK },
		{ NULL, QUORUM("run_shell_command", "commandPrefix = \"kubectl apply\"\n", 500),
		  NULL, "run_shell_command", "{\"command\": \"kubectl $x\"}", MODE_DEFAULT, 1,
		  POLICY_ASK },
		{ NULL, QUORUM("run_shell_command", "commandPrefix = \"kubectl apply\"\n", 500)
		  ALLOW("run_shell_command", "", 1), NULL, "run_shell_command",
		  "{\"command\": \"eval $x\"}", MODE_YOLO, 1, POLICY_ASK },
		{ NULL, QUORUM("run_shell_command", "commandPrefix = \"kubectl apply\"\n", 500)
		  ALLOW("run_shell_command", "", 1), NULL, "run_shell_command",
		  "{\"command\": \"ls\"}", MODE_DEFAULT, 0, POLICY_ALLOW },
		/* What is typed into a shell. */
		{ NULL, QUORUM("run_shell_command", "commandPrefix = \"kubectl apply\"\n", 500)
		  ALLOW("write_background_input", "", 1), NULL, "write_background_input",
		  "{\"pid\": 1, \"input\": \"kubectl apply -f x\\n\"}", MODE_DEFAULT, 1, POLICY_ASK },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct setting setting = { .mode = rows[i].mode };
		struct policy *policy = policy_new();
		struct policy_verdict verdict;

		policy_add_defaults(policy);
		add(policy, POLICY_WORKSPACE, rows[i].project);
		add(policy, POLICY_USER, rows[i].user);
		add(policy, POLICY_ADMIN, rows[i].admin);
		decide(policy, rows[i].tool, rows[i].arguments, &setting, &verdict);
		if (verdict.decision != rows[i].decision ||
		    (int)json_array_size(verdict.approvals) != rows[i].approvals)
			fail_msg("row %zu: %s, %zu rules", i,
			         policy_decision_name(verdict.decision),
			         json_array_size(verdict.approvals));
		policy_verdict_release(&verdict);
		policy_free(policy);
	}
}

static void always_for_the_session_does_not_lower_a_projects_rule(void **state)
{
	struct policy *policy = policy_new();
	const struct policy_scope scope = { .tool = "write_file", .mode = MODE_DEFAULT,
		                            .text = "edits" };
	const struct setting setting = { .mode = MODE_DEFAULT };
	struct policy_verdict verdict;

	(void)state;
	policy_add_defaults(policy);
	add(policy, POLICY_WORKSPACE, QUORUM("write_file", "", 1));
	policy_allow_for_session(policy, &scope);
	decide(policy, "write_file", "{\"file_path\": \"a\"}", &setting, &verdict);
	assert_int_equal(verdict.decision, POLICY_ASK);
	assert_int_equal(json_array_size(verdict.approvals), 1);
	policy_verdict_release(&verdict);
	policy_free(policy);
}

static void where_no_one_can_be_asked_it_says_what_is_needed(void **state)
{
	struct policy *policy = policy_new();
	const struct setting setting = { .mode = MODE_DEFAULT, .headless = true };
	struct policy_verdict verdict;

	(void)state;
	policy_add_defaults(policy);
	add(policy, POLICY_USER, QUORUM("write_file", "reviewers = [\"@ops\", \"anna\"]\n", 500));
	decide(policy, "write_file", "{\"file_path\": \"a\"}", &setting, &verdict);
	assert_int_equal(verdict.decision, POLICY_DENY);
	assert_non_null(strstr(verdict.message, "It needs 2 approvals of @ops, anna (f.toml:1)."));
	policy_verdict_release(&verdict);
	policy_free(policy);
}

static void members_that_do_not_fit_are_errors(void **state)
{
	static const char *const rows[] = {
		QUORUM("x", "owner = \"maybe\"\n", 1),
		QUORUM("x", "reviewers = [1]\n", 1),
		QUORUM("x", "reviewers = []\n", 1),
		QUORUM("x", "reviewers = [\"\"]\n", 1),
		QUORUM("x", "reviewers = [\"@\"]\n", 1),
		ALLOW("x", "approvals = 2\n", 1),
		ALLOW("x", "reviewers = [\"anna\"]\n", 1),
		"[[rule]]\ntoolName = \"x\"\ndecision = \"ask_user\"\npriority = 1\napprovals = 0\n",
		"[[rule]]\ntoolName = \"x\"\ndecision = \"ask_user\"\npriority = 1\napprovals = 65\n",
		"[[rule]]\npath = \"x\"\ndecision = \"deny\"\napprovals = 2\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_new();
		struct loader loader = { .policy = policy, .tier = POLICY_USER, .file = "f" };

		if (load_text(&loader, span_str(rows[i])))
			fail_msg("row %zu is taken", i);
		policy_free(policy);
	}
}

/* ---- votes --------------------------------------------------------------------------- */

#define OWNER "{}"
#define ANNA "{\"name\": \"anna\", \"groups\": [\"ops\"]}"
#define BEN "{\"name\": \"ben\", \"groups\": []}"
#define EVE "{\"name\": \"eve\", \"groups\": [\"others\"]}"
#define RULE(NEEDED, MORE) "{\"needed\": " #NEEDED ", \"rule\": \"f:1\", " MORE "}"
#define VOTE(PERSON) "{\"person\": " PERSON "}"

static json_t *parsed(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	assert_non_null(value);
	return value;
}

static void votes_are_counted_by_person_and_rule(void **state)
{
	static const struct {
		const char *rules, *votes, *people;
		bool met, possible;
		const char *missing;
	} rows[] = {
		{ "[" RULE(2, "\"owner\": \"counts\"") "]", "[]", "[" OWNER "," ANNA "]", false,
		  true, "2 more" },
		{ "[" RULE(2, "\"owner\": \"counts\"") "]", "[]", "[" OWNER "]", false, false,
		  "2 more" },
		/* Two fronts of one person are one. */
		{ "[" RULE(2, "\"owner\": \"counts\"") "]", "[]", "[" ANNA "," ANNA "]", false,
		  false, "2 more" },
		{ "[" RULE(2, "\"owner\": \"counts\"") "]", "[" VOTE(OWNER) "," VOTE(ANNA) "]",
		  "[]", true, true, "" },
		{ "[" RULE(1, "\"owner\": \"does_not_count\"") "]", "[" VOTE(OWNER) "]",
		  "[" OWNER "]", false, false, "1 more of others than the owner" },
		{ "[" RULE(1, "\"owner\": \"does_not_count\", \"reviewers\": [\"@ops\"]") "]",
		  "[" VOTE(EVE) "," VOTE(BEN) "]", "[" ANNA "]", false, true, "1 more of @ops" },
		{ "[" RULE(1, "\"owner\": \"may_be_outvoted\", \"reviewers\": [\"ben\"]") "]",
		  "[" VOTE(OWNER) "]", "[" ANNA "," BEN "]", false, true, "1 more of ben" },
		{ "[" RULE(1, "\"owner\": \"counts\", \"reviewers\": [\"ben\"]") "]",
		  "[" VOTE(OWNER) "]", "[]", true, true, "" },
		/* One approval counts for each rule that it fits. */
		{ "[" RULE(1, "\"owner\": \"counts\"") ","
		  RULE(1, "\"owner\": \"does_not_count\", \"reviewers\": [\"@ops\"]") "]",
		  "[" VOTE(ANNA) "]", "[]", true, true, "" },
		{ "[" RULE(1, "\"owner\": \"counts\"") ","
		  RULE(1, "\"owner\": \"does_not_count\", \"reviewers\": [\"@ops\"]") "]",
		  "[" VOTE(BEN) "]", "[" EVE "]", false, false, "1 more of @ops" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *rules = parsed(rows[i].rules), *votes = parsed(rows[i].votes);
		json_auto_t *people = parsed(rows[i].people);
		_cleanup_buf_ struct buf missing = BUF_INIT(4096);

		approvals_put_missing(rules, votes, &missing);
		if (approvals_met(rules, votes) != rows[i].met ||
		    approvals_possible(rules, votes, people, NULL) != rows[i].possible ||
		    !span_eq(buf_view(&missing), span_str(rows[i].missing)))
			fail_msg("row %zu: \"%.*s\"", i, (int)missing.len, missing.data);
	}
}

static void who_may_say_no(void **state)
{
	json_auto_t *counts = parsed("[" RULE(1, "\"owner\": \"does_not_count\", \"reviewers\": "
	                                         "[\"@ops\"]") "]");
	json_auto_t *outvoted = parsed("[" RULE(1, "\"owner\": \"may_be_outvoted\"") "]");
	json_auto_t *owner = parsed(OWNER), *anna = parsed(ANNA), *eve = parsed(EVE);
	json_auto_t *against = json_pack("[O]", owner);
	json_auto_t *people = json_pack("[O]", owner);
	json_auto_t *none = json_array();

	(void)state;
	assert_true(approvals_may_veto(counts, owner));
	assert_true(approvals_may_veto(counts, anna));
	assert_false(approvals_may_veto(counts, eve));
	assert_false(approvals_may_veto(outvoted, owner));
	assert_true(approvals_possible(outvoted, none, people, NULL));
	assert_false(approvals_possible(outvoted, none, people, against));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_and_what_lowers_them),
		cmocka_unit_test(always_for_the_session_does_not_lower_a_projects_rule),
		cmocka_unit_test(where_no_one_can_be_asked_it_says_what_is_needed),
		cmocka_unit_test(members_that_do_not_fit_are_errors),
		cmocka_unit_test(votes_are_counted_by_person_and_rule),
		cmocka_unit_test(who_may_say_no),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
