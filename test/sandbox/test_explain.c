/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of plans and machines: all of it, in order, and nothing that steers a terminal. */
#include "plan_fixture.h"

#include "base/buf.h"
#include "sandbox/report/report.h"

/* Writes down what is told as "/key/0/key=value" lines, and that it is well nested. */
struct record {
	struct buf text;
	struct {
		char name[64];
		bool list;
		unsigned count;
	} above[8];
	unsigned depth;
};

static void put_key(struct record *record, const char *key)
{
	bool in_list = record->depth && record->above[record->depth - 1].list;

	/* Members of lists have no keys, members of objects have. */
	assert_int_equal(key == NULL, in_list);
	for (unsigned i = 0; i < record->depth; i++)
		buf_printf(&record->text, "/%s", record->above[i].name);
	if (key)
		buf_printf(&record->text, "/%s", key);
	else
		buf_printf(&record->text, "/%u", record->above[record->depth - 1].count);
	if (record->depth)
		record->above[record->depth - 1].count++;
}

static void on_begin(void *data, const char *key, bool list)
{
	struct record *record = data;
	unsigned at = record->depth;

	assert_true(at < ARRAY_LEN(record->above));
	if (key)
		snprintf(record->above[at].name, sizeof(record->above[at].name), "%s", key);
	else
		snprintf(record->above[at].name, sizeof(record->above[at].name), "%u",
		         record->above[at - 1].count++);
	record->above[at].list = list;
	record->above[at].count = 0;
	record->depth++;
}

static void on_end(void *data)
{
	struct record *record = data;

	assert_true(record->depth > 0);
	record->depth--;
}

static void on_text(void *data, const char *key, const char *value)
{
	struct record *record = data;

	assert_non_null(value);
	put_key(record, key);
	buf_printf(&record->text, "=%s\n", value);
}

static void on_number(void *data, const char *key, uint64_t value)
{
	struct record *record = data;

	put_key(record, key);
	buf_printf(&record->text, "=%llu\n", (unsigned long long)value);
}

static void on_flag(void *data, const char *key, bool value)
{
	on_text(data, key, value ? "true" : "false");
}

static struct reporter recording(struct record *record)
{
	*record = (struct record){ .text = BUF_INIT(1 << 24) };
	return (struct reporter){ record, on_begin, on_end, on_text, on_number, on_flag };
}

static char *tree_of(const struct sandbox_plan *plan, const struct sandbox_probe *probe)
{
	struct record record;
	const struct reporter reporter = recording(&record);

	explain_plan(plan, probe, &reporter);
	assert_int_equal(record.depth, 0);
	return buf_steal(&record.text);
}

static char *text_of(const struct sandbox_plan *plan, const struct sandbox_probe *probe)
{
	struct buf text = BUF_INIT(1 << 24);

	explain_plan_text(plan, probe, &text);
	return buf_steal(&text);
}

#define assert_says(text, what)                                              \
	do {                                                                 \
		if (!strstr(text, what))                                     \
			fail_msg("\"%s\" is missing in:\n%s", what, text);   \
	} while (0)
#define assert_silent(text, what)                                            \
	do {                                                                 \
		if (strstr(text, what))                                      \
			fail_msg("\"%s\" is in:\n%s", what, text);           \
	} while (0)

static void a_plan_is_told_whole(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;
	char *tree, *text;

	shell(f, "git init $W; mkdir $H/.ssh");
	f->options.limits = sandbox_limits_default();
	plan = plan_of(f);
	tree = tree_of(plan, &f->probe);
	text = text_of(plan, &f->probe);
	assert_says(tree, "/level=full\n");
	assert_says(tree, "/use=command\n");
	assert_says(tree, "/network=false\n");
	assert_says(tree, "/namespaces/0=user\n");
	assert_says(tree, "/landlock/abi=7\n");
	assert_says(tree, "/landlock/layers/0/files/0=execute\n");
	assert_says(tree, "/landlock/layers/1/scope/1=signal\n");
	assert_says(tree, "/filters/1/name=command\n");
	assert_says(tree, "/limits/processes=1024\n");
	/* Each rule and each absent name, in the text too. */
	for (size_t i = 0; i < plan->rule_count; i++) {
		char *line = mem_printf("/rules/%zu/path=%s\n", i, plan->rules[i].path);

		assert_says(tree, line);
		assert_says(text, plan->rules[i].path);
		free(line);
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		char *line = mem_printf("/absent/%zu/path=%s\n", i, plan->absent[i].path);

		assert_says(tree, line);
		assert_says(text, plan->absent[i].path);
		free(line);
	}
	/* The mounts, in their order: read-only first, then what is writable. */
	assert_non_null(strstr(text, "set-all / read-only"));
	assert_non_null(strstr(strstr(text, "set-all / read-only"), f->work));
	assert_silent(text, "weaker");
	free(tree);
	free(text);
	sandbox_plan_free(plan);
}

