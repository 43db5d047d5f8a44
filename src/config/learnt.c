/* SPDX-License-Identifier: Apache-2.0 */
#include "config/learnt.h"

#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/lock.h"
#include "data/json.h"

enum { LEARNT_ENTRIES = 200, LEARNT_DEPTH = 8, DAY_S = 86400 };

/* {} when there is no file, or one that nobody can use. */
static json_t *read_all(const char *file)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *all = NULL;

	if (file_read(file, LIMIT_LEARNT_BYTES, &text, &ignored) && text.data &&
	    json_parse_depth(file_text_span(&text), LEARNT_DEPTH, &all, &ignored) &&
	    json_is_object(all))
		return all;
	json_decref(all);
	return json_object();
}

json_t *learnt_read(const char *file, const char *key)
{
	json_auto_t *all = read_all(file);

	return json_incref(json_object_get(all, key));
}

/* The oldest stand first: one that changes is put in again, behind the others. */
static void make_room(json_t *all)
{
	while (json_object_size(all) >= LEARNT_ENTRIES) {
		_cleanup_free_ char *first =
			mem_strdup(json_object_iter_key(json_object_iter(all)));

		json_object_del(all, first);
	}
}

void learnt_write(const char *file, const char *key, json_t *members)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_LEARNT_BYTES);
	struct err ignored = ERR_INIT;
	_cleanup_lock_ char *lock = file_lock(file, &ignored);
	json_auto_t *all = NULL;
	json_t *mine;

	if (!lock) {
		json_decref(members);
		return;
	}
	all = read_all(file);
	mine = json_incref(json_object_get(all, key));
	json_object_del(all, key);
	make_room(all);
	if (json_is_object(mine)) {
		json_object_update_recursive(mine, members);
		json_decref(members);
	} else {
		json_decref(mine);
		mine = members;
	}
	json_object_set_new(all, key, mine);
	if (json_print(&out, all, 2) && buf_char(&out, '\n'))
		file_replace(file, buf_view(&out), 0600, &ignored);
}

static void day_text(time_t when, char out[static 16])
{
	struct tm parts;

	gmtime_r(&when, &parts);
	strftime(out, 16, "%Y-%m-%d", &parts);
}

json_t *learnt_until(unsigned days)
{
	char text[16];

	day_text(time(NULL) + (time_t)days * DAY_S, text);
	return json_string(text);
}

bool learnt_holds(const json_t *until)
{
	const char *day = json_string_value(until);
	char today[16];

	day_text(time(NULL), today);
	return day && strlen(day) == 10 && strcmp(day, today) >= 0;
}
