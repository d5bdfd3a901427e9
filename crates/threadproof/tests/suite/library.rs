//! Functions of the library access what is passed to them by address: if another thread writes there, it is a race, and no one may say otherwise.

use verdict::{Budget, Check};

const HEADERS: [&str; 24] = [
    "arpa/inet.h",
    "ctype.h",
    "dirent.h",
    "errno.h",
    "fcntl.h",
    "locale.h",
    "pthread.h",
    "sched.h",
    "semaphore.h",
    "signal.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "sys/resource.h",
    "sys/socket.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/times.h",
    "sys/wait.h",
    "syslog.h",
    "threads.h",
    "time.h",
    "unistd.h",
];

/// What the first thread does while another one writes the first byte of `buf`.
const CALLS: &[&str] = &[
    "r = atoi(buf);",
    "r = strcasecmp(buf, \"x\");",
    "r = strspn(buf, \"x\");",
    "r = (int)strtol(buf, 0, 10);",
    "r = strstr(buf, \"x\") != 0;",
    "char *c = getenv(buf); r = c != 0;",
    "r = setenv(buf, \"x\", 1);",
    "r = remove(buf);",
    "r = atof(buf) > 1;",
    "r= rename(buf, \"y\");",
    "r = access(buf, 0);",
    "r = open(buf, 0);",
    "r = fopen(buf, \"r\") != 0;",
    "r = mkdir(buf, 1);",
    "r = unlink(buf);",
    "r = nanosleep((struct timespec *)buf, 0);",
    "int k; r = sscanf(buf, \"%d\", &k);",
    "r = sigemptyset((sigset_t *)buf);",
    "r = setsockopt(0, 0, 0, buf, 4);",
    "r = (int) times((void *)buf);",
    "r = (int)time((time_t *)buf);",
    "r = clock_gettime(0, (void *)buf);",
    "r = pthread_sigmask(0, (void*)buf, 0);",
    "pthread_t u; pthread_create(&u, (void *)buf, w, 0);",
    "pthread_cond_t q; pthread_mutex_t m; pthread_mutex_lock(&m); pthread_cond_timedwait(&q, &m, (void *)buf);",
    "sem_t s; sem_init(&s, 0, 1); sem_timedwait(&s, (void*)buf);",
    "sem_t s; sem_init(&s, 0, 1); sem_getvalue(&s, (int*)buf);",
    "pthread_mutex_t m; pthread_mutex_timedlock(&m, (void *)buf);",
    "pthread_rwlock_t m; pthread_rwlock_timedrdlock(&m, (void *)buf);",
    "r = pthread_setname_np(t, buf);",
    "r = bind(0, (void*)buf, 8);",
    "r = pthread_setschedparam(t, 0, (void *)buf);",
    "r = pthread_getschedparam(t, &r, (void *)buf);",
    "r = getitimer(0, (void*)buf);",
    "r = sprintf(buf, \"x\");",
    "r = strlen(strdup(buf));",
    "r = memcmp(buf, \"a\", 1);",
    "r = getc((FILE *)stdin); fputs(buf, stdout);",
    "r = fputc(buf[0], stdout);",
    "r = fprintf(stderr, buf);",
    "r = printf(\"%.1s\", buf);",
    "r = (int)mktime((struct tm *)buf);",
    "struct tm k; strftime(buf, 4, \"x\", &k);",
    "r = rand_r((unsigned *)buf);",
    "r = dup(buf[0]);",
    "r = isdigit(buf[0]);",
    "r = usleep(buf[0]);",
    "abs(buf[0]);",
    "r = strcspn(\"x\", buf);",
    "r = strncasecmp(buf, \"x\", 2);",
    "r = pthread_getspecific(buf[0]) != 0;",
    "perror(buf);",
    "r = chdir(buf);",
    "r = opendir(buf) != 0;",
    "r = waitpid(1, (int *)buf, 0);",
    "r = stat(buf, (void *)0);",
    "r = fgetc(stdin) + fwrite(buf, 1, 1, stdout);",
    "r = getrlimit(0, (void *)buf);",
    "r = pipe((int *)buf);",
    "r = readlink(buf, 0, 0);",
    "r = fgets(buf, 3, stdin) != 0;",
    "r = read(0, buf, 3);",
    "r = fread(buf, 1, 3, stdin);",
    "r = lseek(buf[0], 0, 0);",
    "r = toupper(buf[0]);",
    "r = thrd_sleep((struct timespec *)buf, 0);",
    "r = connect(0, (struct sockaddr *)buf, 8);",
    "r = mkfifo(buf, 0);",
    "r = chmod(buf, 0);",
    "r = rmdir(buf);",
    "r = putenv(buf);",
    "r = unsetenv(buf);",
    "r = popen(buf, \"r\") != 0;",
    "r = freopen(buf, \"r\", stdin) != 0;",
    "openlog(buf, 0, 0);",
    "r = sched_setaffinity(0, 8, (cpu_set_t *)buf);",
    "r = setrlimit(0, (struct rlimit *)buf);",
    "r = truncate(buf, 0);",
    "r = wcslen((wchar_t *)buf);",
    "r = sigismember((sigset_t *)buf, 1);",
    "r = getsockname(0, (struct sockaddr *)buf, 0);",
    "r = textdomain(buf) != 0;",
    "r = sendto(0, buf, 1, 0, 0, 0);",
    "r = creat(buf, 0);",
    "r = atol(buf);",
    "r = atoll(buf);",
    "r = strtod(buf, 0) > 1;",
    "r = strcoll(buf, \"a\");",
    "r = strrchr(buf, 'a') != 0;",
    "r = strpbrk(buf, \"a\") != 0;",
    "r = strnlen(buf, 3);",
    "r = memchr(buf, 1, 2) != 0;",
    "r = pthread_setaffinity_np(t, 8, (cpu_set_t *)buf);",
];

/// Calls that do not access it.
const APART: &[&str] = &[
    "r = 3;",
    "r = mlock(buf, 3);",
    "r = strlen(strerror(3));",
    "char *home = getenv(\"HOME\"); if (home) r = home[0];",
    "r = isdigit(buf[1]) + toupper(buf[2]);",
    "struct timespec time = {1, 1}; r = nanosleep(&time, (struct timespec *)buf);",
    "int old; r = pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);",
];

fn is_proved(call: &str) -> bool {
    let headers: String = HEADERS.iter().map(|header| format!("#include <{header}>\n")).collect();
    let text = format!(
        "#define _GNU_SOURCE
{headers}char buf[64] = \"1\";
int r;
void *w(void *a) {{ buf[0] = '2'; return 0; }}
int main(void) {{
  pthread_t t; pthread_create(&t, 0, w, 0);
  {call}
  pthread_join(t, 0);
  return 0;
}}
"
    );
    let source = frontend_c::Source { name: "library.c".to_owned(), text: text.into_bytes() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect(call);
    let budget = Budget::seconds(60.0);
    let outcome =
        threadproof::pipeline::verify(&program, Check::Races, &engine_flow::Flow, &budget, &verdict::Silent);
    matches!(outcome.verdict, checker::Checked::Proved(_))
}

#[test]
fn arguments_of_the_library_are_accessed() {
    for call in CALLS {
        assert!(!is_proved(call), "{call}");
    }
}

#[test]
fn other_memory_is_left_alone() {
    for call in APART {
        assert!(is_proved(call), "{call}");
    }
}
