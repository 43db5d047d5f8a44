/* SPDX-License-Identifier: Apache-2.0 */
/* The files in which editors say where they listen, read as texts: what each must have, and which of
 * several is used.  That of folders and owners is in test_discover.py, with a hasp in an editor's
 * terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ide/discover.h"

static const struct ide_search here = { .workspace = "/usr/lib", .temp = "/nowhere" };

/* %d is an ancestor's number. */
static const struct row {
	enum ide_kind kind;
	const char *name, *text;
	const char *refused; /* a part of why; NULL: it counts */
} rows[] = {
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/nowhere:/usr\", \"authToken\": \"t\"}", NULL },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/usr/lib:\", \"authToken\": \"t\"}", NULL },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/usr/li\", \"authToken\": \"t\"}", "another folder" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"usr:::\", \"authToken\": \"t\"}", "another folder" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": \"80\", \"workspacePath\": \"/usr\", \"authToken\": \"t\"}", "which port" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json", "{\"workspacePath\": \"/usr\", \"authToken\": \"t\"}",
	  NULL },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/usr\", \"authToken\": \"\"}", "no usable token" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/usr\", \"authToken\": \"a\\u0000b\"}", "no usable token" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json.old", "{}", "name is not one" },
	{ IDE_COMPANION, "gemini-ide-server-%d.json", "{}", "name is not one" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json", "[]", "not a JSON object" },
	{ IDE_COMPANION, "gemini-ide-server-%d-80.json", "", "not a JSON object" },
	{ IDE_COMPANION, "gemini-ide-server-99999999999-80.json",
	  "{\"port\": 80, \"workspacePath\": \"/usr\", \"authToken\": \"t\"}", "names no process" },
	{ IDE_CLAUDE, "80.lock", "{\"pid\": %d, \"workspaceFolders\": [\"/x\", \"/usr\"], \"authToken\": \"t\"}",
	  NULL },
	{ IDE_CLAUDE, "80.lock", "{\"pid\": %d, \"workspaceFolders\": [7, null], \"authToken\": \"t\"}",
	  "another folder" },
	{ IDE_CLAUDE, "80.lock", "{\"pid\": 1.5, \"workspaceFolders\": [\"/usr\"], \"authToken\": \"t\"}",
	  "names no process" },
	{ IDE_CLAUDE, "80.lock", "{\"transport\": \"sse\", \"pid\": %d, \"workspaceFolders\": [\"/usr\"], "
	  "\"authToken\": \"t\"}", "not \"ws\"" },
	{ IDE_CLAUDE, "80.lock.tmp", "{}", "name is not one" },
	{ IDE_CLAUDE, "65536.lock", "{\"pid\": %d, \"workspaceFolders\": [\"/usr\"], \"authToken\": \"t\"}",
	  "which port" },
};

/* `text` with the number in it; the caller frees. */
static char *with_process(const char *text)
{
	const char *mark = strstr(text, "%d");

	return mark ? mem_printf("%.*s%d%s", (int)(mark - text), text, (int)getppid(), mark + 2) :
	              mem_strdup(text);
}

static void release(struct ide_place *place)
{
	free(place->file);
	free(place->name);
	free(place->token);
	free(place->refused);
}

static void each_file_counts_or_is_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ide_place place = { .kind = rows[i].kind };
		char *name = with_process(rows[i].name), *text = with_process(rows[i].text);

		ide_place_read(&place, name, span_str(text), &here);
		if (!rows[i].refused && place.refused)
			fail_msg("%s: %s", rows[i].text, place.refused);
		if (rows[i].refused)
			assert_non_null(strstr(place.refused ? place.refused : text,
			                       rows[i].refused));
		else
			assert_int_equal(place.port, 80);
		release(&place);
		free(name);
		free(text);
	}
}

static void a_token_is_one_value_of_a_header(void **state)
{
	static const char *const bad[] = { "a\\r\\nb", "a\\nb", "a\\tb\\u0001", "\\u00e9\\u0080" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ide_place place = { .kind = IDE_CLAUDE };
		char *text = mem_printf("{\"pid\": %d, \"workspaceFolders\": [\"/usr\"], "
		                        "\"authToken\": \"%s\"}", (int)getppid(), bad[i]);

		ide_place_read(&place, "80.lock", span_str(text), &here);
		if (place.token)
			assert_null(strpbrk(place.token, "\r\n\1"));
		release(&place);
		free(text);
	}
}

static void folders_that_are_missing_are_empty(void **state)
{
	struct ide_places places;
	const struct ide_search search = { .workspace = "/usr", .temp = "/nowhere",
		                           .claude = "/nowhere/.claude" };

	(void)state;
	ide_discover(&search, &places);
	assert_int_equal(places.count, 0);
	assert_null(ide_places_best(&places));
	ide_places_release(&places);
}

/* Writes TOP/FOLDER/NAME. */
static void write_place(const char *top, const char *folder, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s/%s", top, folder, name), *filled = with_process(text);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(filled, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
	free(path);
	free(filled);
}

static void remove_places(const char *top, const char *folder)
{
	DIR *names = opendir(folder);
	struct dirent *entry;

	while ((entry = readdir(names)))
		unlinkat(dirfd(names), entry->d_name, 0);
	closedir(names);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(top), 0);
}

static void of_several_the_one_that_the_terminal_names_is_used(void **state)
{
	static const char says[] = "{\"pid\": %d, \"workspaceFolders\": [\"/usr\"], \"authToken\": \"t\"}";
	char top[] = "/tmp/hasp-places-XXXXXX", *folder;
	struct ide_search search = { .workspace = "/usr", .temp = "/nowhere", .claude = top };
	struct ide_places places;

	(void)state;
	assert_non_null(mkdtemp(top));
	folder = mem_printf("%s/ide", top);
	assert_int_equal(mkdir(folder, 0700), 0);
	write_place(top, "ide", "81.lock", says);
	write_place(top, "ide", "82.lock", says);
	write_place(top, "ide", "80.lock", "{}");
	write_place(top, "ide", "notes.txt", says);
	ide_discover(&search, &places);
	assert_int_equal(places.count, 3);
	assert_int_equal(ide_places_best(&places)->port, 81);
	assert_non_null(places.at[2].refused);
	ide_places_release(&places);
	setenv("CLAUDE_CODE_SSE_PORT", "82", 1);
	ide_discover(&search, &places);
	assert_int_equal(ide_places_best(&places)->port, 82);
	assert_true(ide_places_best(&places)->preferred);
	ide_places_release(&places);
	unsetenv("CLAUDE_CODE_SSE_PORT");
	remove_places(top, folder);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_counts_or_is_refused_with_the_reason),
		cmocka_unit_test(a_token_is_one_value_of_a_header),
		cmocka_unit_test(folders_that_are_missing_are_empty),
		cmocka_unit_test(of_several_the_one_that_the_terminal_names_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
