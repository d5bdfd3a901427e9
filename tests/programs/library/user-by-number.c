// The user that is found has the number that is looked for.
// todo: assertions=true
#include <assert.h>
#include <pwd.h>
int main(void) {
  struct passwd *user = getpwuid(7);
  if (user)
    assert(user->pw_uid == 7);
  return 0;
}
