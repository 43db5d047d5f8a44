/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock's rules of real plans, enforced on real children, as root and as an ordinary user. */
#include "plan_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "sandbox/apply/landlock.h"

static int setup(void **state)
{
	struct fixture *f = mem_alloc(1, sizeof(*f));

	fixture_open(f);
	f->probe = *sandbox_probe();
	assert_true(f->probe.landlock_abi >= 4);
	f->options.level_given = true;
	f->options.level = SANDBOX_LANDLOCK;
	*state = f;
	return 0;
}

/* In a child: from here on it is confined. */
static void confine(struct fixture *f, enum landlock_layer layer)
{
	struct sandbox_plan *plan = plan_of(f);
	struct err err = ERR_INIT;
	int ruleset;

	if (!landlock_prepare(plan, layer, &ruleset, &err))
		fail_msg("%s", err.message);
	assert_true(ruleset >= 0);
	assert_true(landlock_enter(ruleset, plan->landlock_abi, layer));
	close(ruleset);
	sandbox_plan_free(plan);
}

/* The errno of opening; 0 if it can be. */
static int opening(struct fixture *f, const char *name, int flags)
{
	int fd = open(name[0] == '/' ? name : in(f, name), flags | O_CLOEXEC, 0644);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool lists(struct fixture *f, const char *folder, const char *name)
{
	DIR *dir = opendir(in(f, folder));
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir)) != NULL)
		found = found || strcmp(entry->d_name, name) == 0;
	if (dir)
		closedir(dir);
	return found;
}

static int runs(const char *program)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl(program, program, (char *)NULL);
		_exit(126);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CHECK(condition)                                                    \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(stderr, "not so: %s\n", #condition);        \
			return __LINE__ % 90 + 1;                           \
		}                                                           \
	} while (0)

static int write_only_in_the_root(struct fixture *f)
{
	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(opening(f, "tree/new", O_WRONLY | O_CREAT) == 0);
	CHECK(opening(f, "tree/new", O_RDONLY) == 0);
	CHECK(mkdir(in(f, "tree/d"), 0755) == 0);
	CHECK(rename(in(f, "tree/new"), in(f, "tree/d/new")) == 0);
	CHECK(symlink("x", in(f, "tree/link")) == 0 && mkfifo(in(f, "tree/fifo"), 0600) == 0);
	CHECK(truncate(in(f, "tree/d/new"), 0) == 0);
	CHECK(opening(f, "out/target", O_WRONLY) == EACCES);
	CHECK(opening(f, "out/new", O_WRONLY | O_CREAT) == EACCES);
	CHECK(opening(f, "tree/to-out", O_WRONLY) == EACCES);
	CHECK(truncate(in(f, "out/target"), 0) != 0);
	CHECK(unlink(in(f, "out/target")) != 0 && rmdir(in(f, "out/d")) != 0);
	CHECK(link(in(f, "out/target"), in(f, "tree/hard")) != 0);
	CHECK(rename(in(f, "tree/d/new"), in(f, "out/new")) != 0);
	CHECK(mkdir(in(f, "out/e"), 0755) != 0);
	CHECK(opening(f, "out/target", O_RDONLY) == 0);
	CHECK(opening(f, "/dev/null", O_RDWR) == 0 && opening(f, "/dev/zero", O_RDONLY) == 0);
	CHECK(opening(f, "/dev/full", O_WRONLY) == 0);
	CHECK(runs("/bin/true") == 0);
	return 0;
}

static void only_the_root_can_be_written(void **state)
{
	struct fixture *f = *state;

	for (int nobody = 0; nobody < 2; nobody++) {
		shell(f,
		      "rm -rf $W/* $O/*; touch $O/target; mkdir $O/d; ln -s $O/target $W/to-out; "
		      "chmod -R a+rwX $W $O");
		f->options.use = SANDBOX_USE_COMMAND;
		in_child(f, nobody, write_only_in_the_root);
	}
}

