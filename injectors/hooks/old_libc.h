/* old_libc.h - the oldest versions of what hooks need of libdl and libpthread
 * SPDX-License-Identifier: MIT
 *
 * Since 2.34 libc holds both and gives their functions new versions, which a
 * hook built here must not ask for: it would load nowhere older. Include it in
 * each file that calls one of them.
 */
#ifndef DRILL_OLD_LIBC_H
#define DRILL_OLD_LIBC_H

#if defined(__x86_64__)
#define DRILL_OLD(name, since) __asm__(".symver " #name "," #name "@" since);
#define DRILL_OLDEST "GLIBC_2.2.5"
#define DRILL_DLINFO "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define DRILL_OLD(name, since) __asm__(".symver " #name "," #name "@" since);
#define DRILL_OLDEST "GLIBC_2.17"
#define DRILL_DLINFO "GLIBC_2.17"
#else
#define DRILL_OLD(name, since)
#endif

DRILL_OLD(dlopen, DRILL_OLDEST)
DRILL_OLD(dlclose, DRILL_OLDEST)
DRILL_OLD(dlsym, DRILL_OLDEST)
DRILL_OLD(dlerror, DRILL_OLDEST)
DRILL_OLD(dladdr, DRILL_OLDEST)
DRILL_OLD(dlinfo, DRILL_DLINFO)
DRILL_OLD(pthread_once, DRILL_OLDEST)
DRILL_OLD(pthread_key_create, DRILL_OLDEST)
DRILL_OLD(pthread_setspecific, DRILL_OLDEST)
DRILL_OLD(pthread_getspecific, DRILL_OLDEST)

#endif
