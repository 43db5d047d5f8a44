/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions as other agents write them: each form, as they document it, decides as they say. */
#include "policy_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "policy/permissions.h"

#define PROJECT "/srv/app"

static struct permission_place place_in(enum policy_tier tier, json_t *problems)
{
	return (struct permission_place){
		.file = "settings.json", .project = PROJECT, .home = "/srv/anna",
		.folder = tier == POLICY_USER ? "/srv/anna/.claude" : PROJECT, .tier = tier,
		.permits = true, .problems = problems,
	};
}

struct permission_row {
	enum policy_decision decision; /* of the entry */
	const char *entry;
	const char *tool, *arguments;
	enum policy_decision expected;
};

static char *arguments_of_row(const struct permission_row *row)
{
	static const char *const members[][2] = {
		{ "run_shell_command", "command" }, { "search_files", "path" },
		{ "list_directory", "path" }, { "web_fetch", "prompt" },
		{ "activate_skill", "name" }, { "invoke_agent", "agent_name" },
	};
	const char *member = "file_path";
	json_auto_t *object = NULL;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (strcmp(members[i][0], row->tool) == 0)
			member = members[i][1];
	object = json_pack("{s:s}", member, row->arguments);
	return json_dumps(object, 0);
}

static void check_permissions(const struct permission_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct permission_row *row = &rows[i];
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		json_auto_t *problems = json_array();
		const struct permission_place place = place_in(POLICY_WORKSPACE, problems);
		const struct setting setting = { .mode = MODE_DEFAULT, .project = PROJECT };
		char *arguments = arguments_of_row(row);
		struct policy_verdict verdict;

		policy_add_permission(policy, &place, row->decision, row->entry, NULL, 3);
		decide(policy, row->tool, arguments, &setting, &verdict);
		if (verdict.decision != row->expected)
			fail_msg("row %zu: %s of %s: %s %s is %s, not %s (%s)", i,
			         policy_decision_name(row->decision), row->entry, row->tool,
			         row->arguments, policy_decision_name(verdict.decision),
			         policy_decision_name(row->expected), verdict.rule);
		assert_int_equal(json_array_size(problems), 0);
		policy_verdict_release(&verdict);
		policy_free(policy);
		free(arguments);
	}
}

#define SHELL "run_shell_command"
#define ALLOW POLICY_ALLOW
#define ASK POLICY_ASK
#define DENY POLICY_DENY

/* The rows of the table "Wildcard patterns" of code.claude.com/docs/en/permissions, and more. */
static void commands(void **state)
{
	static const struct permission_row rows[] = {
		{ ALLOW, "Bash(npm run build)", SHELL, "npm run build", ALLOW },
		{ ALLOW, "Bash(npm run build)", SHELL, "npm run build --watch", ASK },
		{ ALLOW, "Bash(npm run *)", SHELL, "npm run test --watch", ALLOW },
		{ ALLOW, "Bash(npm run *)", SHELL, "npm run", ALLOW },
		{ ALLOW, "Bash(npm run *)", SHELL, "npm install", ASK },
		{ ALLOW, "Bash(npm run test:*)", SHELL, "npm run test", ALLOW },
		{ ALLOW, "Bash(npm run test:*)", SHELL, "npm run test && rm x", ASK },
		{ ALLOW, "Bash(npm run test:*)", SHELL, "npm run testing", ASK },
		{ ALLOW, "Bash(git * main)", SHELL, "git merge main", ALLOW },
		{ ALLOW, "Bash(git * main)", SHELL, "git push", ASK },
		{ ALLOW, "Bash(git push * main)", SHELL, "git push main", ASK },
		{ DENY, "Bash(git * main)", SHELL, "git push origin main", DENY },
		{ DENY, "Bash(git * main)", SHELL, "cd x && git push origin main", DENY },
		{ DENY, "Bash(ls *)", SHELL, "ls -la", DENY },
		{ DENY, "Bash(ls *)", SHELL, "ls", DENY },
		{ DENY, "Bash(ls*)", SHELL, "lsattr x", DENY },
		{ DENY, "Bash(* --help *)", SHELL, "npm --help x", DENY },
		{ DENY, "Bash(rm *)", SHELL, "FOO=bar rm -rf tmp/", DENY },
		{ DENY, "Bash(rm *)", SHELL, "echo \"$(rm x)\"", DENY },
		{ DENY, "Bash(rm *)", SHELL, "/bin/rm x", DENY }, /* stricter than there */
		{ DENY, "Bash(curl *)", SHELL, "timeout 30 curl x", DENY },
		{ ASK, "Bash(git status *)", SHELL, "git status", ASK },
		{ DENY, "Bash", SHELL, "ls", DENY },
		{ DENY, "Bash(*)", SHELL, "ls", DENY },
		{ ALLOW, "Bash", SHELL, "make", ALLOW },
		{ DENY, "Bash(./deploy.sh (prod))", SHELL, "ls", ALLOW },
		{ DENY, "Bash(sed -i **********)", SHELL, "sed -i x y", DENY },
	};

	(void)state;
	check_permissions(rows, ARRAY_LEN(rows));
}