static int read_not_what_is_hidden(struct fixture *f)
{
	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(opening(f, "home/.ssh/id", O_RDONLY) == EACCES);
	CHECK(opening(f, "home/.netrc", O_RDONLY) == EACCES);
	CHECK(opening(f, "home/.config/gcloud/token", O_RDONLY) == EACCES);
	CHECK(opening(f, "home/.gemini/oauth_creds.json", O_RDONLY) == EACCES);
	CHECK(opening(f, "tree/to-ssh", O_RDONLY) == EACCES);
	CHECK(link(in(f, "home/.ssh/id"), in(f, "tree/id")) != 0);
	CHECK(rename(in(f, "home/.ssh"), in(f, "tree/ssh")) != 0);
	CHECK(opening(f, "home/.gemini/GEMINI.md", O_RDONLY) == 0);
	CHECK(opening(f, "home/.gemini/commands/deep/c", O_RDONLY) == 0);
	CHECK(opening(f, "home/.config/other", O_RDONLY) == 0);
	CHECK(opening(f, "home/.bashrc", O_RDONLY) == 0);
	CHECK(opening(f, "home/src/deep/file", O_RDONLY) == 0);
	CHECK(opening(f, "tree/file", O_RDWR) == 0);
	CHECK(opening(f, "out/file", O_RDONLY) == 0);
	CHECK(opening(f, "/etc/passwd", O_RDONLY) == 0);
	CHECK(opening(f, "/proc/self/status", O_RDONLY) == 0);
	/* Names are no secret at this level. */
	CHECK(lists(f, "home", ".ssh") && lists(f, "home/.ssh", "id"));
	CHECK(runs("/bin/true") == 0);
	return 0;
}

static void what_is_hidden_cannot_be_read(void **state)
{
	struct fixture *f = *state;

	shell(f, "cd $H; mkdir -p .ssh .config/gcloud .gemini/commands/deep src/deep; "
	         "touch .ssh/id .netrc .config/gcloud/token .config/other .gemini/oauth_creds.json "
	         ".gemini/GEMINI.md .gemini/commands/deep/c .bashrc src/deep/file $W/file $O/file; "
	         "ln -s $H/.ssh/id $W/to-ssh; chmod -R a+rwX $H $W $O");
	in_child(f, false, read_not_what_is_hidden);
	shell(f, "rm -rf $W/id");
	in_child(f, true, read_not_what_is_hidden);
}

static int read_not_what_is_denied_in_the_root(struct fixture *f)
{
	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(opening(f, "tree/.env", O_RDONLY) == EACCES);
	CHECK(opening(f, "tree/a/b/key", O_RDONLY) == EACCES);
	CHECK(rename(in(f, "tree/.env"), in(f, "tree/sub/env")) != 0);
	CHECK(link(in(f, "tree/.env"), in(f, "tree/sub/env")) != 0);
	CHECK(rename(in(f, "tree/a/b/key"), in(f, "tree/sub/key")) != 0);
	CHECK(rename(in(f, "tree/a"), in(f, "tree/sub/a")) != 0 ||
	      opening(f, "tree/sub/a/b/key", O_RDONLY) == EACCES);
	CHECK(opening(f, "tree/file", O_RDWR) == 0);
	CHECK(opening(f, "tree/sub/new", O_RDWR | O_CREAT) == 0);
	/* The price: it can be made, and read by the next command. */
	CHECK(opening(f, "tree/new", O_WRONLY | O_CREAT) == 0);
	CHECK(opening(f, "tree/new", O_RDONLY) == EACCES);
	CHECK(opening(f, "out/open/file", O_RDWR) == 0);
	CHECK(opening(f, "out/file", O_RDONLY) == EACCES);
	return 0;
}

static void what_is_denied_in_the_root_cannot_be_read(void **state)
{
	struct fixture *f = *state;
	const char *deny[] = { in(f, "tree/.env"), in(f, "tree/a/b/key"), f->out };
	const char *write[] = { in(f, "out/open") };

	f->options.deny = deny;
	f->options.deny_count = 3;
	f->options.write = write;
	f->options.write_count = 1;
	for (int nobody = 0; nobody < 2; nobody++) {
		shell(f, "rm -rf $W $O; mkdir -p $W/a/b $W/sub $O/open; touch $W/.env $W/a/b/key "
		         "$W/file "
		         "$O/file $O/open/file; chmod -R a+rwX $W $O");
		in_child(f, nobody, read_not_what_is_denied_in_the_root);
	}
}

enum { MANY = LIMIT_SANDBOX_SIBLINGS + 500 };

static int count_open(struct fixture *f)
{
	int readable = 0, tried = 0;
	char name[32];

	confine(f, LANDLOCK_LAYER_WORKER);
	for (int i = 0; i < MANY; i += 10, tried++) {
		snprintf(name, sizeof(name), "tree/f%d", i);
		readable += opening(f, name, O_RDONLY) == 0;
	}
	CHECK(opening(f, "tree/key", O_RDONLY) == EACCES);
	CHECK(readable > tried / 2 && readable < tried);
	return 0;
}

