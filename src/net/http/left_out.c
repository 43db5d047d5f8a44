/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in, within hasp's own copy of libcurl (hasp-http.so), for the libraries of what hasp never
 * asks libcurl to do.  Debian's libcurl brings them along, and mapping them took longer than a
 * request.
 *
 * What libcurl calls whatever the protocol has an answer here.  All others belong to protocols that
 * CURLOPT_PROTOCOLS_STR switches off, to Negotiate and SOCKS by Kerberos, which CURLOPT_HTTPAUTH,
 * CURLOPT_PROXYAUTH and CURLOPT_SOCKS5_AUTH do, or to cookies, which are not kept: a call of one
 * is a bug and ends the process.  A libcurl that needs a function without a row is not built into
 * hasp-http.so: the check in meson.build fails, and the system's is loaded.
 */
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void abort_left_out(const char *name)
{
	fprintf(stderr, "hasp: libcurl called %s, which is left out.\n", name);
	abort();
}

#define LEFT_OUT(name)      \
	void name(void);    \
	void name(void)     \
	{                   \
		abort_left_out(#name); \
	}

/* Kerberos: Negotiate, SOCKS */
LEFT_OUT(gss_delete_sec_context)
LEFT_OUT(gss_display_name)
LEFT_OUT(gss_display_status)
LEFT_OUT(gss_import_name)
LEFT_OUT(gss_init_sec_context)
LEFT_OUT(gss_inquire_context)
LEFT_OUT(gss_release_buffer)
LEFT_OUT(gss_release_name)
LEFT_OUT(gss_unwrap)
LEFT_OUT(gss_wrap)
/* LDAP */
LEFT_OUT(ber_bvfree)
LEFT_OUT(ber_free)
LEFT_OUT(ber_memfree)
LEFT_OUT(ber_memvfree)
LEFT_OUT(ber_sockbuf_add_io)
LEFT_OUT(ldap_abandon_ext)
LEFT_OUT(ldap_err2string)
LEFT_OUT(ldap_free_urldesc)
LEFT_OUT(ldap_get_attribute_ber)
LEFT_OUT(ldap_get_dn_ber)
LEFT_OUT(ldap_init_fd)
LEFT_OUT(ldap_memfree)
LEFT_OUT(ldap_msgfree)
LEFT_OUT(ldap_msgtype)
LEFT_OUT(ldap_parse_result)
LEFT_OUT(ldap_parse_sasl_bind_result)
LEFT_OUT(ldap_pvt_url_scheme2proto)
LEFT_OUT(ldap_result)
LEFT_OUT(ldap_sasl_bind)
LEFT_OUT(ldap_search_ext)
LEFT_OUT(ldap_set_option)
LEFT_OUT(ldap_start_tls)
LEFT_OUT(ldap_unbind_ext)
LEFT_OUT(ldap_url_parse)
/* SFTP and SCP */
LEFT_OUT(libssh2_agent_connect)
LEFT_OUT(libssh2_agent_disconnect)
LEFT_OUT(libssh2_agent_free)
LEFT_OUT(libssh2_agent_get_identity)
LEFT_OUT(libssh2_agent_init)
LEFT_OUT(libssh2_agent_list_identities)
LEFT_OUT(libssh2_agent_userauth)
LEFT_OUT(libssh2_channel_free)
LEFT_OUT(libssh2_channel_read_ex)
LEFT_OUT(libssh2_channel_send_eof)
LEFT_OUT(libssh2_channel_wait_closed)
LEFT_OUT(libssh2_channel_wait_eof)
LEFT_OUT(libssh2_channel_write_ex)
LEFT_OUT(libssh2_hostkey_hash)
LEFT_OUT(libssh2_knownhost_add)
LEFT_OUT(libssh2_knownhost_checkp)
LEFT_OUT(libssh2_knownhost_del)
LEFT_OUT(libssh2_knownhost_free)
LEFT_OUT(libssh2_knownhost_get)
LEFT_OUT(libssh2_knownhost_init)
LEFT_OUT(libssh2_knownhost_readfile)
LEFT_OUT(libssh2_knownhost_writefile)
LEFT_OUT(libssh2_scp_recv2)
LEFT_OUT(libssh2_scp_send64)
LEFT_OUT(libssh2_session_abstract)
LEFT_OUT(libssh2_session_block_directions)
LEFT_OUT(libssh2_session_callback_set)
LEFT_OUT(libssh2_session_disconnect_ex)
LEFT_OUT(libssh2_session_flag)
LEFT_OUT(libssh2_session_free)
LEFT_OUT(libssh2_session_handshake)
LEFT_OUT(libssh2_session_hostkey)
LEFT_OUT(libssh2_session_init_ex)
LEFT_OUT(libssh2_session_last_errno)
LEFT_OUT(libssh2_session_last_error)
LEFT_OUT(libssh2_session_method_pref)
LEFT_OUT(libssh2_session_set_blocking)
LEFT_OUT(libssh2_sftp_close_handle)
LEFT_OUT(libssh2_sftp_init)
LEFT_OUT(libssh2_sftp_last_error)
LEFT_OUT(libssh2_sftp_mkdir_ex)
LEFT_OUT(libssh2_sftp_open_ex)
LEFT_OUT(libssh2_sftp_read)
LEFT_OUT(libssh2_sftp_readdir_ex)
LEFT_OUT(libssh2_sftp_rename_ex)
LEFT_OUT(libssh2_sftp_rmdir_ex)
LEFT_OUT(libssh2_sftp_seek64)
LEFT_OUT(libssh2_sftp_shutdown)
LEFT_OUT(libssh2_sftp_stat_ex)
LEFT_OUT(libssh2_sftp_statvfs)
LEFT_OUT(libssh2_sftp_symlink_ex)
LEFT_OUT(libssh2_sftp_unlink_ex)
LEFT_OUT(libssh2_sftp_write)
LEFT_OUT(libssh2_userauth_authenticated)
LEFT_OUT(libssh2_userauth_keyboard_interactive_ex)
LEFT_OUT(libssh2_userauth_list)
LEFT_OUT(libssh2_userauth_password_ex)
LEFT_OUT(libssh2_userauth_publickey_fromfile_ex)
/* names that are not ASCII, and cookies */
LEFT_OUT(idn2_free)
LEFT_OUT(psl_builtin)
LEFT_OUT(psl_free)
LEFT_OUT(psl_is_cookie_domain_acceptable)
LEFT_OUT(psl_latest)
/* RTMP */
LEFT_OUT(RTMP_Alloc)
LEFT_OUT(RTMP_Close)
LEFT_OUT(RTMP_Connect1)
LEFT_OUT(RTMP_ConnectStream)
LEFT_OUT(RTMP_Free)
LEFT_OUT(RTMP_Init)
LEFT_OUT(RTMP_Read)
LEFT_OUT(RTMP_SetBufferMS)
LEFT_OUT(RTMP_SetupURL)
LEFT_OUT(RTMP_Write)

/* A name for services in Kerberos. */
extern void *GSS_C_NT_HOSTBASED_SERVICE;
void *GSS_C_NT_HOSTBASED_SERVICE;

/* ---- functions that libcurl does call ---- */

/* When it is initialised, and released. */
int libssh2_init(int flags);
int libssh2_init(int flags)
{
	(void)flags;
	return 0;
}

void libssh2_exit(void);
void libssh2_exit(void)
{
}

/* For the text that curl_version() makes. */
const char *libssh2_version(int required);
const char *libssh2_version(int required)
{
	(void)required;
	return "-";
}

const char *psl_get_version(void);
const char *psl_get_version(void)
{
	return "-";
}

int ldap_get_option(void *ld, int option, void *value);
int ldap_get_option(void *ld, int option, void *value)
{
	(void)ld;
	(void)option;
	(void)value;
	return -1; /* LDAP_OPT_ERROR */
}

/* Names of hosts that are not ASCII: no program that keeps to the locale "C", as hasp does, gets
 * anything but an error from libidn2 for them. */
const char *idn2_check_version(const char *required);
const char *idn2_check_version(const char *required)
{
	(void)required;
	return "-";
}

int idn2_lookup_ul(const char *name, char **ret, int flags);
int idn2_lookup_ul(const char *name, char **ret, int flags)
{
	(void)name;
	(void)ret;
	(void)flags;
	return -104; /* IDN2_ICONV_FAIL, the error that it is */
}