static void paths(void **state)
{
	static const struct permission_row rows[] = {
		{ DENY, "Read(./.env)", "read_file", ".env", DENY },
		{ DENY, "Read(./.env)", "read_file", PROJECT "/.env", DENY },
		{ DENY, "Read(.env)", "read_file", "sub/.env", DENY },
		{ DENY, "Read(.env)", "read_file", ".envrc", ALLOW },
		{ DENY, "Read(.env)", "read_file", "x.env", ALLOW },
		{ DENY, "Read(./.env.*)", "read_file", ".env.local", DENY },
		{ DENY, "Read(./secrets/**)", "read_file", "secrets/a/b", DENY },
		{ DENY, "Read(./secrets/**)", "search_files", "secrets", DENY },
		{ DENY, "Read(secrets/**)", "read_file", "sub/secrets/a", DENY },
		{ DENY, "Read(/secrets/**)", "read_file", "sub/secrets/a", ALLOW },
		{ DENY, "Read(**/secrets/**)", "read_file", "sub/secrets/a", DENY },
		{ DENY, "Read(src/*.key)", "read_file", "src/a.key", DENY },
		{ DENY, "Read(src/*.key)", "read_file", "src/sub/a.key", ALLOW },
		{ DENY, "Read(~/.ssh/**)", "read_file", "/srv/anna/.ssh/id_rsa", DENY },
		{ DENY, "Read(//etc/app/**)", "read_file", "/etc/app/key", DENY },
		{ DENY, "Read(//**/.env)", "read_file", "sub/.env", DENY },
		{ DENY, "Read(//srv/app/key)", "read_file", "key", DENY },
		{ DENY, "Read(./Finance (2024)/**)", "read_file", "Finance (2024)/a", DENY },
		{ DENY, "Read(./[ab].txt)", "read_file", "a.txt", DENY },
		{ DENY, "Read(./.env)", "write_file", ".env", DENY },
		{ ASK, "Read(./.env)", "read_file", ".env", ASK },
		{ ALLOW, "Edit(/src/**)", "update_file", "src/a.c", ALLOW },
		{ ALLOW, "Edit(/src/**)", "safe_patch", "src/a.c", ALLOW },
		{ ALLOW, "Edit(/src/**)", "update_file", "lib/src/a.c", ASK },
		{ ALLOW, "Edit(src/**)", "update_file", "lib/src/a.c", ASK },
		{ DENY, "Edit(src/**)", "update_file", "lib/src/a.c", DENY },
		{ DENY, "Edit(/docs/**)", "write_file", "docs/a", DENY },
		{ DENY, "Write(docs/**)", "update_file", "docs/a", DENY },
		{ DENY, "Edit", "safe_patch", "a", DENY },
		{ DENY, "Read(./.env)", SHELL, "cat .env", DENY },
		{ DENY, "Read(./.env)", SHELL, "cat < .env", DENY },
		{ DENY, "Read(./.env)", SHELL, "grep -n x sub/.env", DENY },
		{ DENY, "Read(./.env)", SHELL, "/bin/cat './.env'", DENY },
		{ DENY, "Read(~/.aws/**)", SHELL, "cat ~/.aws/credentials", DENY },
		{ DENY, "Read(./build)", SHELL, "npm run build", ASK },
		{ DENY, "Edit(**/*.lock)", SHELL, "echo x > a/b.lock", DENY },
		{ DENY, "Edit(**/*.lock)", SHELL, "tee yarn.lock", DENY },
	};

	(void)state;
	check_permissions(rows, ARRAY_LEN(rows));
}

