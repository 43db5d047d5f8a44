/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about git: repositories that git made, and files that somebody forged. */
#include "plan_fixture.h"

#include <sys/wait.h>
#include <time.h>

static void git_stays_writable_but_for_what_it_runs(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $W; mkdir -p $W/.git/hooks; rm -rf $W/.git/info");
	plan = plan_of(f);
	assert_rule(plan, f->work, SANDBOX_WRITE, SANDBOX_REASON_ROOT);
	/* Bound over itself, so that it cannot be renamed (row 98). */
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/.git/commondir"));
	assert_absent(plan, in(f, "tree/.git/config.worktree"));
	assert_absent(plan, in(f, "tree/.git/info/attributes"));
	assert_true(may(plan, in(f, "tree/.git/index.lock"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/.git/objects/ab"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "tree/.git/hooks/pre-commit"), SANDBOX_WRITE));
	/* Content that belongs to commits is not protected. */
	assert_true(may(plan, in(f, "tree/.gitattributes"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/.gitmodules"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/.github/workflows/ci.yml"), SANDBOX_WRITE));
	sandbox_plan_free(plan);

	/* A folder between .git and something protected keeps its name too. */
	shell(f, "mkdir -p $W/.git/info; echo '* x' >$W/.git/info/attributes");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git/info/attributes"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/info"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
}

static void hooks_in_the_tree_are_protected(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $W; mkdir -p $W/ci/hooks; git -C $W config core.hooksPath ci/hooks");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/ci/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/ci"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
	shell(f, "rm -r $W/ci");
	plan = plan_of(f);
	assert_absent(plan, in(f, "tree/ci/hooks"));
	sandbox_plan_free(plan);
	/* What would make the whole tree read-only is not taken at its word. */
	shell(f, "git -C $W config core.hooksPath .");
	plan = plan_of(f);
	assert_rule(plan, f->work, SANDBOX_WRITE, SANDBOX_REASON_ROOT);
	sandbox_plan_free(plan);
}

static void no_repository_can_be_made_of_a_root(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan = plan_of(f);

	/* git init: what a command leaves there is the guard's business. */
	assert_not_absent(plan, in(f, "tree/.git"));
	assert_absent(plan, in(f, "tree/HEAD"));
	sandbox_plan_free(plan);
	f->options.use = SANDBOX_USE_FILES;
	plan = plan_of(f);
	assert_absent(plan, in(f, "tree/.git"));
	sandbox_plan_free(plan);
	f->options.use = SANDBOX_USE_COMMAND;

	shell(f, "git init --bare $W");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/commondir"));
	sandbox_plan_free(plan);
}

static void projects_one_level_down_are_protected_where_the_root_is_none(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $W/a; git init $W/b; mkdir $W/c");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/a/.git/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/b/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_not_absent(plan, in(f, "tree/c/.git"));
	sandbox_plan_free(plan);
	/* Inside a repository another one is something fetched, which can be removed again. */
	shell(f, "git init $W");
	plan = plan_of(f);
	assert_no_rule(plan, in(f, "tree/a/.git/config"));
	sandbox_plan_free(plan);
}

static void submodules_are_protected(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $O/lib; git -C $O/lib commit --allow-empty -m x; git init $W; "
	         "git -C $W submodule add $O/lib deep/lib");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git/modules/deep/lib"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/modules/deep/lib/config"), SANDBOX_READ,
	            SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/modules/deep"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/modules"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/deep/lib/.git"));
	assert_absent(plan, in(f, "tree/.git/modules/deep/lib/commondir"));
	sandbox_plan_free(plan);

	shell(f, "cd $W/.git/modules; mkdir $(seq 140); for i in $(seq 140); do : >$i/HEAD; done");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git/modules"), SANDBOX_READ, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
}

static void worktrees_checked_out_elsewhere_are_protected(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $W; git -C $W commit --allow-empty -m x; git -C $W worktree add $O/far; "
	         "git -C $W worktree add $W/near");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git/worktrees/far/commondir"), SANDBOX_READ,
	            SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/.git/worktrees/far/gitdir"), SANDBOX_READ,
	            SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/.git/worktrees/far/config.worktree"));
	assert_rule(plan, in(f, "tree/.git/worktrees"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	/* git worktree remove has to work. */
	assert_no_rule(plan, in(f, "tree/.git/worktrees/near/commondir"));
	sandbox_plan_free(plan);
}

static void a_worktree_may_write_to_the_repository_that_knows_it(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "rmdir $W; git init $O/main; git -C $O/main commit --allow-empty -m x; "
	         "git -C $O/main worktree add $W");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_true(may(plan, in(f, "out/main/.git/objects/ab"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "out/main/.git/worktrees/tree/index.lock"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "out/main/.git/config"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "out/main/.git/hooks/pre-commit"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "out/main/.git/worktrees/tree/commondir"), SANDBOX_WRITE));
	assert_absent(plan, in(f, "out/main/.git/commondir"));
	assert_absent(plan, in(f, "out/main/.git/worktrees/tree/config.worktree"));
	assert_false(may(plan, in(f, "out/main/file"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
}

static void a_forged_git_file_opens_nothing(void **state)
{
	static const char *const forgeries[] = {
		/* A repository that has never heard of this folder. */
		"echo gitdir: $O/main/.git >$W/.git",
		/* One of its worktrees, which is checked out somewhere else. */
		"echo gitdir: $O/main/.git/worktrees/far >$W/.git",
		/* A git folder of the attacker's that calls another one its common folder. */
		"mkdir $W/g; echo $W/.git >$W/g/gitdir; echo $O/main/.git >$W/g/commondir; "
		"echo gitdir: $W/g >$W/.git",
		/* The same a level down, named like a worktree. */
		"mkdir -p $W/worktrees/g; echo $W/.git >$W/worktrees/g/gitdir; "
		"echo $O/main/.git >$W/worktrees/g/commondir; echo gitdir: $W/worktrees/g >$W/.git",
		/* A symlink. */
		"ln -s $O/main/.git $W/.git",
		/* What is no pointer. */
		"mkfifo $W/.git", "ln -s /dev/zero $W/.git", "echo gitdir: >$W/.git",
		"head -c 10000 /dev/zero >$W/.git",
	};
	struct fixture *f = *state;

	shell(f, "git init $O/main; git -C $O/main commit --allow-empty -m x; "
	         "git -C $O/main worktree add $O/far");
	for (size_t i = 0; i < ARRAY_LEN(forgeries); i++) {
		struct sandbox_plan *plan;

		shell(f, "rm -rf $W; mkdir $W; %s", forgeries[i]);
		plan = plan_of(f);
		assert_false(may(plan, in(f, "out/main/.git/objects"), SANDBOX_WRITE));
		assert_false(may(plan, in(f, "out/main/.git/config"), SANDBOX_WRITE));
		assert_false(may(plan, in(f, "tree/.git"), SANDBOX_WRITE));
		sandbox_plan_free(plan);
	}
}

static void a_git_file_within_the_root_protects_what_it_points_to(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "rmdir $W; git init --separate-git-dir $O/g $W; mv $O/g $W/g; "
	         "echo gitdir: g >$W/.git");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/g"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/g/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/g/commondir"));
	sandbox_plan_free(plan);
}

/* What the plan has of a file; NULL also if it was not asked for.  A configuration is
 * asked for two things. */
static const char *said(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->pointer_count; i++)
		if (plan->pointers[i].value && strcmp(plan->pointers[i].path, path) == 0)
			return plan->pointers[i].value;
	return NULL;
}

