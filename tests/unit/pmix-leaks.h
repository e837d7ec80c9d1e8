/* What openpmix itself leaks is not looked at, where the sanitizers are built in. */
#ifndef TESTS_UNIT_PMIX_LEAKS_H
#define TESTS_UNIT_PMIX_LEAKS_H

const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix.so\n";
}

#endif
