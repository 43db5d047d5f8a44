/* SPDX-License-Identifier: Apache-2.0 */
/* The profile for macOS as text: it is read back, and what it would decide is compared with what
 * the plan says. */
#include "plan_fixture.h"

#include <regex.h>

#include "base/buf.h"
#include "sandbox/plan/denial.h"
#include "sandbox/report/report.h"

static char *profile_of(const struct sandbox_plan *plan, const char *home)
{
	struct buf text = BUF_INIT(1 << 24);

	seatbelt_profile(plan, home, &text);
	assert_false(text.overflowed);
	return buf_steal(&text);
}

/* Takes a string of SBPL off; its content goes to `out`. */
static const char *read_string(const char *at, char *out)
{
	assert_int_equal(*at++, '"');
	while (*at != '"') {
		assert_true((unsigned char)*at >= 0x20);
		if (*at == '\\' && at[1] == 'x') {
			char hex[3] = { at[2], at[3], 0 };

			*out++ = (char)strtol(hex, NULL, 16);
			at += 4;
		} else {
			at += *at == '\\';
			*out++ = *at++;
		}
	}
	*out = '\0';
	return at + 1;
}

/* The number of expressions; parentheses in strings do not count. */
static size_t count_expressions(const char *text)
{
	size_t depth = 0, count = 0;
	char string[8192];

	for (const char *at = text; *at;) {
		if (*at == '"') {
			at = read_string(at, string);
			continue;
		}
		if (*at == '(' && depth++ == 0)
			count++;
		if (*at == ')') {
			assert_true(depth > 0);
			depth--;
		}
		at++;
	}
	assert_int_equal(depth, 0);
	return count;
}

/* (require-all (regex #"...") (require-not (subpath "...")) ...) */
static bool matches_all(const char *filter, const char *path)
{
	const char *end = strchr(filter, '\n'), *at = strstr(filter, "(regex #");
	char text[8192];
	regex_t regex;
	bool matches;

	assert_true(at && at < end);
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(at + 9, "\""), at + 9);
	assert_int_equal(regcomp(&regex, text, REG_EXTENDED | REG_NOSUB), 0);
	matches = regexec(&regex, path, 0, NULL, 0) == 0;
	regfree(&regex);
	while (matches && (at = strstr(at, "(require-not (subpath ")) != NULL && at < end) {
		at = read_string(at + strlen("(require-not (subpath "), text);
		matches = strncmp(path, text, strlen(text)) != 0 ||
		          (path[strlen(text)] && path[strlen(text)] != '/');
	}
	return matches;
}

/* What the profile decides about a path: the last rule that matches. */
static bool allows(const char *profile, const char *operation, const char *path)
{
	bool result = false;

	for (const char *line = profile; *line; line = strchr(line, '\n') + 1) {
		size_t len = strcspn(line, "\n");
		const char *filter = memchr(line + 1, '(', len - (len > 0));
		char operations[64], there[8192];
		bool subpath;

		if (strncmp(line, "(allow ", 7) != 0 && strncmp(line, "(deny ", 6) != 0)
			continue;
		snprintf(operations, sizeof(operations), "%.*s",
		         (int)(filter ? filter - line : (long)len), line);
		if (!strstr(operations, operation))
			continue;
		if (filter && strncmp(filter, "(require-all ", 13) == 0) {
			if (!matches_all(filter, path))
				continue;
		} else if (filter) {
			subpath = strncmp(filter, "(subpath ", 9) == 0;
			if (!subpath && strncmp(filter, "(literal ", 9) != 0)
				continue;
			read_string(filter + 9, there);
			if (strcmp(path, there) != 0 &&
			    !(subpath && strncmp(path, there, strlen(there)) == 0 &&
			      path[strlen(there)] == '/'))
				continue;
		}
		result = line[1] == 'a';
	}
	return result;
}

