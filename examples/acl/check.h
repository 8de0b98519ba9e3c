/* Ends the program with the code, the place and the library's own words when a call fails. */
#ifndef TROUPE_EXAMPLES_ACL_CHECK_H
#define TROUPE_EXAMPLES_ACL_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <acl/acl.h>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    const aclError told = (call);                                                        \
    if (told != ACL_SUCCESS) {                                                           \
      const char* words = aclGetRecentErrMsg();                                          \
      fprintf(stderr, "%s:%d: %s gives %d: %s\n", __FILE__, __LINE__, #call, (int)told,  \
              words != NULL ? words : "");                                               \
      exit(EXIT_FAILURE);                                                                \
    }                                                                                    \
  } while (0)

#endif /* TROUPE_EXAMPLES_ACL_CHECK_H */
