/* SPDX-License-Identifier: Apache-2.0 */
/* .env files as dotenv reads them, and variables in strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/private.h"
#include "config/settings.h"

static void note(void *data, struct span name, const char *value)
{
	buf_printf(data, "[%.*s=%s]", (int)name.len, name.data, value);
}

/* What the npm package dotenv 17 makes of the same lines. */
static void files_are_read_as_dotenv_reads_them(void **state)
{
	static const struct {
		const char *text, *found;
	} cases[] = {
		{ "A=1\nB=two words \n", "[A=1][B=two words]" },
		{ "  export A = x\n", "[A=x]" },
		{ "export=1\nexport A=2", "[export=1][A=2]" },
		{ "A: x\nB:x\n", "[A=x]" },
		{ "A=\nB= # nothing\nC=#nothing\n", "[A=][B=][C=]" },
		{ "A=x#y\nB='x#y'\nC=\"x # y\" # z\n", "[A=x][B=x#y][C=x # y]" },
		{ "A=\"a\\nb\\rc\\td\"\nB='a\\nb'\nC=`a\\nb`\n",
		  "[A=a\nb\rc\\td][B=a\\nb][C=a\\nb]" },
		{ "A=\"one\ntwo\"\nB=3\n", "[A=one\ntwo][B=3]" },
		{ "A=\"it\\\"s\"\nB='it\\'s'\n", "[A=it\\\"s][B=it\\'s]" },
		{ "A='open\nB=2\n", "[A='open][B=2]" },
		{ "A=\"x\" y\nB=\"a\" \"b\"\n", "[A=\"x\" y][B=a\" \"b]" },
		{ "# A=1\n\n=2\nA B=3\n1.x-y=4\r\nC=5\r\n", "[1.x-y=4][C=5]" },
		{ "\xEF\xBB\xBF" "A=1", "[A=1]" },
		{ "A={\"json\": 1}\n", "[A={\"json\": 1}]" },
		{ "A=1=2==\n", "[A=1=2==]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);

		env_file_parse(span_str(cases[i].text), note, &out);
		assert_string_equal(out.data ? out.data : "", cases[i].found);
	}
}

static void a_byte_0_spoils_its_line_alone(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1000);

	(void)state;
	env_file_parse(SPAN("A=1\nB=x\0y\nC=3\n"), note, &out);
	assert_string_equal(out.data, "[A=1][C=3]");
}

/* --- With a home folder and a project ------------------------------------------------------- */

struct place {
	char *folder;
	struct home *home;
	json_t *warnings;
};

