/* SPDX-License-Identifier: Apache-2.0 */
/* The rule for a folder of plans in the project: the default one's counterpart. */
#include <string.h>

#include "base/limits.h"
#include "data/json.h"
#include "policy/load.h"

/* As an expression finds it in arguments, which are JSON. */
static void put_literal(struct buf *out, struct span text)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(8 * LIMIT_PATH_BYTES);

	json_print_string(&quoted, text);
	for (size_t i = 1; i + 1 < quoted.len; i++) {
		if (strchr("\\^$.|?*+()[]{}/", quoted.data[i]))
			buf_char(out, '\\');
		buf_char(out, quoted.data[i]);
	}
}

void policy_add_plans(struct policy *policy, const char *project, const char *folder)
{
	struct loader loader = { .policy = policy, .tier = POLICY_DEFAULT,
		                 .file = "settings: general.plan.directory", .lazy = true };
	_cleanup_buf_ struct buf pattern = BUF_INIT(64 * LIMIT_PATH_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(128 * LIMIT_PATH_BYTES);
	size_t len = strlen(project);

	if (strncmp(folder, project, len) != 0 || folder[len] != '/')
		return;
	buf_str(&pattern, "\\x00\"file_path\":\"(?:");
	put_literal(&pattern, span_str(project));
	buf_str(&pattern, "\\/|\\.\\/|)");
	put_literal(&pattern, span_str(folder + len + 1));
	buf_str(&pattern, "\\/[\\w-]+\\.md\"\\x00");
	buf_str(&text, "[[rule]]\ntoolName = [\"write_file\", \"replace\"]\ndecision = \"allow\"\n"
	               "priority = 70\nmodes = [\"plan\"]\nargsPattern = ");
	json_print_string(&text, buf_view(&pattern));
	buf_char(&text, '\n');
	if (!pattern.overflowed && !text.overflowed)
		load_text(&loader, buf_view(&text));
}