/* What a plan assumes is looked at by whoever is confined by it. */
static void what_is_assumed_holds_or_not(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *assumed, *read, *again;

	shell(f, "git init $W; mkdir -p $W/ci/hooks; git -C $W worktree list");
	f->options.assume = true;
	assumed = plan_of(f);
	assert_null(said(assumed, in(f, "tree/.git/config")));
	assert_true(sandbox_plan_holds(assumed));
	shell(f, "git -C $W config core.hooksPath ci/hooks");
	assert_false(sandbox_plan_holds(assumed));
	assert_no_rule(assumed, in(f, "tree/ci/hooks"));

	f->options.assume = false;
	read = plan_of(f);
	assert_true(sandbox_plan_holds(read));
	assert_rule(read, in(f, "tree/ci/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);

	/* Assuming what was read comes to the same, without reading. */
	f->options.assume = true;
	f->options.known = read->pointers;
	f->options.known_count = read->pointer_count;
	again = plan_of(f);
	assert_true(sandbox_plan_holds(again));
	assert_rule(again, in(f, "tree/ci/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);
	shell(f, "git -C $W config --unset core.hooksPath");
	assert_false(sandbox_plan_holds(again));
	sandbox_plan_free(again);
	sandbox_plan_free(read);
	sandbox_plan_free(assumed);
}

/* Neither what is not a regular file, nor what is too long, nor what never ends is waited for. */
static void hostile_pointers_are_nothing(void **state)
{
	struct fixture *f = *state;

	shell(f, "git init $W; cd $W/.git; rm config; mkfifo config");
	sandbox_plan_free(plan_of(f));
	shell(f, "cd $W/.git; rm config; ln -s /dev/zero config");
	sandbox_plan_free(plan_of(f));
	shell(f, "cd $W/.git; rm config; head -c 100000 /dev/zero > config");
	sandbox_plan_free(plan_of(f));
	shell(f, "cd $W/.git; (printf 'hooksPath = '; head -c 5000 /dev/zero | tr '\\0' a) > config");
	sandbox_plan_free(plan_of(f));
	shell(f, "cd $W/.git; printf '[core]\\nhooksPath =\\nHOOKSPATH=\\tci/hooks\\r\\n[\\0' > config");
	f->options.assume = false;
	{
		struct sandbox_plan *plan = plan_of(f);

		assert_non_null(strstr(said(plan, in(f, "tree/.git/config")), " ci/hooks\n!\n"));
		assert_absent(plan, in(f, "tree/ci/hooks"));
		assert_true(sandbox_plan_holds(plan));
		sandbox_plan_free(plan);
	}
	/* None of the processes that read is left. */
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

/* Relative words begin where git runs commands, in each worktree. */
static void relative_words_begin_at_each_top(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $O/lib; git -C $O/lib commit --allow-empty -m x; git init $W; cd $W; "
	         "git commit --allow-empty -m x; git worktree add $W/near; mkdir near/tools; "
	         "touch near/tools/clean.sh; git config filter.f.clean ./tools/clean.sh; "
	         "git config core.hooksPath .hooks; git submodule add $O/lib sm; "
	         "git mv sm moved; git -C moved config filter.f.clean ./tools/clean.sh");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/near/tools/clean.sh"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/near/.hooks"));
	assert_absent(plan, in(f, "tree/.hooks"));
	assert_false(may(plan, in(f, "tree/moved/tools/clean.sh"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/moved/tools/other.sh"), SANDBOX_WRITE));
	assert_absent(plan, in(f, "tree/moved/.git"));
	sandbox_plan_free(plan);

	shell(f, "cd $W; git config extensions.worktreeConfig true; "
	         "git -C near config --worktree filter.g.clean ./own/g");
	plan = plan_of(f);
	assert_false(may(plan, in(f, "tree/near/own/g"), SANDBOX_WRITE));
	sandbox_plan_free(plan);

	shell(f, "rm -rf $W; mkdir -p $W/sub; git init $W; cd $W; git config core.worktree ../sub; "
	         "git config filter.f.clean ./tools/clean.sh");
	plan = plan_of(f);
	assert_false(may(plan, in(f, "tree/sub/tools/clean.sh"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/sub/file"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
}

static void what_has_another_name_is_said(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;
	bool told = false;

	shell(f, "git init $W; cd $W; touch clean.sh; ln clean.sh other; "
	         "git config filter.f.clean ./clean.sh");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/clean.sh"), SANDBOX_READ, SANDBOX_REASON_GIT);
	for (size_t i = 0; i < plan->unjudged_count; i++)
		told |= strstr(plan->unjudged[i], "clean.sh\" has another name") != NULL;
	assert_true(told);
	sandbox_plan_free(plan);
}

static void parameters_of_git_count(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $W");
	setenv("GIT_CONFIG_PARAMETERS", "'core.hooksPath'='.hooks' 'core.attributesFile=it'\\''s' "
	       "'a.b' 'svn.authorsProg'='sh who'", 1);
	plan = plan_of(f);
	unsetenv("GIT_CONFIG_PARAMETERS");
	assert_absent(plan, in(f, "tree/.hooks"));
	assert_absent(plan, in(f, "tree/it's"));
	assert_absent(plan, in(f, "tree/who"));
	sandbox_plan_free(plan);
}

/* What a stranger's configuration costs has an end, and what was not looked at is said. */
static void a_configuration_cannot_make_plans_expensive(void **state)
{
	static const char *const bodies[] = {
		/* Look-ups: a long list of what is nowhere, whose ancestors all have to be asked for. */
		"for i in $(seq 10); do printf 'clean = '; printf '/a/b:%.0s' $(seq 800); echo; done",
		/* Words. */
		"for i in $(seq 6000); do echo \"clean = /usr/bin/env\"; done",
		/* Bytes: 62 times a quarter of a MiB. */
		("for i in $(seq 62); do head -c 250000 /dev/zero | tr '\\0' '\\n' >$W/c$i; "
		 "printf '[include]\npath = ../c%s\n' $i; done"),
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct sandbox_plan *plan;
		clock_t before;

		shell(f, "rm -rf $W/.git; git init $W; { echo '[filter \"f\"]'; %s; } >>$W/.git/config",
		      bodies[i]);
		plan = plan_of(f);
		assert_non_null(strstr(said(plan, in(f, "tree/.git/config")), "!\n"));
		assert_true(plan->unjudged_count > 0);
		/* The processor's time of the same work again, done in this process. */
		before = clock();
		assert_true(sandbox_plan_holds(plan));
		assert_true(clock() - before < 2 * CLOCKS_PER_SEC);
		sandbox_plan_free(plan);
	}
}

/* ---- work trees and what is seen of them ---- */

static struct sandbox_plan *plan_with_temp(struct fixture *f)
{
	shell(f, "mkdir -p temp");
	f->options.temp = in(f, "temp");
	return plan_of(f);
}

static void files_of_a_writable_repository_are_shown(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $O; mkdir -p $O/a; git -C $O commit --allow-empty -m x");
	f->root = in(f, "out/a");
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "out/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, f->out, SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	sandbox_plan_free(plan);
	/* Where nothing covers it, it is seen anyway. */
	f->probe.best = SANDBOX_LANDLOCK;
	plan = plan_of(f);
	assert_rule(plan, in(f, "out/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_no_rule(plan, f->out);
	sandbox_plan_free(plan);
	f->probe.best = SANDBOX_FULL;

	/* Linked worktrees elsewhere, and the main one of a linked one. */
	f->root = f->work;
	shell(f, "git -C $O worktree add $W/t; git -C $O worktree add $H/u");
	f->root = in(f, "tree/t");
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "out/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, f->out, SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	/* The home folder has a rule, which shows what is in it. */
	assert_rule(plan, f->home, SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	sandbox_plan_free(plan);
	f->root = f->out;
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "tree/t"), SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	sandbox_plan_free(plan);

	/* A command can write such a pointer: nothing is shown that does not say the same. */
	shell(f, "mkdir secret $O/.git/worktrees/x; echo 'gitdir: /nowhere' >secret/.git; "
	         "echo $PWD/secret/.git >$O/.git/worktrees/x/gitdir; rm -rf $O/.git/worktrees/t; "
	         "echo $PWD/secret >$O/.git/objects/info/alternates");
	plan = plan_with_temp(f);
	assert_no_rule(plan, in(f, "secret"));
	assert_rule(plan, in(f, "out/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
}

/* A part of a name is not a description. */
static void a_repository_that_is_named_is_found_behind_a_name_like_it(void **state)
{
	static const char *const trees[] = { "out/x", "out/.github/x", "out/.gitx/.gity" };
	static const char *const gits[] = { "out/x/.git", "out/.github/x/.git",
		                            "out/.gitx/.gity/.git" };
	struct fixture *f = *state;
	const char *write[1];

	f->options.write = write;
	f->options.write_count = 1;
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		const char *tree = in(f, trees[i]);
		struct sandbox_plan *plan;

		shell(f, "mkdir -p %s; git init %s", tree, tree);
		write[0] = in(f, gits[i]);
		plan = plan_with_temp(f);
		assert_rule(plan, tree, SANDBOX_READ, SANDBOX_REASON_DEFAULT);
		sandbox_plan_free(plan);
	}
}

static void borrowed_objects_are_shown(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "git init $O; git -C $O commit --allow-empty -m x; rm -r $W; git clone -s $O $W");
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "out/.git/objects"), SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	sandbox_plan_free(plan);
}

static void a_repository_is_read_only_whose_files_cannot_be_shown(void **state)
{
	struct fixture *f = *state;
	const char *deny = in(f, "tree/a/s"), *read = in(f, "tree/a/s/p");
	const char *named = in(f, "tree/.git");
	struct sandbox_plan *plan;
	struct denial denial;

	/* What lies over /tmp is in the middle of these files, and --write is no remedy. */
	shell(f, "git init $W; git -C $W config core.worktree /tmp");
	f->options.write = &named;
	f->options.write_count = 1;
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_READ, SANDBOX_REASON_VIEW);
	assert_false(plan_judge(plan, in(f, "tree/.git/index.lock"), SANDBOX_WRITE, false, &denial));
	assert_int_equal(denial.reason, SANDBOX_REASON_VIEW);
	assert_false(may(plan, in(f, "tree/.git/refs/heads/x"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
	f->options.write_count = 0;

	/* A folder that is hidden in part, however deep the repository is; other systems, too. */
	shell(f, "git -C $W config --unset core.worktree; mkdir -p $W/a/s/p $W/a/.jj");
	f->options.deny = &deny;
	f->options.read = &read;
	f->options.deny_count = 1;
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
	f->options.read_count = 1;
	plan = plan_with_temp(f);
	assert_rule(plan, in(f, "tree/.git"), SANDBOX_READ, SANDBOX_REASON_VIEW);
	assert_rule(plan, in(f, "tree/a/.jj"), SANDBOX_READ, SANDBOX_REASON_VIEW);
	assert_true(may(plan, in(f, "tree/a/x"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
}

static void what_the_tables_show_in_a_hidden_folder_is_hidden_in_a_repository(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "mkdir -p $H/.gemini/commands $H/.gemini/tmp; :>$H/.gemini/settings.json");
	f->root = f->home;
	plan = plan_of(f);
	assert_rule(plan, in(f, "home/.gemini/commands"), SANDBOX_READ, SANDBOX_REASON_OWN_SECRETS);
	sandbox_plan_free(plan);
	shell(f, "git init $H");
	plan = plan_of(f);
	assert_rule(plan, in(f, "home/.gemini"), SANDBOX_HIDDEN, SANDBOX_REASON_OWN_SECRETS);
	assert_no_rule(plan, in(f, "home/.gemini/commands"));
	assert_rule(plan, in(f, "home/.git"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	sandbox_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)
		TEST(git_stays_writable_but_for_what_it_runs),
		TEST(hooks_in_the_tree_are_protected),
		TEST(no_repository_can_be_made_of_a_root),
		TEST(projects_one_level_down_are_protected_where_the_root_is_none),
		TEST(submodules_are_protected),
		TEST(worktrees_checked_out_elsewhere_are_protected),
		TEST(a_worktree_may_write_to_the_repository_that_knows_it),
		TEST(a_forged_git_file_opens_nothing),
		TEST(a_git_file_within_the_root_protects_what_it_points_to),
		TEST(what_is_assumed_holds_or_not),
		TEST(hostile_pointers_are_nothing),
		TEST(relative_words_begin_at_each_top),
		TEST(what_has_another_name_is_said),
		TEST(parameters_of_git_count),
		TEST(a_configuration_cannot_make_plans_expensive),
		TEST(files_of_a_writable_repository_are_shown),
		TEST(a_repository_that_is_named_is_found_behind_a_name_like_it),
		TEST(borrowed_objects_are_shown),
		TEST(a_repository_is_read_only_whose_files_cannot_be_shown),
		TEST(what_the_tables_show_in_a_hidden_folder_is_hidden_in_a_repository),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
