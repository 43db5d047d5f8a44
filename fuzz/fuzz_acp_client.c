/* SPDX-License-Identifier: Apache-2.0 */
/* A whole connection of `hasp acp`: the input is what the client writes, up to its end.  Sessions
 * are refused when their settings are read, so that nothing of the machine is started or changed. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acp/acp.h"
#include "base/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct session_request request = { .mode = "none of them" };
	int in = memfd_create("acp", MFD_CLOEXEC), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct acp_options options = { .request = &request, .read_fd = in, .write_fd = out };
	struct err err = ERR_INIT;
	int signal;

	setenv("GEMINI_CLI_HOME", "/nonexistent/of-fuzz", 1);
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (in >= 0 && out >= 0 && fd_write_all(in, data, size) && lseek(in, 0, SEEK_SET) == 0)
		acp_serve(&options, &signal, &err);
	close(in);
	close(out);
	return 0;
}
