/* SPDX-License-Identifier: Apache-2.0 */
/* The words of denials. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/denial.h"

static void sentences_and_remedies(void **state)
{
	static const struct {
		struct denial denial;
		const char *sentence, *remedy;
	} rows[] = {
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DEFAULT, .level = SANDBOX_FULL,
		    .what = "/etc/x", .count = 1 },
		  "write /etc/x: outside the writable paths (rule: default, level full). "
		  "To allow: --write /etc", "--write /etc" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DEFAULT, .level = SANDBOX_FULL,
		    .what = "/x", .count = 3 },
		  "write /x: outside the writable paths (rule: default, level full), 3 times.", "" },
		/* For one name in it no home folder is proposed. */
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DEFAULT, .level = SANDBOX_FULL,
		    .what = "/home/me/.ssh" },
		  "write /home/me/.ssh: outside the writable paths (rule: default, level full).", "" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DEFAULT, .level = SANDBOX_FULL,
		    .what = "/home/me/.npm/x" },
		  "write /home/me/.npm/x: outside the writable paths (rule: default, level full). "
		  "To allow: --write /home/me/.npm", "--write /home/me/.npm" },
		{ { .kind = DENIAL_METADATA, .reason = SANDBOX_REASON_DEFAULT, .level = SANDBOX_FULL,
		    .what = "/x" },
		  "change the mode, owner, times or attributes of /x: outside the writable paths "
		  "(rule: default, level full). To allow: --write /x", "--write /x" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DENY, .level = SANDBOX_FULL,
		    .what = "/w/a/b", .rule = "/w/a" },
		  "write /w/a/b: denied by the user, /w/a (rule: deny, level full). "
		  "To allow: no --deny of /w/a", "no --deny of /w/a" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_KEPT, .level = SANDBOX_FULL,
		    .what = "/w/a/b", .rule = "/w/a" },
		  "write /w/a/b: a policy rule, or the setting hasp.sandbox.keepPaths, keeps it from "
		  "being changed, /w/a (rule: kept, level full). To allow: no rule for /w/a "
		  "(\"hasp policy list\" shows where it is)",
		  "no rule for /w/a (\"hasp policy list\" shows where it is)" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_POLICY, .level = SANDBOX_FULL,
		    .what = "/w/a/b", .rule = "/w/a" },
		  "write /w/a/b: a policy rule asks before it is written, /w/a (rule: policy, level "
		  "full). To allow: --write /w/a", "--write /w/a" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_GIT, .level = SANDBOX_FULL,
		    .what = "/w/.git", .rule = "/w/.git/config" },
		  "write /w/.git: version control runs it or is steered by it, /w/.git/config "
		  "(rule: git, level full).", "" },
		{ { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_GIT, .level = SANDBOX_LANDLOCK,
		    .what = "/w/.git/hooks/x", .rule = "/w/.git/hooks" },
		  "write /w/.git/hooks/x: version control runs it or is steered by it, /w/.git/hooks "
		  "(rule: git, level landlock). To allow: --write /w/.git/hooks",
		  "--write /w/.git/hooks" },
		{ { .kind = DENIAL_READ, .reason = SANDBOX_REASON_CREDENTIALS, .level = SANDBOX_FULL,
		    .what = "/h/.ssh/id", .rule = "/h/.ssh" },
		  "read /h/.ssh/id: keys, tokens or passwords, /h/.ssh (rule: credentials, level full). "
		  "To allow: --read /h/.ssh", "--read /h/.ssh" },
		{ { .kind = DENIAL_CONNECT, .reason = SANDBOX_REASON_NETWORK, .level = SANDBOX_FULL,
		    .what = "10.0.0.1:53/udp" },
		  "connect to 10.0.0.1:53/udp: the network is off (rule: network, level full). "
		  "To allow: --net", "--net" },
		{ { .kind = DENIAL_CONNECT, .reason = SANDBOX_REASON_SOCKETS, .level = SANDBOX_FULL,
		    .what = "unix:/run/docker.sock" },
		  "connect to unix:/run/docker.sock: sockets of daemons (rule: sockets, level full). "
		  "To allow: --write /run/docker.sock", "--write /run/docker.sock" },
		{ { .kind = DENIAL_LISTEN, .reason = SANDBOX_REASON_SOCKETS, .level = SANDBOX_FULL,
		    .what = "unix:/run/my/s" },
		  "listen on unix:/run/my/s: sockets of daemons (rule: sockets, level full). "
		  "To allow: --write /run/my", "--write /run/my" },
		{ { .kind = DENIAL_CALL, .reason = SANDBOX_REASON_KERNEL, .level = SANDBOX_FULL,
		    .what = "mount" },
		  "call mount: a system call that no command needs (rule: kernel, level full).", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf sentence = BUF_INIT(4096), remedy = BUF_INIT(4096);

		denial_sentence(&rows[i].denial, &sentence);
		assert_string_equal(sentence.data, rows[i].sentence);
		denial_remedy(&rows[i].denial, &remedy);
		assert_string_equal(remedy.data ? remedy.data : "", rows[i].remedy);
	}
}

