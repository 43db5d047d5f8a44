/* SPDX-License-Identifier: Apache-2.0 */
/* For test_home.py and test_keystore.py: one call, and what came of it as JSON.
 *
 *     home_probe find|claim PROJECT
 *     home_probe trust FOLDER                  home_probe trust FOLDER RULE
 *     home_probe get|delete SERVICE ACCOUNT    home_probe set SERVICE ACCOUNT SECRET
 *     home_probe gemini
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/home.h"
#include "config/settings.h"
#include "data/json.h"

static int say(json_t *result)
{
	json_dumpf(result, stdout, JSON_ENCODE_ANY);
	json_decref(result);
	return 0;
}

static int fail(const struct err *err)
{
	return say(json_pack("{s:s}", "error", err->message));
}

static int home(char **argv, struct err *err)
{
	struct home *home;
	bool ok;

	if (!home_open(argv[2], &home, err))
		return fail(err);
	ok = strcmp(argv[1], "find") == 0 ? home_find(home) : home_claim(home, err);
	if (err->code)
		fail(err);
	else
		say(json_pack("{s:b, s:o, s:o, s:s}", "found", (int)ok, "temp",
		              json_cstr(home_temp(home)), "history",
		              json_cstr(home_history(home)), "hash", home_project_hash(home)));
	home_free(home);
	return 0;
}

static int trust(char **argv, struct err *err)
{
	static const char *const words[] = { "unknown", "yes", "no" };
	struct err ignored = ERR_INIT;
	struct home *home;

	if (!home_open(".", &home, err))
		return fail(err);
	if (argv[3] && !trust_set(home, argv[2], argv[3], err))
		fail(err);
	else
		say(json_string(words[trust_of(home, argv[2], &ignored)]));
	home_free(home);
	return 0;
}

static int keystore(char **argv, struct err *err)
{
	char *secret = NULL;
	bool ok;

	if (strcmp(argv[1], "set") == 0)
		ok = keystore_set(argv[2], argv[3], argv[4], err);
	else if (strcmp(argv[1], "delete") == 0)
		ok = keystore_delete(argv[2], argv[3], err);
	else
		ok = strcmp(argv[1], "get") == 0 ? keystore_get(argv[2], argv[3], &secret)
		                                 : keystore_gemini_key(&secret);
	if (err->code)
		return fail(err);
	say(json_pack("{s:b, s:o}", "ok", (int)ok, "secret", json_cstr(secret)));
	free(secret);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "find") == 0 || strcmp(argv[1], "claim") == 0)
		return home(argv, &err);
	return strcmp(argv[1], "trust") == 0 ? trust(argv, &err) : keystore(argv, &err);
}
