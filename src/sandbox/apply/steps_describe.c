/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in words. */
#include <sys/mount.h>

#include "base/mem.h"
#include "sandbox/apply/steps.h"

static const char *const op_names[STEP_OP_COUNT] = {
	[STEP_PRIVATE] = "private", [STEP_TAKE] = "take",       [STEP_MAKE] = "make",
	[STEP_PART] = "part",       [STEP_FOLDER] = "folder",   [STEP_FILE] = "file",
	[STEP_LINK] = "link",       [STEP_PLACE] = "place",     [STEP_SET] = "set",
	[STEP_SET_ALL] = "set-all", [STEP_PUT] = "put",
};

static const struct {
	uint64_t bit;
	const char *name;
} attributes[] = {
	{ MOUNT_ATTR_RDONLY, "read-only" },
	{ MOUNT_ATTR_NOSUID, "nosuid" },
	{ MOUNT_ATTR_NODEV, "nodev" },
	{ MOUNT_ATTR_NOEXEC, "noexec" },
};

const char *step_op_name(enum step_op op)
{
	return (unsigned)op < STEP_OP_COUNT ? op_names[op] : "unknown";
}

void step_describe(const struct steps *steps, size_t at, struct buf *out)
{
	const struct step *step = &steps->steps[at];

	buf_str(out, step_op_name(step->op));
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
	for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
		if (step->set & attributes[i].bit)
			buf_printf(out, " %s", attributes[i].name);
	}
	if (step->optional)
		buf_str(out, " (if it can be had)");
}
