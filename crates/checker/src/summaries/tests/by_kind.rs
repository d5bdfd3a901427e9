//! Values of locals by the kind of the thread: programs in which functions that several threads call touch
//! what only one of them passes, and programs in which another one gets it all the same.

use super::broken::refuses;
use super::programs::accepts;

#[test]
fn what_threads_pass_to_one_function_is_told_apart() {
    let programs = [
        "int g,h; void put(int*p,int n){if(n)put(p,n-1);*p=n;} void*w(void*a){put(&h,2);return 0;}
         int main(){pthread_t t;pthread_create(&t,0,w,0);put(&g,3);pthread_join(t,0);return g;}",
        "int g,h; int*same(int*p){return p;} void*w(void*a){*same(&h)=1;return 0;}
         int main(){pthread_t t;pthread_create(&t,0,w,0);*same(&g)=2;pthread_join(t,0);return g;}",
        "int g,h; _Thread_local int*at; void put(int n){if(at)*at=n;} void*w(void*a){at=&h;put(1);return 0;}
         int main(){pthread_t t;pthread_create(&t,0,w,0);at=&g;put(2);pthread_join(t,0);return g;}",
    ];
    for text in programs {
        accepts("each thread passes its own", text);
    }
}

#[test]
fn what_another_thread_may_pass_counts() {
    refuses(&[
        (
            "argument",
            "int g,h; void put(int*p){*p=1;} void*w(void*a){put(a);return 0;}
             int main(){T t;GO(t,w,&g);put(&g);JO(t);return h;}",
        ),
        (
            "memory",
            "int g,h; int*at=&h; void put(int*p){*p=1;} void*w(void*a){put(at);return 0;}
             int main(){T t;at=&g;GO(t,w,0);put(&g);JO(t);}",
        ),
        (
            "result",
            "int g,h; int*pick(int n){return n?&g:&h;} void put(int*p){*p=1;}
             void*w(void*a){put(pick(__VERIFIER_nondet_int()));return 0;}
             int main(){T t;GO(t,w,0);put(pick(1));JO(t);}",
        ),
        (
            "recursion",
            "int g,h; void put(int*p,int*q,int n){if(n)put(q,p,n-1);else *p=1;}
             void*w(void*a){put(&h,&g,__VERIFIER_nondet_int()&1);return 0;}
             int main(){T t;GO(t,w,0);put(&g,&g,0);JO(t);}",
        ),
        (
            "pointer to the function",
            "int g,h; void put(int*p){*p=1;} void(*volatile by)(int*)=put; void*w(void*a){by(&g);return 0;}
             int main(){T t;GO(t,w,0);put(&g);JO(t);}",
        ),
        (
            "joined",
            "int g,h; void put(int*p){*p=1;} void*give(void*a){return &g;}
             void*w(void*a){T t;void*r;GO(t,give,0);pthread_join(t,&r);put(r);return 0;}
             int main(){T t;GO(t,w,0);put(&g);JO(t);}",
        ),
        (
            "published variable",
            "int g,h; _Thread_local int*at; int**first; M m=MI;
             void put(int n){L(m);int*p=at;U(m);*p=n;}
             void*w(void*a){L(m);*first=&h;at=&h;U(m);put(1);return 0;}
             int main(){T t;first=&at;at=&g;GO(t,w,0);put(2);JO(t);}",
        ),
        (
            "copied variable",
            "int g,h; int*from=&g; _Thread_local int*at; void put(int n){if(at)*at=n;}
             void*w(void*a){at=&h;memcpy(&at,&from,sizeof at);put(1);return 0;}
             int main(){T t;GO(t,w,0);at=&g;put(2);JO(t);}",
        ),
        (
            "variable of two kinds",
            "int g,h; _Thread_local int*at; void put(int n){if(at)*at=n;}
             void set(int*p){at=p;} void*w(void*a){set(&h);set(&g);put(1);return 0;}
             int main(){T t;GO(t,w,0);set(&g);put(2);JO(t);}",
        ),
        (
            "list",
            "#include <stdarg.h>\n#include <stdio.h>\nchar text[4]; M m=MI;
             void say(const char*f,...){va_list l;va_start(l,f);L(m);vfprintf(stderr,f,l);U(m);va_end(l);}
             void*w(void*a){say(\"%s\",text);return 0;}
             int main(){T t;GO(t,w,0);say(\"%s\",text);text[0]=1;JO(t);}",
        ),
        (
            "threads of one kind",
            "int g,h; void put(int*p){*p=1;} void*w(void*a){put(&g);return 0;}
             int main(){T t,u;GO(t,w,0);GO(u,w,0);put(&h);JO(t);JO(u);}",
        ),
    ]);
}