static void what_is_weaker_is_said(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;
	char *text;

	f->probe.best = SANDBOX_LANDLOCK;
	f->probe.landlock_abi = 3;
	f->options.network = true;
	snprintf(f->probe.why_not_full, sizeof(f->probe.why_not_full), "for this reason");
	plan = plan_of(f);
	text = text_of(plan, &f->probe);
	assert_says(text, "weaker\n  for this reason\n");
	assert_says(text, "ABI below 4");
	assert_says(text, "ABI below 6");
	assert_silent(text, "ABI below 3");
	assert_says(text, "command_landlock_net");
	assert_silent(text, "mounts\n");
	assert_silent(text, "namespaces\n");
	free(text);
	sandbox_plan_free(plan);

	f->options.level_given = true;
	f->options.level = SANDBOX_PATHS;
	plan = plan_of(f);
	text = text_of(plan, &f->probe);
	assert_says(text, "not confined at all");
	assert_silent(text, "filters\n");
	assert_silent(text, "landlock\n");
	free(text);
	sandbox_plan_free(plan);
}

static void hostile_paths_stay_in_their_lines(void **state)
{
	struct fixture *f = *state;
	char *hostile = mem_printf("%s/a\n  write  %%s\x1b[2K\xe2\x80\xae\xc2\x9b\xff\\", f->work);
	const char *deny[] = { hostile };
	struct sandbox_plan *plan;
	char *text, *tree;

	assert_int_equal(mkdir(hostile, 0755), 0);
	f->options.deny = deny;
	f->options.deny_count = 1;
	plan = plan_of(f);
	text = text_of(plan, &f->probe);
	tree = tree_of(plan, &f->probe);
	assert_says(text, "tree/a\\x0a  write  %s\\x1b[2K\\u{202e}\\u{9b}\\xff\\x5c");
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
	/* As data the path is what it is. */
	assert_says(tree, hostile);
	free(text);
	free(tree);
	free(hostile);
	sandbox_plan_free(plan);
}

static void a_machine_is_told_with_what_would_change_it(void **state)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT(1 << 20);
	struct record record;
	const struct reporter reporter = recording(&record);

	f->probe.best = SANDBOX_LANDLOCK;
	f->probe.user_namespaces = false;
	snprintf(f->probe.why_not_full, sizeof(f->probe.why_not_full), "for this reason");
	snprintf(f->probe.remedy, sizeof(f->probe.remedy), "sudo something");
	explain_status(&f->probe, f->probe.best, &reporter);
	assert_int_equal(record.depth, 0);
	assert_says(record.text.data, "/level=landlock\n");
	assert_says(record.text.data, "/levels/0/level=full\n");
	assert_says(record.text.data, "/levels/0/available=false\n");
	assert_says(record.text.data, "/levels/0/why=for this reason\n");
	assert_says(record.text.data, "/levels/0/remedy=sudo something\n");
	assert_says(record.text.data, "/levels/1/available=true\n");
	assert_says(record.text.data, "/levels/2/available=true\n");
	assert_says(record.text.data, "/facts/landlock_abi=7\n");
	explain_status_text(&f->probe, f->probe.best, &text);
	assert_says(text.data, "for this reason  sudo something\n");
	buf_release(&text);
	buf_release(&record.text);

	/* The real one, whatever it is. */
	explain_status_text(sandbox_probe(), sandbox_probe()->best, &text);
	assert_says(text.data, sandbox_level_name(sandbox_probe()->best));
	assert_says(text.data, sandbox_probe()->kernel);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)
		TEST(a_plan_is_told_whole),
		TEST(what_is_weaker_is_said),
		TEST(hostile_paths_stay_in_their_lines),
		TEST(a_machine_is_told_with_what_would_change_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
