/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about real trees: symlinks, settings, homes. Git: test_plan_git.c. */
#include "plan_fixture.h"

#include <sys/wait.h>

#include "sandbox/plan/names.h"
#include "sandbox/plan/location.h"
#include "meter.h"

static void assert_error(struct fixture *f, enum err_code code, const char *says)
{
	struct err err = ERR_INIT;
	struct sandbox_plan *plan;

	assert_false(sandbox_plan_make(&f->options, &f->probe, &plan, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.message, says))
		fail_msg("the message does not say \"%s\": %s", says, err.message);
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
		if (!(names.rows[i].flags & NAME_DEEP))
			continue;
		snprintf(path, sizeof(path), "tree/%s", names.rows[i].path);
		assert_false(may(plan, in(f, path), SANDBOX_WRITE));
		assert_true(may(plan, in(f, path), SANDBOX_READ));
	}
	sandbox_plan_free(plan);
}

static void names_that_others_obey_are_judged_in_any_folder(void **state)
{
	struct fixture *f = *state;
	const char *write[] = { in(f, "tree/given/.vscode") };
	static const char *const never[] = {
		"tree/a/.vscode", "tree/a/b/.vscode/tasks.json", "tree/a/.envrc", "tree/a/.ENVRC",
		"tree/a/.hg/hgrc", "tree/a/.jj/repo/config.toml", "tree/.gitx/.gdbinit",
		"tree/given/.idea", "tree/a/mise.toml",
	};
	static const char *const always[] = {
		"tree/a/.vscodes", "tree/a/x.envrc", "tree/a/.hg/store", "tree/a/.jj/repo",
		"tree/a/node_modules/b/.vscode/x", "tree/a/.git/.envrc", "tree/a/.env",
		"tree/a/.pre-commit-config.yaml", "tree/given/.vscode/x", "tree/a/mise",
	};
	struct sandbox_plan *plan;

	shell(f, "mkdir -p $W/given/.vscode");
	f->options.write = write;
	f->options.write_count = 1;
	plan = plan_of(f);
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		assert_false(may(plan, in(f, never[i]), SANDBOX_WRITE));
		assert_true(may(plan, in(f, never[i]), SANDBOX_READ));
	}
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		assert_true(may(plan, in(f, always[i]), SANDBOX_WRITE));
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
	assert_rule(plan, in(f, "tree/secret"), SANDBOX_HIDDEN, SANDBOX_REASON_DENY);
	assert_rule(plan, f->out, SANDBOX_HIDDEN, SANDBOX_REASON_DENY);
	assert_false(may(plan, in(f, "tree/secret/in/x"), SANDBOX_READ));
	assert_false(may(plan, in(f, "out/x"), SANDBOX_READ));
	assert_rule(plan, in(f, "tree/t"), SANDBOX_HIDDEN, SANDBOX_REASON_DENY);
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
	assert_rule(plan, in(f, "tree/a"), SANDBOX_WRITE, SANDBOX_REASON_DENY);
	assert_rule(plan, in(f, "tree/a/b"), SANDBOX_WRITE, SANDBOX_REASON_DENY);
	assert_rule(plan, in(f, "tree/a/b/key"), SANDBOX_HIDDEN, SANDBOX_REASON_DENY);
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

/* The least of several rounds, each of some plans; of few that run git. */
static double plan_costs(struct fixture *f)
{
	const int count = f->options.assume ? 10 : 2;
	double least = 1e9;

	for (int round = 0; round < 3; round++) {
		double began = meter_cpu_us(), us;

		for (int i = 0; i < count; i++)
			sandbox_plan_free(plan_of(f));
		us = (meter_cpu_us() - began) / count;
		least = us < least ? us : least;
	}
	return least;
}

/* A walk over the tree would cost twenty times as much where git is not run. */
static void a_plan_does_not_walk_the_tree(void **state)
{
	struct fixture *f = *state;
	double small[2];

	shell(f, "git init $W; mkdir -p $H/.config $H/.ssh $H/.cache; touch $H/.bashrc");
	for (int assume = 0; assume < 2; assume++) {
		f->options.assume = assume;
		sandbox_plan_free(plan_of(f));
		small[assume] = plan_costs(f);
	}
	shell(f, "cd $W; seq -f many/%%.0f 2000 | xargs mkdir -p");
	for (int assume = 0; assume < 2; assume++) {
		double large;

		f->options.assume = assume;
		large = plan_costs(f);
		printf("a plan takes %.0f us, of a large tree %.0f us%s\n", small[assume], large,
		       assume ? ", git's files assumed" : "");
		assert_true(large < 5 * small[assume]);
	}
}

