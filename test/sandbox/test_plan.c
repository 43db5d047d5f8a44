/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about real trees: repositories made by git, symlinks, homes. */
#include "plan_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "sandbox/judge.h"
#include "sandbox/names.h"
#include "sandbox/spot.h"

static int setup(void **state)
{
	struct fixture *f = mem_alloc(1, sizeof(*f));

	fixture_open(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

static void assert_error(struct fixture *f, enum err_code code, const char *says)
{
	struct err err = ERR_INIT;
	struct sandbox_plan *plan;

	assert_false(sandbox_plan_make(&f->options, &f->probe, &plan, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.message, says))
		fail_msg("the message does not say \"%s\": %s", says, err.message);
}

static bool may(const struct sandbox_plan *plan, const char *path, enum sandbox_access access)
{
	return plan_judge(plan, path, access, false, NULL);
}

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

	assert_absent(plan, in(f, "tree/.git"));
	assert_absent(plan, in(f, "tree/HEAD"));
	sandbox_plan_free(plan);

	shell(f, "git init --bare $W");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/hooks"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/commondir"));
	assert_absent(plan, in(f, "tree/.git"));
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
	assert_rule(plan, in(f, "tree/deep/lib/.git"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/deep"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/.git/modules/deep/lib/commondir"));
	sandbox_plan_free(plan);

	shell(f, "for i in $(seq 140); do mkdir $W/.git/modules/$i; touch $W/.git/modules/$i/HEAD; "
	         "done");
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

static void symlinks_at_protected_names_are_listed_and_their_targets_protected(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f,
	      "git init $W; mv $W/.git $W/real; ln -s real $W/.git; ln -s $O $W/.claude; "
	      "mkdir $W/store; ln -s store $W/s; ln -s s $W/.vscode; ln -s nowhere/there $W/.idea; "
	      "mkdir $W/real/h2; rm -rf $W/real/hooks; ln -s h2 $W/real/hooks; "
	      "ln -s loop $W/.zed; ln -s .zed $W/loop");
	plan = plan_of(f);
	assert_absent(plan, in(f, "tree/.git"));
	assert_rule(plan, in(f, "tree/real"), SANDBOX_WRITE, SANDBOX_REASON_GIT);
	assert_rule(plan, in(f, "tree/real/config"), SANDBOX_READ, SANDBOX_REASON_GIT);
	assert_absent(plan, in(f, "tree/real/hooks"));
	assert_rule(plan, in(f, "tree/real/h2"), SANDBOX_READ, SANDBOX_REASON_GIT);
	/* Row 11: a symlink that leads outside opens nothing there. */
	assert_absent(plan, in(f, "tree/.claude"));
	assert_no_rule(plan, f->out);
	assert_false(may(plan, in(f, "out/x"), SANDBOX_WRITE));
	assert_absent(plan, in(f, "tree/.vscode"));
	assert_absent(plan, in(f, "tree/s"));
	assert_rule(plan, in(f, "tree/store"), SANDBOX_READ, SANDBOX_REASON_SETTINGS);
	assert_absent(plan, in(f, "tree/.idea"));
	assert_absent(plan, in(f, "tree/nowhere/there"));
	assert_absent(plan, in(f, "tree/.zed"));
	sandbox_plan_free(plan);
}

static void settings_are_read_only_or_must_not_come_to_be(void **state)
{
	struct fixture *f = *state;
	struct sandbox_names names = names_workspace();
	struct sandbox_plan *plan;

	shell(f, "mkdir $W/.vscode $W/.github; touch $W/.mcp.json $W/.github/hooks; "
	         "ln $W/.mcp.json $O/twin");
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/.vscode"), SANDBOX_READ, SANDBOX_REASON_SETTINGS);
	assert_rule(plan, in(f, "tree/.mcp.json"), SANDBOX_READ, SANDBOX_REASON_SETTINGS);
	assert_rule(plan, in(f, "tree/.github"), SANDBOX_WRITE, SANDBOX_REASON_SETTINGS);
	for (size_t i = 0; i < names.count; i++) {
		char path[128];

		assert_non_null(names.rows[i].why);
		snprintf(path, sizeof(path), "tree/%s", names.rows[i].path);
		assert_false(may(plan, in(f, path), SANDBOX_WRITE));
		assert_true(may(plan, in(f, path), SANDBOX_READ));
	}
	sandbox_plan_free(plan);
}

