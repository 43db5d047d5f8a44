/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of names.h, a row a line, for tests: table, path, access, flags, kind, source and
 * why, with tabs between. */
#include <stdio.h>

#include "sandbox/plan/names.h"
#include "sandbox/report/report.h"

static void print_table(const char *table, struct sandbox_names names)
{
	for (size_t i = 0; i < names.count; i++) {
		const struct sandbox_name *row = &names.rows[i];

		printf("%s\t%s\t%s\t%s%s%s%s\t%s\t%s\t%s\n", table, row->path,
		       explain_access(row->access), row->flags & NAME_DEEP ? "deep " : "",
		       row->flags & NAME_ASK ? "ask " : "", row->flags & NAME_OPEN ? "open " : "",
		       row->flags & NAME_IN_WRITABLE_HOME ? "startup " : "",
		       row->kind ? row->kind : "", row->source ? row->source : "",
		       row->why ? row->why : "");
	}
}

int main(void)
{
	size_t count;
	const struct sandbox_mover *movers = names_movers(&count);
	const struct sandbox_variable *variables;

	print_table("workspace", names_workspace());
	print_table("git", names_git());
	print_table("git_worktree", names_git_worktree());
	print_table("home", names_home());
	print_table("own", names_own());
	print_table("system", names_system());
	print_table("devices", names_devices());
	print_table("macos", names_macos());
	for (size_t i = 0; i < count; i++)
		printf("mover\t%s\t%s\t\tvariable\t%s\tmoves it\n", movers[i].variable,
		       movers[i].folder, movers[i].source);
	variables = names_variables(&count);
	for (size_t i = 0; i < count; i++)
		printf("variable\t%s\t%c\t\tvariable\t%s\tnames it\n", variables[i].variable,
		       variables[i].separator ? variables[i].separator : ' ',
		       variables[i].source);
	return 0;
}