static void places_are_resolved_as_the_kernel_does(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = { "a/b", "l/b",   "a/../l/./b", "abs/b",
		                             "up",  "chain", "l/../x" };
	struct location place;

	shell(f, "mkdir -p a/b x; ln -s a l; ln -s $PWD/a abs; ln -s ../../../../../../.. up; "
	         "ln -s l chain; ln -s round round; touch plain");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *real = realpath(in(f, paths[i]), NULL);

		location_resolve(f->top, paths[i], NULL, NULL, &place);
		assert_int_equal(place.kind, LOCATION_FOLDER);
		assert_string_equal(place.path, real);
		location_release(&place);
		free(real);
	}
	location_resolve(f->top, "l/new/../other/x", NULL, NULL, &place);
	assert_int_equal(place.kind, LOCATION_MISSING);
	assert_string_equal(place.path, in(f, "a/other/x"));
	location_release(&place);
	location_resolve(f->top, "round/x", NULL, NULL, &place);
	assert_int_equal(place.kind, LOCATION_CLOSED);
	assert_null(place.path);
	location_resolve(f->top, "plain/x", NULL, NULL, &place);
	assert_int_equal(place.kind, LOCATION_MISSING);
	location_release(&place);
}

/* ---- one file by itself ---- */

static void a_file_is_writable_alone_and_only_as_what_it_is(void **state)
{
	struct fixture *f = *state;
	const char *const exact[] = {
		in(f, "out/file"), in(f, "out/link"), in(f, "out/twin"), in(f, "out/folder"),
		in(f, "out/missing"), in(f, "out/./other"), in(f, "door/other"), in(f, "out/pipe"),
		"out/other", "/proc/self/comm",
	};
	struct sandbox_plan *plan;

	shell(f, "cd $O; touch file other one; ln -s file link; ln one twin; mkdir folder; "
	         "mkfifo pipe; ln -s $O %s", in(f, "door"));
	f->options.exact = exact;
	f->options.exact_count = ARRAY_LEN(exact);
	plan = plan_of(f);
	assert_rule(plan, in(f, "out/file"), SANDBOX_WRITE, SANDBOX_REASON_OPTION);
	assert_true(may(plan, in(f, "out/file"), SANDBOX_WRITE));
	assert_int_equal(plan->given_count, 1);
	for (size_t i = 1; i < ARRAY_LEN(exact); i++)
		assert_no_rule(plan, exact[i]);
	assert_false(may(plan, f->out, SANDBOX_WRITE));
	assert_false(may(plan, in(f, "out/other"), SANDBOX_WRITE));
	sandbox_plan_free(plan);
}

static const char *why_not_offered(const char *path)
{
	const char *why = NULL;

	return sandbox_exact_offered(path, &why) ? "offered" : why;
}

static void only_harmless_files_are_offered(void **state)
{
	static const char *const obeyed[] = {
		"home/.bashrc", "home/.ssh/config", "home/.config/git/config", "out/.bash_profile",
		"out/.ssh/authorized_keys", "out/repo/.git/config", "out/repo/.git/hooks/post-merge",
		"out/repo/sub/.vscode/tasks.json", "out/repo/sub/.mcp.json", "out/hooks/pre-commit",
		"out/bare.git/hooks/update", "out/.GEMINI/settings.json", "out/.netrc",
	};
	static const char *const harmless[] = {
		"out/notes", "out/repo/Makefile", "out/a b\nc", "out/repo/.git/description",
	};
	struct fixture *f = *state;
	_cleanup_free_ char *home = mem_strdup(getenv("HOME") ?: "");

	shell(f, "git init $O/repo; git init --bare $O/bare.git; rm -rf $O/bare.git/hooks; "
	         "command git config --global core.hooksPath $O/hooks");
	setenv("HOME", f->home, 1);
	for (size_t i = 0; i < ARRAY_LEN(obeyed) + ARRAY_LEN(harmless); i++) {
		bool bad = i < ARRAY_LEN(obeyed);
		const char *path = in(f, bad ? obeyed[i] : harmless[i - ARRAY_LEN(obeyed)]);

		shell(f, "p='%s'; mkdir -p \"${p%%/*}\"; touch \"$p\"", path);
		if (strcmp(why_not_offered(path), bad ? "programs obey it, or it holds secrets" :
		                                        "offered") != 0)
			fail_msg("%s: %s", path, why_not_offered(path));
	}
	setenv("HOME", home, 1);
	shell(f, "cd $O; touch run one; chmod +x run; ln one twin; ln -s notes link");
	assert_string_equal(why_not_offered(in(f, "out/run")), "it is a program");
	assert_non_null(strstr(why_not_offered(f->out), "it is a folder"));
	assert_non_null(strstr(why_not_offered(in(f, "out/new")), "a new name"));
	assert_non_null(strstr(why_not_offered(in(f, "out/twin")), "other names"));
	assert_non_null(strstr(why_not_offered(in(f, "out/link")), "no regular file"));
	assert_string_not_equal(why_not_offered("/etc/passwd"), "offered");
	assert_string_not_equal(why_not_offered("/proc/sys/kernel/core_pattern"), "offered");
}