static void beyond_the_limit_of_siblings_nothing_is_readable(void **state)
{
	struct fixture *f = *state;
	const char *deny[] = { in(f, "tree/key") };

	f->options.deny = deny;
	f->options.deny_count = 1;
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tree/f%d", i);
		assert_int_equal(mknod(in(f, name), S_IFREG | 0644, 0), 0);
	}
	shell(f, "touch $W/key");
	in_child(f, false, count_open);
}

static int write_at_full(struct fixture *f)
{
	f->options.level = SANDBOX_FULL;
	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(opening(f, "tree/.git/config", O_RDONLY) == 0);
	CHECK(opening(f, "tree/new", O_RDWR | O_CREAT) == 0);
	CHECK(opening(f, "out/new", O_RDWR | O_CREAT) == EACCES);
	CHECK(opening(f, "/etc/passwd", O_RDONLY) == 0);
	/* Made after the ruleset was: what the child allows itself. */
	return 0;
}

static void at_full_landlock_is_the_second_line(void **state)
{
	struct fixture *f = *state;

	shell(f, "git init $W; chmod -R a+rwX $W $O; git config --global safe.directory '*'");
	in_child(f, false, write_at_full);
	shell(f, "rm -f $W/new");
	in_child(f, true, write_at_full);
}

static int allow_a_place(struct fixture *f)
{
	struct sandbox_plan *plan = plan_of(f);
	struct err err = ERR_INIT;
	int ruleset, file = open(in(f, "out/file"), O_PATH), folder = open(in(f, "out/d"), O_PATH);

	CHECK(landlock_prepare(plan, LANDLOCK_LAYER_WORKER, &ruleset, &err));
	CHECK(landlock_allow(ruleset, plan->landlock_abi, file, SANDBOX_WRITE));
	CHECK(landlock_allow(ruleset, plan->landlock_abi, folder, SANDBOX_WRITE));
	CHECK(!landlock_allow(ruleset, plan->landlock_abi, -1, SANDBOX_WRITE));
	CHECK(landlock_enter(ruleset, plan->landlock_abi, LANDLOCK_LAYER_WORKER));
	CHECK(opening(f, "out/file", O_RDWR) == 0);
	CHECK(opening(f, "out/d/new", O_RDWR | O_CREAT) == 0);
	CHECK(opening(f, "out/new", O_RDWR | O_CREAT) == EACCES);
	CHECK(landlock_allow(-1, 7, -1, SANDBOX_READ) &&
	      landlock_enter(-1, 7, LANDLOCK_LAYER_WORKER));
	return 0;
}

static void a_place_can_be_allowed_by_its_descriptor(void **state)
{
	struct fixture *f = *state;

	shell(f, "touch $O/file; mkdir $O/d; chmod -R a+rwX $O");
	in_child(f, true, allow_a_place);
}

static int listener(int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int port_to_try;

static int connecting(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port_to_try),
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;

	close(fd);
	return result;
}

static int connecting_abstract(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;
	socklen_t len;

	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                  (size_t)snprintf(address.sun_path + 1, 64, "hasp-test-%d", port_to_try));
	result = connect(fd, (struct sockaddr *)&address, len) == 0 ? 0 : errno;
	close(fd);
	return result;
}

static int stay_among_themselves(struct fixture *f)
{
	pid_t child;
	int status;

	confine(f, LANDLOCK_LAYER_COMMAND);
	CHECK(kill(getppid(), 0) == -1 && errno == EPERM);
	CHECK(connecting_abstract() == EPERM);
	CHECK(connecting() == (f->options.network ? 0 : EACCES));
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
	CHECK(opening(f, "tree/new", O_RDWR | O_CREAT) == 0);
	/* What says nothing of files must not keep them in their folders. */
	CHECK(mkdir(in(f, "tree/d"), 0755) == 0);
	CHECK(rename(in(f, "tree/new"), in(f, "tree/d/new")) == 0);
	CHECK(link(in(f, "tree/d/new"), in(f, "tree/linked")) == 0);
	return 0;
}

static int connect_from_a_worker(struct fixture *f)
{
	bool files = f->options.use == SANDBOX_USE_FILES;

	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(kill(getppid(), 0) == -1 && errno == EPERM);
	CHECK(connecting() == (files ? EACCES : 0));
	return 0;
}

static void commands_signal_and_connect_only_among_themselves(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int tcp = listener(&port_to_try), abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path + 1, 64, "hasp-test-%d", port_to_try);
	assert_int_equal(bind(abstract, (struct sockaddr *)&address,
	                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                                  strlen(address.sun_path + 1))), 0);
	assert_int_equal(listen(abstract, 4), 0);
	shell(f, "chmod a+rwx $W");
	in_child(f, false, stay_among_themselves);
	shell(f, "rm -r $W/*");
	f->options.network = true;
	in_child(f, true, stay_among_themselves);
	/* A command's worker connects on its behalf; a worker for files never. */
	f->options.network = false;
	in_child(f, true, connect_from_a_worker);
	f->options.use = SANDBOX_USE_FILES;
	in_child(f, true, connect_from_a_worker);
	close(tcp);
	close(abstract);
}

