/* environ.h - the environment that another process was started with
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_ENVIRON_H
#define DRILL_ENVIRON_H

#include <stddef.h>
#include <sys/types.h>

/* Entries "NAME=VALUE", each with its NUL, of together *ret_size bytes; the
 * caller frees them. NULL: gone, or not ours to read. A process in the middle of
 * execve has none for a moment; it is waited for, since who looked just then
 * would take it for a stranger. */
char *drill_environ(pid_t pid, size_t *ret_size);

/* The value of @name in them, or NULL. */
const char *drill_environ_find(const char *env, size_t size, const char *name);

#endif