static const char *why_not_read(const char *path, bool folder)
{
	const char *why = NULL;

	return sandbox_read_offered(path, folder, &why) ? "offered" : why;
}

static const char *why_not_made(const char *path)
{
	const char *why = NULL;

	return sandbox_new_offered(path, &why) ? "offered" : why;
}

static void what_a_file_tool_may_be_offered(void **state)
{
	static const char *const secrets[] = { "out/.ssh/id_rsa", "out/a/.aws/credentials",
		"out/.netrc", "out/.gemini/oauth_creds.json" };
	struct fixture *f = *state;

	shell(f, "cd $O; mkdir folder; touch one .bashrc; ln one twin; ln -s one link; "
	         "ln -s folder door; mkfifo pipe");
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
		shell(f, "p='%s'; mkdir -p \"${p%%/*}\"; touch \"$p\"", in(f, secrets[i]));
		assert_string_equal(why_not_read(in(f, secrets[i]), false), "it holds secrets");
	}
	assert_string_equal(why_not_read(in(f, "out/.ssh"), true), "it holds secrets");
	assert_string_equal(why_not_read(in(f, "out/one"), false), "offered");
	assert_string_equal(why_not_read(in(f, "out/twin"), false), "offered");
	assert_string_equal(why_not_read(in(f, "out/.bashrc"), false), "offered");
	assert_string_equal(why_not_read(in(f, "out/folder"), true), "offered");
	assert_string_equal(why_not_read("/usr", true), "offered");
	assert_string_equal(why_not_read("/etc/passwd", false), "offered");
	assert_string_equal(why_not_read(in(f, "out/folder"), false), "it is no regular file");
	assert_string_equal(why_not_read(in(f, "out/link"), false), "it is no regular file");
	assert_string_equal(why_not_read(in(f, "out/pipe"), false), "it is no regular file");
	assert_string_equal(why_not_read(in(f, "out/one"), true), "it is no folder");
	assert_string_equal(why_not_read(in(f, "out/door"), true), "it is no folder");
	assert_string_equal(why_not_read(in(f, "out/none"), false), "it is not there");
	assert_string_equal(why_not_read("/proc/self/environ", false), "it belongs to the kernel");
	assert_string_equal(why_not_read("/sys", true), "it belongs to the kernel");
	assert_string_equal(why_not_read("/dev", true), "it belongs to the kernel");

	assert_string_equal(why_not_made(in(f, "out/new")), "offered");
	assert_string_equal(why_not_made(in(f, "out/folder/new")), "offered");
	assert_string_equal(why_not_made(in(f, "out/one")), "it is there");
	assert_string_equal(why_not_made(in(f, "out/link")), "it is there");
	assert_string_equal(why_not_made(in(f, "out/none/new")), "its folder is not there");
	assert_string_equal(why_not_made(in(f, "out/one/new")), "its folder is not there");
	assert_string_equal(why_not_made(in(f, "out/door/new")), "its folder is not there");
	assert_string_equal(why_not_made("/hasp-new"), "it would be in /");
	assert_string_equal(why_not_made("/etc/hasp-new"), "it belongs to the system");
	assert_string_equal(why_not_made("/dev/shm/hasp-new"), "it belongs to the system");
	assert_string_equal(why_not_made(in(f, "out/.profile")),
	                    "programs obey it, or it holds secrets");
}

static int asks_for_nothing_that_is_not_its(struct fixture *f)
{
	return strcmp(why_not_offered(in(f, "out/root")), "you may not write to it yourself") != 0;
}

static void what_the_user_may_not_write_is_not_offered(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	shell(f, "touch $O/root");
	in_child(f, true, asks_for_nothing_that_is_not_its);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)
		TEST(symlinks_at_protected_names_are_listed_and_their_targets_protected),
		TEST(settings_are_read_only_or_must_not_come_to_be),
		TEST(names_that_others_obey_are_judged_in_any_folder),
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
		TEST(a_plan_does_not_walk_the_tree),
		TEST(places_are_resolved_as_the_kernel_does),
		TEST(a_file_is_writable_alone_and_only_as_what_it_is),
		TEST(only_harmless_files_are_offered),
		TEST(what_the_user_may_not_write_is_not_offered),
		TEST(what_a_file_tool_may_be_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