static int work_with_less(struct fixture *f)
{
	confine(f, LANDLOCK_LAYER_WORKER);
	CHECK(opening(f, "tree/new", O_RDWR | O_CREAT) == 0);
	CHECK(unlink(in(f, "tree/new")) == 0);
	CHECK(opening(f, "out/file", O_RDWR) == EACCES);
	CHECK(opening(f, "home/.ssh/id", O_RDONLY) == EACCES);
	return 0;
}

static void every_older_abi_gets_what_it_knows(void **state)
{
	struct fixture *f = *state;
	unsigned here = f->probe.landlock_abi;

	shell(f, "mkdir $H/.ssh; touch $H/.ssh/id $O/file; chmod -R a+rwX $W $O $H");
	for (unsigned abi = 1; abi <= here; abi++) {
		f->probe.landlock_abi = abi;
		in_child(f, true, work_with_less);
	}
}

static void rights_are_those_of_the_kernel_header(void **state)
{
	static const struct {
		unsigned abi;
		uint64_t files, network, scope;
	} known[] = {
		{ 1, 0x1fff, 0, 0 }, { 2, 0x3fff, 0, 0 }, { 3, 0x7fff, 0, 0 }, { 4, 0x7fff, 3, 0 },
		{ 5, 0xffff, 3, 0 }, { 6, 0xffff, 3, 3 }, { 7, 0xffff, 3, 3 }, { 8, 0xffff, 3, 3 },
		{ 9, 0x1ffff, 3, 3 }, { 10, 0x1ffff, 15, 3 }, { 99, 0x1ffff, 15, 3 },
	};
	const uint64_t only_folders = 0x3ff8; /* an error on a file (EINVAL) */

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct sandbox_plan plan = { .level = SANDBOX_FULL, .use = SANDBOX_USE_FILES,
		                             .landlock_abi = known[i].abi };
		struct landlock_handled handled = landlock_handled(&plan, LANDLOCK_LAYER_WORKER);

		assert_int_equal(handled.files, known[i].files);
		assert_int_equal(handled.network, known[i].network);
		assert_int_equal(handled.scope, known[i].scope);
		for (int access = SANDBOX_HIDDEN; access <= SANDBOX_WRITE; access++)
			for (int device = 0; device < 2; device++) {
				uint64_t file = landlock_files(
					known[i].abi, (enum sandbox_access)access, false, device);
				uint64_t folder = landlock_files(known[i].abi,
				                                 (enum sandbox_access)access, true,
				                                 device);

				assert_int_equal(file & only_folders, 0);
				assert_int_equal(folder & ~known[i].files, 0);
				assert_int_equal(file & ~folder, 0);
			}
		/* Commands' layer has nothing to do with files, nor with their own network. */
		plan.use = SANDBOX_USE_COMMAND;
		plan.own_network = true;
		handled = landlock_handled(&plan, LANDLOCK_LAYER_COMMAND);
		assert_int_equal(handled.files & ~(uint64_t)0x2000, 0); /* but REFER */
		assert_int_equal(handled.network, 0);
	}
}

static void what_became_a_symlink_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct sandbox_plan *plan = plan_of(f);
	struct err err = ERR_INIT;
	int ruleset = 7;

	shell(f, "rmdir $W; ln -s $O $W");
	assert_false(landlock_prepare(plan, LANDLOCK_LAYER_WORKER, &ruleset, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(ruleset, -1);
	plan->level = SANDBOX_PATHS;
	assert_true(landlock_prepare(plan, LANDLOCK_LAYER_WORKER, &ruleset, &err));
	assert_int_equal(ruleset, -1);
	sandbox_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, plan_teardown)
		TEST(only_the_root_can_be_written),
		TEST(what_is_hidden_cannot_be_read),
		TEST(what_is_denied_in_the_root_cannot_be_read),
		TEST(beyond_the_limit_of_siblings_nothing_is_readable),
		TEST(at_full_landlock_is_the_second_line),
		TEST(a_place_can_be_allowed_by_its_descriptor),
		TEST(commands_signal_and_connect_only_among_themselves),
		TEST(every_older_abi_gets_what_it_knows),
		cmocka_unit_test(rights_are_those_of_the_kernel_header),
		TEST(what_became_a_symlink_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