static void the_profile_decides_as_the_plan_does(void **state)
{
	static const char *const names[] = {
		"tree/file", "tree", "tree/.git", "tree/.git/config", "tree/.git/index",
		"tree/.git/hooks/pre-commit", "tree/.git/commondir", "tree/.vscode/x", "tree/.idea",
		"tree/.idea/x", "tree/secret", "tree/secret/in", "tree/secret-not", "home/.ssh/id",
		"home/.gemini/GEMINI.md", "home/.gemini/oauth_creds.json", "home/file", "out/x",
		"tree/secret/open/x", "tree/.git/config.lock", "tree/not/yet/x",
	};
	struct fixture *f = *state;
	const char *deny[] = { in(f, "tree/secret"), in(f, "tree/not/yet") };
	const char *write[] = { in(f, "tree/secret/open") };
	struct sandbox_plan *plan;
	char *profile;

	shell(f, "git init $W; mkdir -p $W/.vscode $W/secret/open $H/.ssh $H/.gemini; "
	         "touch $H/.gemini/GEMINI.md");
	f->options.deny = deny;
	f->options.deny_count = 2;
	f->options.write = write;
	f->options.write_count = 1;
	plan = plan_of(f);
	profile = profile_of(plan, NULL);
	assert_true(count_expressions(profile) > plan->rule_count);
	assert_non_null(strstr(profile, "(deny default)\n"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = in(f, names[i]);
		bool reads = plan_judge(plan, path, SANDBOX_READ, false, NULL);
		bool writes = plan_judge(plan, path, SANDBOX_WRITE, false, NULL);

		if (allows(profile, "file-read*", path) != reads)
			fail_msg("reading %s: the plan says %d", path, reads);
		if (allows(profile, "file-write*", path) != writes)
			fail_msg("writing %s: the plan says %d", path, writes);
	}
	/* A folder with something protected in it keeps its name. */
	assert_false(allows(profile, "file-write-unlink", in(f, "tree/.git")));
	assert_false(allows(profile, "file-write-unlink", f->work));
	free(profile);
	sandbox_plan_free(plan);
}

static void hidden_entries_of_a_writable_home_are_denied_but_for_open_ones(void **state)
{
	static const char *const entries[] = {
		".cache", ".cache/x", ".cachet", ".npm/_cacache", ".config/x", ".profile", ".x",
		".cargo", ".cargo/bin/x", ".cargo/registry/x", ".git", ".git/index",
		".git/config", ".git/hooks/pre-commit", ".github/x", "file", "sub/.x",
	};
	struct fixture *f = *state;
	const char *write[] = { f->home };
	struct sandbox_plan *plan;
	char *profile;

	shell(f, "git init $H; mkdir $H/.cache");
	f->options.write = write;
	f->options.write_count = 1;
	plan = plan_of(f);
	profile = profile_of(plan, NULL);
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		char *name = mem_printf("home/%s", entries[i]);
		const char *path = in(f, name);
		bool writes = plan_judge(plan, path, SANDBOX_WRITE, false, NULL) &&
		              plan_judge_obeyed(plan, path, NULL);

		if (allows(profile, "file-write*", path) != writes)
			fail_msg("writing %s: the plan says %d", path, writes);
		free(name);
	}
	assert_true(allows(profile, "file-write*", in(f, "home/.cache/x")));
	assert_false(allows(profile, "file-write*", in(f, "home/.profile")));
	free(profile);
	sandbox_plan_free(plan);
}

static void hostile_paths_cannot_leave_their_strings(void **state)
{
	static const char *const hostile[] = {
		"\"))\n(allow default) (x (\"",
		"back\\",
		"\\\"",
		"new\nline",
		"\x01\x7f\t",
		"(allow",
		"; comment",
		"#\"regex",
		"uml\xc3\xa4ut",
		"\xff\xfe",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		char *path = mem_printf("%s/%s", f->out, hostile[i]);
		const char *roots[] = { path };
		struct sandbox_plan *plan;
		char *profile;

		assert_int_equal(mkdir(path, 0755), 0);
		f->options.roots = roots;
		plan = plan_of(f);
		profile = profile_of(plan, f->home);
		count_expressions(profile);
		assert_null(strstr(profile, "\n(allow default)"));
		assert_true(allows(profile, "file-write*", path));
		assert_false(allows(profile, "file-write*", f->out));
		sandbox_plan_free(plan);
		free(profile);
		free(path);
	}
}

static void the_network_is_off_or_on_and_sockets_stay_inside(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan = plan_of(f);
	char *profile = profile_of(plan, f->home);

	assert_null(strstr(profile, "(allow network*)"));
	assert_non_null(strstr(profile, "(allow network-outbound (remote unix-socket (subpath"));
	assert_non_null(strstr(profile, "Library/Keychains"));
	assert_non_null(strstr(profile, "(allow process-fork)"));
	free(profile);
	sandbox_plan_free(plan);

	f->options.network = true;
	plan = plan_of(f);
	profile = profile_of(plan, f->home);
	assert_non_null(strstr(profile, "(allow network*)"));
	/* Sockets of daemons are denied after that, and those of the workspace allowed again. */
	assert_non_null(strstr(strstr(profile, "(allow network*)"),
	                       "(deny network* (remote unix-socket))"));
	assert_non_null(strstr(strstr(profile, "(deny network*"), f->work));
	free(profile);
	sandbox_plan_free(plan);

	f->options.use = SANDBOX_USE_FILES;
	plan = plan_of(f);
	profile = profile_of(plan, f->home);
	assert_null(strstr(profile, "(allow network"));
	assert_null(strstr(profile, "process-fork"));
	free(profile);
	sandbox_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)
		TEST(the_profile_decides_as_the_plan_does),
		TEST(hidden_entries_of_a_writable_home_are_denied_but_for_open_ones),
		TEST(hostile_paths_cannot_leave_their_strings),
		TEST(the_network_is_off_or_on_and_sockets_stay_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