static void what_a_stranger_chose_stays_on_its_line(void **state)
{
	struct denial denial = { .kind = DENIAL_WRITE, .reason = SANDBOX_REASON_DEFAULT,
		.level = SANDBOX_FULL,
		.what = "/d/a\nb\x1b[2J\x07\\\xff\xe2\x80\xae\xc2\x9b\xf3\xa0\x81\x81z\xc3\xa9/f" };
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	denial_sentence(&denial, &out);
	assert_non_null(strstr(out.data, "write /d/a\\x0ab\\x1b[2J\\x07\\\\\\xff\\u{202e}\\u{9b}"
	                                 "\\u{e0041}z\xc3\xa9/f: "));
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
}

static void every_kind_has_a_name_and_a_sentence(void **state)
{
	(void)state;
	for (int kind = 0; kind < DENIAL_KIND_COUNT; kind++) {
		struct denial denial = { .kind = (enum denial_kind)kind, .what = "/w" };

		for (int i = 0; i < kind; i++) {
			assert_string_not_equal(denial_kind_name(denial.kind),
			                        denial_kind_name((enum denial_kind)i));
		}
		for (int reason = 0; reason < SANDBOX_REASON_COUNT; reason++) {
			_cleanup_buf_ struct buf out = BUF_INIT(4096);

			denial.reason = (enum sandbox_reason)reason;
			denial_sentence(&denial, &out);
			assert_false(out.overflowed);
			assert_non_null(strstr(out.data, sandbox_reason_name(denial.reason)));
		}
	}
	assert_string_equal(denial_kind_name((enum denial_kind)99), "unknown");
}

/* What cannot have been refused by a rule has no record, whatever was there before. */
static void errors_carry_their_record(void **state)
{
	struct denial denial = { .kind = DENIAL_READ, .reason = SANDBOX_REASON_CREDENTIALS,
		.level = SANDBOX_LANDLOCK, .what = "/h/.ssh/\xff", .rule = "/h/.ssh" };
	struct denial got;
	struct err err = ERR_INIT;

	(void)state;
	assert_false(denial_of(&err, &got));
	assert_false(denial_refuse(&denial, &err));
	assert_non_null(strstr(err.message, "/h/.ssh/\\xff: "));
	assert_true(denial_of(&err, &got));
	assert_memory_equal(&got, &denial, sizeof(got));
	err_set(&err, ERR_DENIED_BY_SANDBOX, "No level.");
	assert_false(denial_of(&err, &got));
	denial_refuse(&denial, &err);
	err_set_errno(&err, EACCES, "It");
	assert_false(denial_of(&err, &got));
}

/* By whatever words a command names it; never a longer name that only begins like it. */
static void hidden_paths_are_found_in_words(void **state)
{
	static const struct {
		const char *text, *path;
	} rows[] = {
		{ "cat /h/.ssh/id_rsa", "/h/.ssh" }, { "cat ~/.ssh/id_rsa", "/h/.ssh" },
		{ "cat $HOME/.ssh", "/h/.ssh" },     { "tar c \"${HOME}/.ssh\"", "/h/.ssh" },
		{ "x --file=/h/.ssh", "/h/.ssh" },   { "cat a/key", "/w/a/key" },
		{ "cat ./a/key", "/w/a/key" },             { "cat /h/.sshx", NULL },
		{ "cat /x/h/.ssh", NULL },           { "cat a/keys", NULL },
		{ "ls /h /w", NULL },                { "", NULL },
	};
	struct sandbox_rule rules[] = {
		{ .path = (char *)"/h/.ssh", .access = SANDBOX_HIDDEN, .folder = true,
		  .reason = SANDBOX_REASON_CREDENTIALS },
		{ .path = (char *)"/w", .access = SANDBOX_WRITE, .folder = true },
		{ .path = (char *)"/w/a/key", .access = SANDBOX_HIDDEN, .reason = SANDBOX_REASON_DENY },
	};
	char work[] = "/w", *root = work;
	const struct sandbox_plan plan = { .rules = rules, .rule_count = ARRAY_LEN(rules),
		.roots = &root, .root_count = 1, .level = SANDBOX_FULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct denial denial = { 0 };

		if (plan_names_hidden(&plan, rows[i].text, "/h", &denial) != !!rows[i].path ||
		    strcmp(denial.what, rows[i].path ? rows[i].path : "") != 0)
			fail_msg("%s: %s", rows[i].text, denial.what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_and_remedies),
		cmocka_unit_test(what_a_stranger_chose_stays_on_its_line),
		cmocka_unit_test(every_kind_has_a_name_and_a_sentence),
		cmocka_unit_test(errors_carry_their_record),
		cmocka_unit_test(hidden_paths_are_found_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