static void write_text(const struct place *place, const char *path, const char *text)
{
	_cleanup_free_ char *whole = mem_printf("%s/%s", place->folder, path);
	FILE *file = fopen(whole, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_folder(const struct place *place, const char *path)
{
	_cleanup_free_ char *whole = mem_printf("%s/%s", place->folder, path);

	assert_int_equal(mkdir(whole, 0700), 0);
}

static int set_up(void **state)
{
	static struct place place;
	_cleanup_free_ char *home = NULL, *project = NULL;
	char name[] = "/tmp/hasp-config-XXXXXX";
	struct err err = ERR_INIT;

	place.folder = realpath(mkdtemp(name), NULL);
	home = mem_printf("%s/own", place.folder);
	project = mem_printf("%s/own/up/p", place.folder);
	make_folder(&place, "own");
	make_folder(&place, "own/.gemini");
	make_folder(&place, "own/up");
	make_folder(&place, "own/up/p");
	make_folder(&place, "own/up/p/.gemini");
	setenv("GEMINI_CLI_HOME", home, 1);
	assert_true(home_open(project, &place.home, &err));
	place.warnings = json_array();
	*state = &place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	_cleanup_free_ char *command = mem_printf("%s/", place->folder);

	home_free(place->home);
	json_decref(place->warnings);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", command, (char *)NULL);
		_exit(1);
	}
	free(place->folder);
	return 0;
}

static struct variables *open_them(struct place *place, bool trusted, bool ignore)
{
	json_t *excluded = json_pack("[s]", "DEBUG");
	const struct variables_options options = {
		.home = place->home,
		.trusted = trusted,
		.ignore_env_files = ignore,
		.excluded = excluded,
		.warnings = place->warnings,
	};
	struct variables *variables = variables_open(&options);

	json_decref(excluded);
	return variables;
}

static void expect(struct place *place, bool trusted, bool ignore, const char *file,
                   const char *value)
{
	struct variables *variables = open_them(place, trusted, ignore);
	const char *found = variables_file(variables);

	if (!file)
		assert_null(found);
	else
		assert_true(found && span_ends(span_str(found), span_str(file)));
	if (value)
		assert_string_equal(variables_get(variables, "A"), value);
	else
		assert_null(variables_get(variables, "A"));
	variables_free(variables);
}

static void trust_folder(const struct place *place, const char *path)
{
	_cleanup_free_ char *folder = mem_printf("%s/%s", place->folder, path);
	struct err err = ERR_INIT;

	assert_true(trust_set(place->home, folder, "TRUST_FOLDER", &err));
}

static void the_nearest_file_counts(void **state)
{
	struct place *place = *state;

	expect(place, true, false, NULL, NULL);
	write_text(place, "own/.env", "A=home");
	expect(place, true, false, "own/.env", "home");
	write_text(place, "own/.gemini/.env", "A=gemini");
	expect(place, true, false, "own/.gemini/.env", "gemini");
	write_text(place, "own/up/.env", "A=work");
	expect(place, true, false, "own/.gemini/.env", "gemini"); /* that folder is not trusted */
	trust_folder(place, "own/up");
	expect(place, true, false, "own/up/.env", "work");
	expect(place, true, true, "own/.gemini/.env", "gemini");
	make_folder(place, "own/up/p/.env"); /* a folder is no such file */
	expect(place, true, false, "own/up/.env", "work");
	write_text(place, "own/up/p/.gemini/.env", "A=project");
	expect(place, true, false, "p/.gemini/.env", "project");
	expect(place, true, true, "p/.gemini/.env", "project");
	expect(place, false, true, "own/.gemini/.env", "gemini");
}

static void untrusted_files_give_nothing(void **state)
{
	struct place *place = *state;
	struct variables *variables;

	unsetenv("GEMINI_API_KEY");
	write_text(place, "own/up/p/.gemini/.env", "GEMINI_API_KEY=hidden");
	write_text(place, "own/up/p/.env", "GEMINI_API_KEY=k\nA=1\nHASP_TEST_PATH=/evil\n");
	write_text(place, "own/up/.env", "GEMINI_API_KEY=k\nA=1\n");
	variables = open_them(place, false, false);
	assert_null(variables_get(variables, "GEMINI_API_KEY"));
	assert_null(variables_get(variables, "A"));
	assert_null(variables_get(variables, "HASP_TEST_PATH"));
	assert_null(variables_file(variables));
	variables_free(variables);
	write_text(place, "own/.env", "GEMINI_API_KEY=own");
	expect(place, false, false, "own/.env", NULL);
}

/* Of another user, or one that others may write. */
static void files_of_others_give_nothing(void **state)
{
	static const char *const files[] = { "own/up/p/.env", "own/up/p/.gemini/.env",
		                             "own/up/.env" };
	struct place *place = *state;

	trust_folder(place, "own/up");
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", place->folder, files[i]);

		write_text(place, files[i], "A=others");
		expect(place, true, false, files[i], "others");
		assert_int_equal(chmod(path, 0666), 0);
		expect(place, true, false, NULL, NULL);
		assert_int_equal(chmod(path, 0600), 0);
		if (geteuid() == 0) {
			assert_int_equal(chown(path, 4321, 4321), 0);
			expect(place, true, false, NULL, NULL);
		}
		assert_true(json_array_size(place->warnings) > i);
		assert_int_equal(unlink(path), 0);
	}
}