static void other_tools(void **state)
{
	static const struct permission_row rows[] = {
		{ DENY, "Skill(deploy)", "activate_skill", "deploy", DENY },
		{ DENY, "Skill(deploy *)", "activate_skill", "deploy", DENY },
		{ DENY, "Skill(deploy)", "activate_skill", "acme:deploy", DENY },
		{ ALLOW, "Skill(deploy)", "activate_skill", "deploys", ASK },
		{ ALLOW, "Skill(deploy)", "activate_skill", "acme:deploy", ASK },
		{ DENY, "Agent(Explore)", "invoke_agent", "Explore", DENY },
		{ DENY, "Task(Explore)", "invoke_agent", "Explorer", ALLOW },
		{ DENY, "WebSearch", "google_web_search", "x", DENY },
		{ DENY, "*", "read_file", "x", DENY },
	};

	(void)state;
	check_permissions(rows, ARRAY_LEN(rows));
}

static void servers(void **state)
{
	static const struct {
		enum policy_decision decision;
		const char *entry, *tool;
		enum policy_decision expected;
	} rows[] = {
		{ DENY, "mcp__git", "push", DENY },       { DENY, "mcp__git__*", "push", DENY },
		{ DENY, "mcp__git__push", "push", DENY }, { DENY, "mcp__git__push", "pull", ASK },
		{ DENY, "mcp__*", "push", DENY },         { DENY, "mcp__git__pu*", "push", DENY },
		{ ALLOW, "mcp__git__*", "push", ALLOW },  { ALLOW, "mcp__git__push", "push", ALLOW },
		{ ALLOW, "mcp__other", "push", ASK },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		json_auto_t *problems = json_array();
		const struct permission_place place = place_in(POLICY_USER, problems);
		const struct setting setting = { .mode = MODE_DEFAULT, .server = "git",
			                         .server_tool = rows[i].tool };
		_cleanup_free_ char *tool = mem_printf("mcp_git_%s", rows[i].tool);
		struct policy_verdict verdict;

		policy_add_permission(policy, &place, rows[i].decision, rows[i].entry, NULL, 0);
		decide(policy, tool, "{}", &setting, &verdict);
		if (verdict.decision != rows[i].expected)
			fail_msg("%s: %s is %s (%s)", rows[i].entry, tool,
			         policy_decision_name(verdict.decision), verdict.rule);
		policy_verdict_release(&verdict);
		policy_free(policy);
	}
}

static enum policy_decision fetch_from(struct policy *policy, const char *const *hosts)
{
	json_auto_t *list = json_array(), *none = json_object();
	struct policy_call call = { .tool = "web_fetch", .kind = "fetch", .arguments = none,
		                    .hosts = list, .mode = MODE_DEFAULT, .interactive = true };
	struct policy_verdict verdict;
	enum policy_decision decision;