static void writing_by_name_lifts_a_protection(void **state)
{
	struct fixture *f = *state;
	const char *write[] = { in(f, "tree/.vscode"), in(f, "tree/.idea"),
		                in(f, "tree/.git/hooks"), in(f, "tree/gone") };
	struct sandbox_plan *plan;

	shell(f, "git init $W; mkdir -p $W/.vscode $W/.git/hooks");
	f->options.write = write;
	f->options.write_count = 3;
	plan = plan_of(f);
	assert_true(may(plan, in(f, "tree/.vscode/settings.json"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/.idea/x"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "tree/.git/hooks/pre-commit"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "tree/.git/config"), SANDBOX_WRITE));
	assert_false(may(plan, in(f, "tree/.zed/x"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
	write[0] = in(f, "elsewhere");
	assert_error(f, ERR_FILE_NOT_FOUND, "does not exist");
}

static void what_is_denied_wins(void **state)
{
	struct fixture *f = *state;
	const char *deny[] = { in(f, "tree/secret/"), in(f, "out//./"), in(f, "tree/not/yet"),
	                       in(f, "out/never"), in(f, "tree/l") };
	const char *write[] = { in(f, "out/open"), in(f, "tree/secret") };
	const char *read[] = { in(f, "tree/secret"), in(f, "out/open/../readable") };
	struct sandbox_plan *plan;

	shell(f, "mkdir -p $W/secret/in $O/open $O/readable $W/t; ln -s t $W/l");
	f->options.deny = deny;
	f->options.deny_count = 5;
	f->options.write = write;
	f->options.write_count = 2;
	f->options.read = read;
	f->options.read_count = 2;
	plan = plan_of(f);
	/* Row 19: a slash at the end means nothing. */
	assert_rule(plan, in(f, "tree/secret"), SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	assert_rule(plan, f->out, SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	assert_false(may(plan, in(f, "tree/secret/in/x"), SANDBOX_READ));
	assert_false(may(plan, in(f, "out/x"), SANDBOX_READ));
	assert_rule(plan, in(f, "tree/t"), SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	/* The longest path decides: what is opened beneath it is open. */
	assert_rule(plan, in(f, "out/open"), SANDBOX_WRITE, SANDBOX_REASON_OPTION);
	assert_rule(plan, in(f, "out/readable"), SANDBOX_READ, SANDBOX_REASON_OPTION);
	/* Not there yet: it must not come to be where commands could make it. */
	assert_absent(plan, in(f, "tree/not/yet"));
	assert_not_absent(plan, in(f, "out/never"));
	/* Row 1: a path is not a prefix of another's name. */
	assert_true(may(plan, in(f, "tree/secret-not"), SANDBOX_WRITE));
	sandbox_plan_free(plan);

	deny[0] = f->work;
	assert_error(f, ERR_INVALID_ARGUMENT, "root");
	deny[0] = "//";
	assert_error(f, ERR_INVALID_ARGUMENT, "denied");
}

static void a_folder_above_something_hidden_keeps_its_name(void **state)
{
	struct fixture *f = *state;
	const char *deny[] = { in(f, "tree/a/b/key") };
	struct sandbox_plan *plan;

	shell(f, "mkdir -p $W/a/b; touch $W/a/b/key");
	f->options.deny = deny;
	f->options.deny_count = 1;
	plan = plan_of(f);
	assert_rule(plan, in(f, "tree/a"), SANDBOX_WRITE, SANDBOX_REASON_OPTION);
	assert_rule(plan, in(f, "tree/a/b"), SANDBOX_WRITE, SANDBOX_REASON_OPTION);
	assert_rule(plan, in(f, "tree/a/b/key"), SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	sandbox_plan_free(plan);
}

static void roots_are_taken_as_what_they_are(void **state)
{
	struct fixture *f = *state;
	const char *roots[] = { in(f, "link"), in(f, "tree/./sub/.."), in(f, "tree/sub"),
		                in(f, "out/") };
	struct sandbox_plan *plan;

	shell(f, "ln -s tree link; mkdir $W/sub; touch file");
	f->options.roots = roots;
	f->options.root_count = 4;
	plan = plan_of(f);
	assert_int_equal(plan->root_count, 3);
	assert_string_equal(plan->roots[0], f->work);
	assert_string_equal(plan->roots[1], in(f, "tree/sub"));
	assert_string_equal(plan->roots[2], f->out);
	/* A root in a root is no mount of its own: renames between them go on. */
	assert_no_rule(plan, in(f, "tree/sub"));
	assert_absent(plan, in(f, "tree/sub/.vscode"));
	sandbox_plan_free(plan);

	roots[0] = in(f, "nowhere");
	assert_error(f, ERR_FILE_NOT_FOUND, "nowhere");
	roots[0] = in(f, "file");
	assert_error(f, ERR_NOT_A_DIRECTORY, "file");
	f->options.root_count = 0;
	f->options.use = SANDBOX_USE_FILES;
	assert_error(f, ERR_INVALID_ARGUMENT, "root");
}

static void some_folders_are_no_writable_root(void **state)
{
	static const char *const bad[] = { "/", "/proc", "/proc/self", "/sys", "/dev", "/../" };
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		f->root = bad[i];
		assert_error(f, ERR_INVALID_ARGUMENT, "writable");
	}
	f->root = "/";
	f->options.roots_read_only = true;
	plan = plan_of(f);
	assert_rule(plan, "/", SANDBOX_READ, SANDBOX_REASON_ROOT);
	assert_false(may(plan, in(f, "tree/x"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
	f->options.roots_read_only = false;
	f->options.level_given = true;
	f->options.level = SANDBOX_PATHS;
	sandbox_plan_free(plan_of(f));
}

static void credentials_are_hidden(void **state)
{
	struct fixture *f = *state;
	const char *read[] = { in(f, "home/.aws"), in(f, "home/.config") };
	struct sandbox_plan *plan;

	shell(f, "cd $H; mkdir -p .ssh .aws .config/gcloud .config/git .gemini/commands "
	         ".gemini/tmp/hasp/journal .gemini/extensions/e; touch .netrc .npmrc .gitconfig "
	         ".config/git/credentials .gemini/GEMINI.md .gemini/oauth_creds.json "
	         ".gemini/extensions/e/.env .docker");
	f->options.journal = in(f, "home/.gemini/tmp/hasp/journal");
	f->options.use = SANDBOX_USE_FILES;
	plan = plan_of(f);
	assert_rule(plan, in(f, "home/.ssh"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "home/.aws"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "home/.netrc"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "home/.config/gcloud"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "home/.config/git/credentials"), SANDBOX_HIDDEN,
	            SANDBOX_REASON_CREDENTIALS);
	/* The user's identity is readable, hasp's instructions too, its tokens are not. */
	assert_true(may(plan, in(f, "home/.gitconfig"), SANDBOX_READ));
	assert_true(may(plan, in(f, "home/.gemini/GEMINI.md"), SANDBOX_READ));
	assert_true(may(plan, in(f, "home/.gemini/extensions/e/main.js"), SANDBOX_READ));
	assert_false(may(plan, in(f, "home/.gemini/extensions/e/.env"), SANDBOX_READ));
	assert_false(may(plan, in(f, "home/.gemini/oauth_creds.json"), SANDBOX_READ));
	assert_false(may(plan, in(f, "home/.gemini/tmp/x"), SANDBOX_READ));
	assert_true(may(plan, in(f, "home/.gemini/tmp/hasp/journal/1"), SANDBOX_WRITE));
	sandbox_plan_free(plan);

	f->options.read = read;
	f->options.read_count = 2;
	f->options.use = SANDBOX_USE_COMMAND;
	plan = plan_of(f);
	assert_true(may(plan, in(f, "home/.aws/config"), SANDBOX_READ));
	assert_false(may(plan, in(f, "home/.aws/config"), SANDBOX_WRITE));
	/* Naming a folder above does not open what is hidden in it. */
	assert_false(may(plan, in(f, "home/.config/gcloud/x"), SANDBOX_READ));
	assert_false(may(plan, in(f, "home/.gemini/tmp/hasp/journal/1"), SANDBOX_READ));
	sandbox_plan_free(plan);
}

static void a_home_that_is_a_root_keeps_what_runs_at_login(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;

	shell(f, "cd $H; mkdir -p .ssh .config/gcloud; touch .bashrc .config/gcloud/x");
	f->root = f->home;
	plan = plan_of(f);
	assert_rule(plan, in(f, "home/.bashrc"), SANDBOX_READ, SANDBOX_REASON_SETTINGS);
	assert_absent(plan, in(f, "home/.zshrc"));
	assert_absent(plan, in(f, "home/.config/autostart"));
	assert_absent(plan, in(f, "home/.aws"));
	assert_rule(plan, in(f, "home/.ssh"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "home/.config"), SANDBOX_WRITE, SANDBOX_REASON_CREDENTIALS);
	assert_false(may(plan, in(f, "home/.gemini/GEMINI.md"), SANDBOX_WRITE));
	assert_true(may(plan, in(f, "home/notes"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
	/* A root that is a part of it, too. */
	f->root = in(f, "home/.config");
	plan = plan_of(f);
	assert_absent(plan, in(f, "home/.config/autostart"));
	assert_not_absent(plan, in(f, "home/.zshrc"));
	sandbox_plan_free(plan);
}

static void what_lies_in_tmp_stays_visible_beside_the_session_s_own(void **state)
{
	struct fixture *f = *state;
	const char *read[] = { in(f, "data"), in(f, "tree/x"), "/usr" };
	struct sandbox_plan *plan;

	shell(f, "mkdir data $W/x temp $H/.ssh");
	f->options.temp = in(f, "temp");
	f->options.read = read;
	f->options.read_count = 3;
	plan = plan_of(f);
	assert_string_equal(plan->temp, in(f, "temp"));
	assert_rule(plan, in(f, "temp"), SANDBOX_WRITE, SANDBOX_REASON_TEMP);
	assert_rule(plan, f->home, SANDBOX_READ, SANDBOX_REASON_DEFAULT);
	assert_rule(plan, in(f, "home/.ssh"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "data"), SANDBOX_READ, SANDBOX_REASON_OPTION);
	assert_true(may(plan, in(f, "tree/x/y"), SANDBOX_WRITE));
	assert_no_rule(plan, "/usr");
	sandbox_plan_free(plan);
	/* At the other levels /tmp is what it is. */
	f->probe.best = SANDBOX_LANDLOCK;
	plan = plan_of(f);
	assert_no_rule(plan, f->home);
	assert_no_rule(plan, in(f, "data"));
	sandbox_plan_free(plan);
	/* A home in a root is not made read-only by that. */
	f->probe.best = SANDBOX_FULL;
	f->root = f->top;
	f->options.read_count = 0;
	plan = plan_of(f);
	assert_true(may(plan, in(f, "home/file"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
}

static void variables_say_where_credentials_are(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan;
	char *config = mem_printf("%s/k1:%s/k2:relative", f->out, f->out);

	shell(f,
	      "cd $O; touch k1 k2 creds.json; mkdir -p gpg g/.gemini; touch g/.gemini/GEMINI.md");
	setenv("KUBECONFIG", config, 1);
	setenv("GNUPGHOME", in(f, "out/gpg"), 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS", in(f, "out/creds.json"), 1);
	setenv("GEMINI_CLI_HOME", in(f, "out/g"), 1);
	setenv("AZURE_CONFIG_DIR", f->top, 1); /* holds the root: it cannot mean that */
	setenv("HISTFILE", "/dev/null", 1);
	setenv("NETRC", "/etc", 1);
	plan = plan_of(f);
	unsetenv("KUBECONFIG");
	unsetenv("GNUPGHOME");
	unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
	unsetenv("GEMINI_CLI_HOME");
	unsetenv("AZURE_CONFIG_DIR");
	unsetenv("HISTFILE");
	unsetenv("NETRC");
	assert_rule(plan, "/dev/null", SANDBOX_WRITE, SANDBOX_REASON_DEVICE);
	assert_no_rule(plan, "/etc");
	assert_rule(plan, in(f, "out/k1"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "out/k2"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "out/gpg"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "out/creds.json"), SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS);
	assert_rule(plan, in(f, "out/g/.gemini"), SANDBOX_HIDDEN, SANDBOX_REASON_OWN_SECRETS);
	assert_rule(plan, in(f, "out/g/.gemini/GEMINI.md"), SANDBOX_READ,
	            SANDBOX_REASON_OWN_SECRETS);
	assert_no_rule(plan, f->top);
	sandbox_plan_free(plan);
	free(config);
}

static void the_level_is_the_one_asked_for_or_an_error(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan = plan_of(f);

	assert_int_equal(plan->level, SANDBOX_FULL);
	assert_null(plan->weaker_because);
	assert_true(plan->own_network && plan->own_processes && plan->user_namespace);
	sandbox_plan_free(plan);

	f->options.network = true;
	plan = plan_of(f);
	assert_true(plan->network && !plan->own_network);
	sandbox_plan_free(plan);

	f->probe.best = SANDBOX_LANDLOCK;
	f->probe.user_namespaces = false;
	snprintf(f->probe.why_not_full, sizeof(f->probe.why_not_full), "because of this");
	snprintf(f->probe.remedy, sizeof(f->probe.remedy), "do that");
	plan = plan_of(f);
	assert_int_equal(plan->level, SANDBOX_LANDLOCK);
	assert_string_equal(plan->weaker_because, "because of this");
	assert_false(plan->own_network || plan->own_processes || plan->user_namespace);
	sandbox_plan_free(plan);

	f->options.level_given = true;
	f->options.level = SANDBOX_FULL;
	assert_error(f, ERR_DENIED_BY_SANDBOX, "because of this; to change that: do that");
	f->options.level = SANDBOX_PATHS;
	plan = plan_of(f);
	assert_int_equal(plan->level, SANDBOX_PATHS);
	assert_non_null(plan->weaker_because);
	assert_int_equal(plan->landlock_abi, 0);
	sandbox_plan_free(plan);
	f->options.level = SANDBOX_LANDLOCK;
	snprintf(f->probe.why_not_landlock, sizeof(f->probe.why_not_landlock), "no such thing");
	assert_error(f, ERR_DENIED_BY_SANDBOX, "no such thing");
}

/* What everyone else builds on. */
static void assert_well_formed(const struct sandbox_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];
		char *real = realpath(rule->path, NULL);
		struct stat st;

		assert_non_null(real);
		assert_string_equal(real, rule->path);
		assert_int_equal(lstat(rule->path, &st), 0);
		assert_int_equal(S_ISDIR(st.st_mode), rule->folder);
		assert_true(i == 0 || strcmp(plan->rules[i - 1].path, rule->path) < 0);
		free(real);
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		const char *path = plan->absent[i].path;
		struct stat st;

		assert_true(i == 0 || strcmp(plan->absent[i - 1].path, path) < 0);
		assert_true(path[0] == '/');
		if (lstat(path, &st) == 0)
			assert_true(S_ISLNK(st.st_mode));
	}
}

static int make_well_formed(struct fixture *f)
{
	struct sandbox_plan *plan = plan_of(f);

	assert_well_formed(plan);
	if (!may(plan, in(f, "tree/file"), SANDBOX_WRITE) ||
	    may(plan, in(f, "tree/.git/config"), SANDBOX_WRITE))
		return 1;
	sandbox_plan_free(plan);
	return 0;
}

static void plans_are_well_formed_for_every_user(void **state)
{
	struct fixture *f = *state;
	const char *deny[] = { in(f, "closed/in/x") };

	shell(f, "git init $W; mkdir -p $W/.vscode $H/.ssh $H/.gemini closed/in $H/.config/gcloud; "
	         "ln -s $O $W/.idea; chown -R 65534:65534 $W; chmod 700 closed $H/.gemini; "
	         "chmod 000 $H/.config");
	f->options.deny = deny;
	f->options.deny_count = 1;
	in_child(f, false, make_well_formed);
	in_child(f, true, make_well_formed);
	f->options.home = "/nowhere";
	in_child(f, true, make_well_formed);
	f->options.home = NULL;
	in_child(f, false, make_well_formed);
}

/* Of this process and those that have ended: a busy machine is no slower for that. */
static double cpu_us(void)
{
	const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage used;
	double us = 0;

	for (size_t i = 0; i < ARRAY_LEN(whose); i++) {
		getrusage(whose[i], &used);
		us += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	}
	return us;
}

static void making_a_plan_is_quick(void **state)
{
	struct fixture *f = *state;

	shell(f, "git init $W; mkdir -p $H/.config $H/.ssh $H/.cache; touch $H/.bashrc");
	for (int assume = 0; assume < 2; assume++) {
		double before;

		f->options.assume = assume;
		sandbox_plan_free(plan_of(f));
		before = cpu_us();
		for (int i = 0; i < 50; i++)
			sandbox_plan_free(plan_of(f));
		before = (cpu_us() - before) / 50;
		printf("a plan takes %.0f us%s\n", before, assume ? ", git's files assumed" : "");
		/* Far from what is measured: against a walk over the tree. */
		assert_true(before < 30000);
	}
}

/* What a plan assumes is looked at by whoever is confined by it. */
static void what_is_assumed_holds_or_not(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *assumed, *read, *again;

	shell(f, "git init $W; mkdir -p $W/ci/hooks; git -C $W worktree list");
	f->options.assume = true;
	assumed = plan_of(f);
	assert_int_equal(assumed->pointer_count, 1);
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

/* Neither what is no regular file, nor what is too long, nor what never ends is waited for. */
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
	shell(f, "cd $W/.git; printf 'hooksPath =\\nHOOKSPATH=\\thooks\\0more\\r\\n' > config");
	f->options.assume = false;
	{
		struct sandbox_plan *plan = plan_of(f);

		assert_int_equal(plan->pointer_count, 1);
		assert_string_equal(plan->pointers[0].value, "hooks");
		assert_true(sandbox_plan_holds(plan));
		sandbox_plan_free(plan);
	}
	/* None of the processes that read is left. */
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

static void places_are_resolved_as_the_kernel_does(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = { "a/b", "l/b",   "a/../l/./b", "abs/b",
		                             "up",  "chain", "l/../x" };
	struct spot place;

	shell(f, "mkdir -p a/b x; ln -s a l; ln -s $PWD/a abs; ln -s ../../../../../../.. up; "
	         "ln -s l chain; ln -s round round; touch plain");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *real = realpath(in(f, paths[i]), NULL);

		spot_resolve(f->top, paths[i], NULL, NULL, &place);
		assert_int_equal(place.kind, SPOT_FOLDER);
		assert_string_equal(place.path, real);
		spot_release(&place);
		free(real);
	}
	spot_resolve(f->top, "l/new/../other/x", NULL, NULL, &place);
	assert_int_equal(place.kind, SPOT_MISSING);
	assert_string_equal(place.path, in(f, "a/other/x"));
	spot_release(&place);
	spot_resolve(f->top, "round/x", NULL, NULL, &place);
	assert_int_equal(place.kind, SPOT_CLOSED);
	assert_null(place.path);
	spot_resolve(f->top, "plain/x", NULL, NULL, &place);
	assert_int_equal(place.kind, SPOT_MISSING);
	spot_release(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(git_stays_writable_but_for_what_it_runs),
		TEST(hooks_in_the_tree_are_protected),
		TEST(no_repository_can_be_made_of_a_root),
		TEST(projects_one_level_down_are_protected_where_the_root_is_none),
		TEST(submodules_are_protected),
		TEST(worktrees_checked_out_elsewhere_are_protected),
		TEST(a_worktree_may_write_to_the_repository_that_knows_it),
		TEST(a_forged_git_file_opens_nothing),
		TEST(a_git_file_within_the_root_protects_what_it_points_to),
		TEST(symlinks_at_protected_names_are_listed_and_their_targets_protected),
		TEST(settings_are_read_only_or_must_not_come_to_be),
		TEST(writing_by_name_lifts_a_protection),
		TEST(what_is_denied_wins),
		TEST(a_folder_above_something_hidden_keeps_its_name),
		TEST(roots_are_taken_as_what_they_are),
		TEST(some_folders_are_no_writable_root),
		TEST(credentials_are_hidden),
		TEST(a_home_that_is_a_root_keeps_what_runs_at_login),
		TEST(what_lies_in_tmp_stays_visible_beside_the_session_s_own),
		TEST(variables_say_where_credentials_are),
		TEST(the_level_is_the_one_asked_for_or_an_error),
		TEST(plans_are_well_formed_for_every_user),
		TEST(making_a_plan_is_quick),
		TEST(what_is_assumed_holds_or_not),
		TEST(hostile_pointers_are_nothing),
		TEST(places_are_resolved_as_the_kernel_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