static void the_users_key_comes_first(void **state)
{
	struct place *place = *state;
	struct variables *variables;

	unsetenv("OPENAI_API_KEY");
	write_text(place, "own/up/p/.env", "OPENAI_API_KEY=projects\nB=projects\n");
	variables = open_them(place, true, false);
	assert_string_equal(variables_get(variables, "OPENAI_API_KEY"), "projects");
	assert_null(variables_own(variables, "OPENAI_API_KEY"));
	assert_null(variables_own(variables, "B"));
	variables_free(variables);
	write_text(place, "own/.env", "OPENAI_API_KEY=users\nB=users\n");
	variables = open_them(place, true, false);
	assert_string_equal(variables_get(variables, "OPENAI_API_KEY"), "users");
	assert_string_equal(variables_own(variables, "OPENAI_API_KEY"), "users");
	assert_string_equal(variables_get(variables, "B"), "projects");
	assert_string_equal(variables_own(variables, "B"), "users");
	variables_free(variables);
}

static void what_is_set_or_excluded_stays(void **state)
{
	struct place *place = *state;
	struct variables *variables;

	setenv("HASP_TEST_SET", "", 1);
	unsetenv("DEBUG");
	write_text(place, "own/up/p/.env",
	           "HASP_TEST_SET=x\nDEBUG=1\nGEMINI_CLI_IDE_SERVER_STDIO_COMMAND=sh\nB=2\nB=3\n");
	variables = open_them(place, true, false);
	assert_string_equal(variables_get(variables, "HASP_TEST_SET"), "");
	assert_null(variables_get(variables, "DEBUG"));
	assert_null(variables_get(variables, "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND"));
	assert_string_equal(variables_get(variables, "B"), "3");
	assert_null(getenv("B")); /* the process's own stay as they are */
	variables_free(variables);
}

static void references_are_replaced(void **state)
{
	static const struct {
		const char *text, *after;
	} cases[] = {
		{ "", "" },
		{ "no reference $", "no reference $" },
		{ "$HT_A-$HT_A_", "x-$HT_A_" },
		{ "${HT_A}${HT_A:-y}${HT_NO:-y}${HT_NO:-}", "xxy" },
		{ "$HT_NO ${HT_NO} $$HT_A ${}", "$HT_NO ${HT_NO} $x ${}" },
		{ "${HT_NO:-a:-b} ${HT_A", "a:-b ${HT_A" },
		{ "$HT_LOOP", "$HT_LOOP" }, /* once, not again */
	};
	struct place *place = *state;
	struct variables *variables;

	setenv("HT_A", "x", 1);
	setenv("HT_LOOP", "$HT_LOOP", 1);
	variables = open_them(place, true, false);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *text = json_string(cases[i].text);
		json_auto_t *after = variables_expand_json(variables, text, true, NULL);

		assert_string_equal(json_string_value(after), cases[i].after);
	}
	variables_free(variables);
}

static void expansion_is_bounded(void **state)
{
	struct place *place = *state;
	json_t *many = json_array(), *after;
	struct variables *variables;
	size_t total = 0, i;
	json_t *item;
	char *big = mem_alloc(100001, 1);

	memset(big, 'x', 100000);
	setenv("HT_BIG", big, 1);
	variables = open_them(place, true, false);
	for (i = 0; i < 1000; i++)
		json_array_append_new(many, json_string("$HT_BIG"));
	after = variables_expand_json(variables, many, true, NULL);
	json_array_foreach(after, i, item)
		total += json_string_length(item);
	assert_true(total > 1 << 20 && total < 5 << 20);
	json_decref(many);
	json_decref(after);
	variables_free(variables);
	unsetenv("HT_BIG");
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_as_dotenv_reads_them),
		cmocka_unit_test(a_byte_0_spoils_its_line_alone),
		cmocka_unit_test_setup_teardown(the_nearest_file_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(untrusted_files_give_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_of_others_give_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_users_key_comes_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_set_or_excluded_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(references_are_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(expansion_is_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