	for (; *hosts; hosts++)
		json_array_append_new(list, json_string(*hosts));
	policy_decide(policy, &call, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

static void domains(void **state)
{
	static const struct {
		enum policy_decision decision;
		const char *entry;
		const char *hosts[3];
		enum policy_decision expected;
	} rows[] = {
		{ ALLOW, "WebFetch(domain:example.com)", { "example.com" }, ALLOW },
		{ ALLOW, "WebFetch(domain:Example.com.)", { "example.com" }, ALLOW },
		{ ALLOW, "WebFetch(domain:example.com)", { "a.example.com" }, ASK },
		{ ALLOW, "WebFetch(domain:example.com)", { "example.com", "evil.com" }, ASK },
		{ DENY, "WebFetch(domain:evil.com)", { "example.com", "evil.com" }, DENY },
		{ DENY, "WebFetch(domain:evil.com)", { "example.com" }, ASK },
		{ DENY, "WebFetch(domain:*.evil.com)", { "a.b.evil.com" }, DENY },
		{ DENY, "WebFetch(domain:*.evil.com)", { "evil.com" }, ASK },
		{ ALLOW, "WebFetch(domain:example.*)", { "example.org" }, ALLOW },
		{ ALLOW, "WebFetch(domain:example.*)", { "example.evil.com" }, ASK },
		{ DENY, "WebFetch(domain:*)", { "example.com" }, DENY },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		const struct permission_place place = place_in(POLICY_USER, NULL);
		const struct policy_call offered = { .tool = "web_fetch", .kind = "fetch",
			                             .interactive = true, .mode = MODE_DEFAULT };

		policy_add_permission(policy, &place, rows[i].decision, rows[i].entry, NULL, 0);
		if (fetch_from(policy, rows[i].hosts) != rows[i].expected)
			fail_msg("%s, %s", rows[i].entry, rows[i].hosts[0]);
		assert_false(policy_hides(policy, &offered));
		policy_free(policy);
	}
}

/* Deny, ask, allow, whichever file says it; and what restricts comes before the user's own. */
static void the_order_of_files(void **state)
{
	static const struct {
		enum policy_tier tiers[2];
		enum policy_decision decisions[2], expected;
	} rows[] = {
		{ { POLICY_USER, POLICY_WORKSPACE }, { ALLOW, DENY }, DENY },
		{ { POLICY_ADMIN, POLICY_WORKSPACE }, { ALLOW, DENY }, DENY },
		{ { POLICY_ADMIN, POLICY_WORKSPACE }, { ASK, DENY }, DENY },
		{ { POLICY_ADMIN, POLICY_WORKSPACE }, { ALLOW, ASK }, ASK },
		{ { POLICY_USER, POLICY_WORKSPACE }, { DENY, ASK }, DENY },
		{ { POLICY_USER, POLICY_USER }, { DENY, ALLOW }, DENY },
	};
	static const char own[] = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = "
	                          "\"make\"\ndecision = \"allow\"\npriority = 999\n";

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(own, POLICY_USER);
		const struct setting setting = { .mode = MODE_YOLO };

		for (size_t k = 0; k < 2; k++) {
			const size_t which = i % 2 ? k : 1 - k;
			const struct permission_place place =
				place_in(rows[i / 2].tiers[which], NULL);

			policy_add_permission(policy, &place, rows[i / 2].decisions[which],
			                      "Bash(make *)", NULL, 0);
		}
		assert_int_equal(decide_command(policy, "make all", &setting),
		                 rows[i / 2].expected);
		policy_free(policy);
	}
}

/* What is not understood makes no rule, and is said: loudly where it would restrict. */
static void what_is_not_understood(void **state)
{
	static const struct {
		enum policy_decision decision;
		const char *entry, *said;
		const char *kind;
	} rows[] = {
		{ DENY, "Bsh(rm *)", "did you mean \"Bash\"", OTHERS_LOST },
		{ DENY, "Bash(rm *", "TOOL or TOOL(WHAT)", OTHERS_LOST },
		{ DENY, "Agent(model:opus)", "FORBIDS NOTHING", OTHERS_LOST },
		{ DENY, "Bash(run_in_background:true)", "FORBIDS NOTHING", OTHERS_LOST },
		{ DENY, "Read(a/../b)", "such a pattern", OTHERS_LOST },
		{ DENY, "WebFetch(example.com)", "domain:HOST", OTHERS_LOST },
		{ DENY, "mcp__git(push)", "no brackets", OTHERS_LOST },
		{ DENY, "\x1b[31m", "FORBIDS NOTHING", OTHERS_LOST },
		{ ALLOW, "Bash(* --version)", "any", OTHERS_UNUSED },
		{ ALLOW, "Write(src/**)", "Edit(PATH)", OTHERS_UNUSED },
		{ ALLOW, "Read([ab])", "such a pattern", OTHERS_UNUSED },
		{ ALLOW, "*", "one tool", OTHERS_UNUSED },
		{ ALLOW, "mcp__*", "name a server", OTHERS_UNUSED },
		{ ALLOW, "mcp__git(x)", "no brackets", OTHERS_UNUSED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_new();
		json_auto_t *problems = json_array(), *list = NULL;
		const struct permission_place place = place_in(POLICY_WORKSPACE, problems);
		const char *message;

		policy_add_permission(policy, &place, rows[i].decision, rows[i].entry, NULL, 7);
		assert_int_equal(json_array_size(problems), 1);
		message = json_string_value(json_object_get(json_array_get(problems, 0),
		                                            "message"));
		if (!strstr(message, rows[i].said) || strchr(message, '\x1b'))
			fail_msg("%s: %s", rows[i].entry, message);
		assert_string_equal(json_string_value(json_object_get(json_array_get(problems, 0),
		                                                      "kind")), rows[i].kind);
		list = policy_list(policy);
		assert_int_equal(json_array_size(list), 0);
		policy_free(policy);
	}
}

static void a_denial_names_file_and_rule(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	const struct permission_place place = place_in(POLICY_WORKSPACE, NULL);
	const struct setting setting = { .mode = MODE_YOLO };
	struct policy_verdict verdict;
	json_auto_t *keep = json_array(), *ask = json_array(), *voted = json_array();
	json_auto_t *hide = json_array();

	(void)state;
	policy_add_permission(policy, &place, DENY, "Read(./.env)", NULL, 5);
	policy_add_permission(policy, &place, DENY, "Edit(/generated/**)", NULL, 6);
	policy_add_permission(policy, &place, DENY, "Read(//etc/passwd)", NULL, 7);
	decide(policy, "read_file", "{\"file_path\": \".env\"}", &setting, &verdict);
	assert_string_equal(verdict.message, "Tool execution denied by policy: read_file "
	                                     "(settings.json:5: Read(./.env)).");
	policy_verdict_release(&verdict);
	/* What the sandbox adds; of a project only its own files. */
	policy_kept_paths(policy, keep, ask, voted);
	policy_hidden_paths(policy, hide);
	assert_int_equal(json_array_size(keep) + json_array_size(ask) + json_array_size(voted), 1);
	assert_string_equal(json_string_value(json_array_get(keep, 0)), PROJECT "/generated");
	assert_int_equal(json_array_size(hide), 1);
	assert_string_equal(json_string_value(json_array_get(hide, 0)), PROJECT "/.env");
	policy_free(policy);
}

static void no_questions(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	const struct setting setting = { .mode = MODE_DEFAULT };
	struct policy_verdict verdict;

	(void)state;
	policy_set_unasked(policy, "settings.json:2: defaultMode");
	decide(policy, "run_shell_command", "{\"command\": \"make\"}", &setting, &verdict);
	assert_int_equal(verdict.decision, POLICY_DENY);
	assert_non_null(strstr(verdict.message, "settings.json:2: defaultMode says that no "
	                                        "questions are asked"));
	policy_verdict_release(&verdict);
	policy_free(policy);
}

/* ---- Codex' *.rules ------------------------------------------------------------------- */

static const char rules_text[] =
	"# Codex writes such lines itself.\n"
	"prefix_rule(pattern=[\"git\", \"status\"], decision=\"allow\")\n"
	"prefix_rule(\n"
	"    pattern = [\"git\", [\"push\", 'fetch']],  # either\n"
	"    decision = \"prompt\",\n"
	"    justification = \"say \\\"why\\\"\",\n"
	"    match = [[\"git\", \"push\"], \"git fetch\"],\n"
	"    not_match = [\"git status\"],\n"
	")\n"
	"prefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n"
	"prefix_rule(pattern=[\"make\"])\n"
	"host_executable(name = \"git\", paths = [\"/usr/bin/git\"])\n";

static void rules_of_codex(void **state)
{
	static const struct command_row rows[] = {
		{ "git status", POLICY_ALLOW }, { "git push origin", POLICY_ASK },
		{ "git fetch", POLICY_ASK },    { "rm x", POLICY_DENY },
		{ "ls; rm x", POLICY_DENY },    { "make all", POLICY_ALLOW },
		{ "cargo build", POLICY_ASK },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *problems = json_array();
	const struct permission_place place = place_in(POLICY_USER, problems);
	const struct setting setting = { .mode = MODE_DEFAULT };

	(void)state;
	policy_add_prefix_rules(policy, &place, span_str(rules_text));
	check_commands(policy, &setting, rows, ARRAY_LEN(rows));
	assert_int_equal(json_array_size(problems), 0);
	policy_free(policy);
}

/* It may forbid something, so it is said; and nothing after it allows anything. */
static void rules_that_are_not_literal(void **state)
{
	static const struct {
		const char *text;
		int line;
	} rows[] = {
		{ "\nfor x in [\"a\"]:\n    prefix_rule(pattern=[x])\n", 2 },
		{ "prefix_rule(pattern=[\"a\"] + [\"b\"], decision=\"forbidden\")\n", 1 },
		{ "prefix_rule(pattern=[\"\"\"a\"\"\"])\n", 1 },
		{ "\"\"\"\nprefix_rule(pattern=[\"b\"])\n\"\"\"\n", 1 },
		{ "prefix_rule(pattern=[\"a b\"], decision=\"forbidden\")", 1 },
		{ "prefix_rule(pattern=[], decision=\"prompt\")", 1 },
		{ "prefix_rule(pattern=[\"a\"], decision=\"maybe\")", 1 },
		{ "prefix_rule(pattern=[\"a\"", 1 },
		{ "network_rule(host=\"x\")", 1 },
		{ "if True:\n    pass\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		json_auto_t *problems = json_array();
		const struct permission_place place = place_in(POLICY_USER, problems);
		const struct setting setting = { .mode = MODE_DEFAULT };
		_cleanup_free_ char *text = mem_printf(
			"%s\nprefix_rule(pattern=[\"make\"])\n"
			"prefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n", rows[i].text);
		const json_t *first;

		policy_add_prefix_rules(policy, &place, span_str(text));
		first = json_array_get(problems, 0);
		if (!first || json_integer_value(json_object_get(first, "line")) != rows[i].line)
			fail_msg("row %zu: %s", i, first ? json_string_value(json_object_get(
					 first, "message")) : "nothing");
		assert_string_equal(json_string_value(json_object_get(first, "kind")),
		                    OTHERS_LOST);
		assert_int_equal(decide_command(policy, "make", &setting), POLICY_ASK);
		assert_int_equal(decide_command(policy, "b", &setting), POLICY_ASK);
		assert_int_equal(decide_command(policy, "rm x", &setting), POLICY_DENY);
		policy_free(policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands),
		cmocka_unit_test(paths),
		cmocka_unit_test(other_tools),
		cmocka_unit_test(servers),
		cmocka_unit_test(domains),
		cmocka_unit_test(the_order_of_files),
		cmocka_unit_test(what_is_not_understood),
		cmocka_unit_test(a_denial_names_file_and_rule),
		cmocka_unit_test(no_questions),
		cmocka_unit_test(rules_of_codex),
		cmocka_unit_test(rules_that_are_not_literal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
