/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's rules as steps: what must be taken, and where it is put.
 *
 * Rules come sorted, so a stack of the rules above the present one says what its place looks like
 * before it: `real` (the machine's own files, readable or writable), or `bare` (a file system
 * of ours, in which mount points must be made). */
#include "sandbox/apply/steps.h"

#include <string.h>
#include <sys/mount.h>

#include "base/mem.h"

/* ---- steps in words ---- */

static const char *const op_names[STEP_OP_COUNT] = {
	[STEP_PRIVATE] = "private", [STEP_TAKE] = "take",       [STEP_MAKE] = "make",
	[STEP_PART] = "part",       [STEP_FOLDER] = "folder",   [STEP_FILE] = "file",
	[STEP_LINK] = "link",       [STEP_PLACE] = "place",     [STEP_SET] = "set",
	[STEP_SET_ALL] = "set-all", [STEP_PUT] = "put",
};

static const struct {
	uint64_t bit;
	const char *name;
} attribute_names[] = {
	{ MOUNT_ATTR_RDONLY, "read-only" },
	{ MOUNT_ATTR_NOSUID, "nosuid" },
	{ MOUNT_ATTR_NODEV, "nodev" },
	{ MOUNT_ATTR_NOEXEC, "noexec" },
};

void step_describe(const struct steps *steps, size_t at, struct buf *out)
{
	const struct step *step = &steps->steps[at];

	buf_str(out, (unsigned)step->op < STEP_OP_COUNT ? op_names[step->op] : "unknown");
	if (step->slot >= 0)
		buf_printf(out, " #%d", step->slot);
	if (step->from >= 0)
		buf_printf(out, " of #%d", step->from);
	buf_printf(out, " %s", step->path);
	if (step->op == STEP_MAKE)
		buf_printf(out, ": %s %s", step->text, step->more);
	if (step->op == STEP_LINK)
		buf_printf(out, " -> %s", step->text);
	if (step->op == STEP_FOLDER || step->op == STEP_FILE)
		buf_printf(out, " mode %04o", step->mode);
	for (size_t i = 0; i < ARRAY_LEN(attribute_names); i++) {
		if (step->set & attribute_names[i].bit)
			buf_printf(out, " %s", attribute_names[i].name);
	}
	if (step->optional)
		buf_str(out, " (if it can be had)");
}

/* ---- what commands get instead of the machine's /dev and /proc ---- */

/* Devices are the machine's own, each put over an empty file. */
static const struct {
	const char *path, *name;
} devices[] = {
	{ "/dev/null", "null" },     { "/dev/zero", "zero" },       { "/dev/full", "full" },
	{ "/dev/random", "random" }, { "/dev/urandom", "urandom" }, { "/dev/tty", "tty" },
};

static const struct {
	const char *name, *target;
} links[] = {
	{ "fd", "/proc/self/fd" },         { "stdin", "/proc/self/fd/0" },
	{ "stdout", "/proc/self/fd/1" },   { "stderr", "/proc/self/fd/2" },
	{ "ptmx", "pts/ptmx" },
};

static struct step *steps_add(struct steps *steps, enum step_op op, int slot, const char *path);

static int add_file_system(struct steps *steps, const char *path, const char *type,
                           const char *options,
                           uint64_t set)
{
	int slot = steps->slots++;
	struct step *step = steps_add(steps, STEP_MAKE, slot, path);

	step->text = type;
	step->more = options;
	step->set = set;
	step->reason = SANDBOX_REASON_DEVICE;
	return slot;
}

static void add_put(struct steps *puts, int slot, const char *path)
{
	steps_add(puts, STEP_PUT, slot, path)->reason = SANDBOX_REASON_DEVICE;
}

static const char *steps_text(struct steps *steps, char *owned);

/* The command's own /dev, and /dev/shm in it: mount points can still be made in both slots. */
static void steps_devices(struct steps *steps, struct steps *puts,
                          const struct sandbox_limits *limits, int *ret_dev, int *ret_shm)
{
	const char *shm_options = "mode=1777";
	int dev, pts, shm;

	/* Files there do not count as any process's memory: they get half of that limit. */
	if (limits->memory_bytes)
		shm_options = steps_text(steps, mem_printf("mode=1777,size=%llu",
		                         (unsigned long long)limits->memory_bytes / 2));
	dev = add_file_system(steps, "/dev", "tmpfs", "mode=0755,size=64k,nr_inodes=256", 0);
	steps_add(steps, STEP_FOLDER, dev, "pts")->mode = 0755;
	steps_add(steps, STEP_FOLDER, dev, "shm")->mode = 0755;
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		steps_add(steps, STEP_LINK, dev, links[i].name)->text = links[i].target;
	steps_add(puts, STEP_SET, dev, "/dev")->set =
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
	add_put(puts, dev, "/dev");
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		int slot = steps->slots++;

		steps_add(steps, STEP_FILE, dev, devices[i].name)->mode = 0;
		steps_add(steps, STEP_TAKE, slot, devices[i].path)->optional = true;
		steps_add(steps, STEP_SET, slot, devices[i].path)->set =
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
		steps_add(puts, STEP_PUT, slot, devices[i].path)->reason = SANDBOX_REASON_DEVICE;
	}
	pts = add_file_system(steps, "/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620",
	                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	add_put(puts, pts, "/dev/pts");
	shm = add_file_system(steps, "/dev/shm", "tmpfs", shm_options,
	                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	add_put(puts, shm, "/dev/shm");
	*ret_dev = dev;
	*ret_shm = shm;
}

/* The command's own /proc, where the kernel allows it; `needed`: without it nothing is started. */
static void steps_proc(struct steps *steps, struct steps *puts, bool needed)
{
	/* Read-only: much of /proc/sys asks only who one is, and root outside is root inside. */
	int slot = add_file_system(steps, "/proc", "proc", "",
	                           MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
	                           MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);

	/* A container that hides parts of its /proc does not get another: then Landlock alone keeps
	 * commands from looking into the machine's processes. */
	steps->steps[steps->count - 1].optional = !needed;
	add_put(puts, slot, "/proc");
}

/* ---- a plan's rules ---- */

#define EVERYWHERE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Adds a step to fill in further; valid until the next is added. */
static struct step *steps_add(struct steps *steps, enum step_op op, int slot, const char *path)
{
	struct step *step;

	if (steps->count == steps->cap)
		steps->steps = mem_grow(steps->steps, &steps->cap, steps->count + 1,
		                        sizeof(*steps->steps));
	step = &steps->steps[steps->count++];
	*step = (struct step){ .op = op, .slot = slot, .from = -1, .path = path };
	return step;
}

/* Takes over a text that steps point to. */
static const char *steps_text(struct steps *steps, char *owned)
{
	if (steps->text_count == steps->text_cap)
		steps->texts = mem_grow(steps->texts, &steps->text_cap, steps->text_count + 1,
		                        sizeof(*steps->texts));
	steps->texts[steps->text_count++] = owned;
	return owned;
}

void steps_release(struct steps *steps)
{
	for (size_t i = 0; i < steps->text_count; i++)
		free(steps->texts[i]);
	free(steps->texts);
	free(steps->steps);
	free(steps->start);
	*steps = (struct steps){ 0 };
}

/* Whether `path` is beneath `folder` and not the same. */
static bool steps_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (strcmp(folder, "/") == 0)
		return path[0] == '/' && path[1] != '\0';
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* As strcmp, but a folder's contents come right after it: "/a", "/a/b", "/a-b". */
static int compare_tree_order(const char *a, const char *b)
{
	unsigned char left, right;

	while (*a && *a == *b)
		a++, b++;
	left = *a == '/' ? 1 : (unsigned char)*a;
	right = *b == '/' ? 1 : (unsigned char)*b;
	return left - right;
}

static int by_place(const void *a, const void *b)
{
	return compare_tree_order((*(const struct sandbox_rule *const *)a)->path,
	                          (*(const struct sandbox_rule *const *)b)->path);
}

/* The part of `path` below `folder`, which is above it. */
static const char *path_below(const char *path, const char *folder)
{
	return path + (strcmp(folder, "/") == 0 ? 1 : strlen(folder) + 1);
}

/* What lies at a place before a rule has its say. */
struct ground {
	const char *path;
	enum sandbox_access access;
	int bare;       /* the slot of our own file system that covers it; -1: real files */
	bool own_temp;  /* that is the session's folder, where commands may have made anything */
};

struct maker {
	const struct sandbox_plan *plan;
	const struct sandbox_rule **rules; /* in their order */
	struct steps *steps;
	struct steps puts;       /* what comes after everything is read-only */
	struct ground *stack;
	size_t depth;
	int empty;               /* slot with an empty folder and an empty file; -1: not made yet */
};

static const struct ground *ground_of(struct maker *maker, const char *path)
{
	while (maker->depth > 1 && !steps_beneath(path, maker->stack[maker->depth - 1].path))
		maker->depth--;
	return &maker->stack[maker->depth - 1];
}

static void push_rule(struct maker *maker, struct ground ground)
{
	maker->stack[maker->depth++] = ground;
}

static int new_slot(struct maker *maker)
{
	return maker->steps->slots++;
}

/* Takes the tree at `path` and, later, puts it there. */
static void take_and_put(struct maker *maker, const struct sandbox_rule *rule, const char *path,
                         uint64_t set)
{
	int slot = new_slot(maker);

	steps_add(maker->steps, STEP_TAKE, slot, path)->reason = rule->reason;
	steps_add(maker->steps, STEP_SET, slot, path)->set = set;
	steps_add(&maker->puts, STEP_PUT, slot, path)->reason = rule->reason;
}

static uint64_t attributes(const struct sandbox_rule *rule)
{
	if (rule->access == SANDBOX_READ)
		return EVERYWHERE | MOUNT_ATTR_RDONLY;
	/* A device that the user allowed by name. */
	if (steps_beneath(rule->path, "/dev"))
		return MOUNT_ATTR_NOSUID;
	return EVERYWHERE;
}

static void make_empty(struct maker *maker)
{
	struct steps *steps = maker->steps;
	struct step *made;

	if (maker->empty >= 0)
		return;
	maker->empty = new_slot(maker);
	made = steps_add(steps, STEP_MAKE, maker->empty, "/");
	made->text = "tmpfs";
	made->more = "mode=0755,size=64k,nr_inodes=8";
	steps_add(steps, STEP_FOLDER, maker->empty, "folder")->mode = 0;
	steps_add(steps, STEP_FILE, maker->empty, "file")->mode = 0;
	steps_add(steps, STEP_SET, maker->empty, "/")->set =
		EVERYWHERE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
}

static void cover(struct maker *maker, const struct sandbox_rule *rule)
{
	int slot = new_slot(maker);

	make_empty(maker);
	steps_add(maker->steps, STEP_PART, slot, rule->folder ? "folder" : "file")->from =
		maker->empty;
	steps_add(&maker->puts, STEP_PUT, slot, rule->path)->reason = rule->reason;
}

/* The mount point of `rule` in a file system that covers `ground`. */
static void add_point(struct maker *maker, const struct ground *ground,
                      const struct sandbox_rule *rule)
{
	const char *rest = path_below(rule->path, ground->path);

	if (ground->own_temp) {
		steps_add(maker->steps, STEP_PLACE, ground->bare, rest)->mode =
			rule->folder ? 0755 : 0;
		return;
	}
	for (const char *slash = strchr(rest, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *above = steps_text(maker->steps, mem_dup(rest, (size_t)(slash - rest)));

		steps_add(maker->steps, STEP_FOLDER, ground->bare, above)->mode = 0111;
	}
	steps_add(maker->steps, rule->folder ? STEP_FOLDER : STEP_FILE, ground->bare, rest)->mode =
		0111;
}

/* Whether something beneath the hidden folder `at` must stay visible. */
static bool has_exceptions(const struct maker *maker, size_t at)
{
	for (size_t i = at + 1; i < maker->plan->rule_count; i++) {
		if (!steps_beneath(maker->rules[i]->path, maker->rules[at]->path))
			return false;
		if (maker->rules[i]->access != SANDBOX_HIDDEN)
			return true;
	}
	return false;
}

static void hide_rule(struct maker *maker, size_t at, const struct ground *ground)
{
	const struct sandbox_rule *rule = maker->rules[at];
	struct step *made;
	int slot;

	if (ground->bare >= 0) /* nothing is there; exceptions find their way through that ground */
		return;
	if (!rule->folder || !has_exceptions(maker, at)) {
		cover(maker, rule);
		return;
	}
	slot = new_slot(maker);
	made = steps_add(maker->steps, STEP_MAKE, slot, rule->path);
	made->text = "tmpfs";
	made->more = "mode=0111,size=1m,nr_inodes=16384";
	made->reason = rule->reason;
	steps_add(&maker->puts, STEP_SET, slot, rule->path)->set =
		EVERYWHERE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY;
	steps_add(&maker->puts, STEP_PUT, slot, rule->path)->reason = rule->reason;
	push_rule(maker, (struct ground){ .path = rule->path, .access = SANDBOX_HIDDEN,
	                                  .bare = slot });
}

static void show_rule(struct maker *maker, const struct sandbox_rule *rule,
                      const struct ground *ground)
{
	if (rule->access == SANDBOX_READ && ground->bare < 0 && ground->access == SANDBOX_READ)
		return;
	if (ground->bare >= 0)
		add_point(maker, ground, rule);
	take_and_put(maker, rule, rule->path, attributes(rule));
	push_rule(maker, (struct ground){ .path = rule->path, .access = rule->access, .bare = -1 });
}

/* The rule for exactly this path, or NULL. */
static const struct sandbox_rule *rule_for_path(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		if (strcmp(plan->rules[i].path, path) == 0)
			return &plan->rules[i];
	}
	return NULL;
}

static bool writes_everything(const struct sandbox_plan *plan)
{
	const struct sandbox_rule *rule = rule_for_path(plan, "/");

	return rule && rule->access == SANDBOX_WRITE;
}

static bool own_temp(const struct sandbox_plan *plan)
{
	const struct sandbox_rule *rule = rule_for_path(plan, "/tmp");

	return plan->level == SANDBOX_FULL && plan->use == SANDBOX_USE_COMMAND && plan->temp &&
	       strcmp(plan->temp, "/tmp") != 0 && !steps_beneath("/tmp", plan->temp) &&
	       !writes_everything(plan) && (!rule || rule->access == SANDBOX_HIDDEN);
}

/* The usual place: directly in /tmp. */
static bool temp_is_in_tmp(const struct sandbox_plan *plan)
{
	return own_temp(plan) && steps_beneath(plan->temp, "/tmp") &&
	       !strchr(path_below(plan->temp, "/tmp"), '/');
}

/* Commands have their own devices (steps_devices), the kernel's /proc, and a symlink to the
 * session's folder. */
static bool rule_is_left_out(const struct sandbox_plan *plan, const struct sandbox_rule *rule)
{
	return plan->use == SANDBOX_USE_COMMAND &&
	       (rule->reason == SANDBOX_REASON_DEVICE || strcmp(rule->path, "/proc") == 0 ||
	        steps_beneath(rule->path, "/proc") ||
	        (temp_is_in_tmp(plan) && strcmp(rule->path, plan->temp) == 0));
}

static void add_rules_before(struct maker *maker, size_t *next, const char *before)
{
	for (; *next < maker->plan->rule_count; (*next)++) {
		const struct sandbox_rule *rule = maker->rules[*next];
		const struct ground *ground;

		if (before && compare_tree_order(rule->path, before) > 0)
			return;
		if (rule_is_left_out(maker->plan, rule) || strcmp(rule->path, "/") == 0)
			continue;
		ground = ground_of(maker, rule->path);
		if (rule->access == SANDBOX_HIDDEN)
			hide_rule(maker, *next, ground);
		else
			show_rule(maker, rule, ground);
	}
}

const char *sandbox_temp_seen(const struct sandbox_plan *plan)
{
	return own_temp(plan) ? "/tmp" : plan->temp;
}

static void add_temp(struct maker *maker)
{
	int slot = new_slot(maker);

	steps_add(maker->steps, STEP_TAKE, slot, maker->plan->temp)->reason = SANDBOX_REASON_TEMP;
	steps_add(maker->steps, STEP_SET, slot, maker->plan->temp)->set = EVERYWHERE;
	steps_add(&maker->puts, STEP_PUT, slot, "/tmp")->reason = SANDBOX_REASON_TEMP;
	/* Its own path leads there too. */
	if (temp_is_in_tmp(maker->plan))
		steps_add(maker->steps, STEP_LINK, slot,
		          path_below(maker->plan->temp, "/tmp"))->text = ".";
	push_rule(maker, (struct ground){ .path = "/tmp", .access = SANDBOX_WRITE, .bare = slot,
	                                  .own_temp = true });
}

/* And the rules for what is in it: a workspace may be in /dev/shm. */
static void add_device_folder(struct maker *maker, size_t *next)
{
	int dev, shm;

	steps_devices(maker->steps, &maker->puts, &maker->plan->limits, &dev, &shm);
	push_rule(maker, (struct ground){ .path = "/dev", .access = SANDBOX_HIDDEN, .bare = dev });
	add_rules_before(maker, next, "/dev/shm");
	ground_of(maker, "/dev/shm");
	push_rule(maker, (struct ground){ .path = "/dev/shm", .access = SANDBOX_WRITE,
	                                  .bare = shm });
}

/* The system's places and the rules, all in the order of paths. */
static void add_all_steps(struct maker *maker)
{
	const struct sandbox_plan *plan = maker->plan;
	size_t next = 0;

	if (plan->use == SANDBOX_USE_COMMAND) {
		add_rules_before(maker, &next, "/dev");
		ground_of(maker, "/dev");
		add_device_folder(maker, &next);
		add_rules_before(maker, &next, "/proc");
		if (plan->own_processes)
			steps_proc(maker->steps, &maker->puts, !plan->landlock_abi);
	}
	if (own_temp(plan)) {
		add_rules_before(maker, &next, "/tmp");
		ground_of(maker, "/tmp");
		add_temp(maker);
	}
	add_rules_before(maker, &next, NULL);
}

void steps_make(const struct sandbox_plan *plan, struct steps *ret)
{
	struct maker maker = { .plan = plan, .steps = ret, .empty = -1 };
	uint64_t all = EVERYWHERE | (writes_everything(plan) ? 0 : MOUNT_ATTR_RDONLY);

	*ret = (struct steps){ 0 };
	maker.stack = mem_alloc(plan->rule_count + 4, sizeof(*maker.stack));
	maker.rules = mem_alloc(plan->rule_count + 1, sizeof(const struct sandbox_rule *));
	for (size_t i = 0; i < plan->rule_count; i++)
		maker.rules[i] = &plan->rules[i];
	qsort(maker.rules, plan->rule_count, sizeof(const struct sandbox_rule *), by_place);
	push_rule(&maker, (struct ground){
		.path = "/", .bare = -1,
		.access = writes_everything(plan) ? SANDBOX_WRITE : SANDBOX_READ,
	});
	ret->start = mem_strdup(plan->root_count > 0 ? plan->roots[0] : "/");
	steps_add(ret, STEP_PRIVATE, -1, "/");
	add_all_steps(&maker);
	steps_add(ret, STEP_SET_ALL, -1, "/")->set = all;
	for (size_t i = 0; i < maker.puts.count; i++)
		*steps_add(ret, STEP_PUT, -1, "/") = maker.puts.steps[i];
	steps_release(&maker.puts);
	free(maker.rules);
	free(maker.stack);
}
