//! Programs with races of many kinds: not even the strongest annotation that could be made of them is
//! accepted, and not because of executions.

use super::builder::{Builder, read, verdict};
use crate::ProofError;

const HEAD: &str = "#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <semaphore.h>
#include <stdint.h>
extern int __VERIFIER_nondet_int(void);
#define L(m) pthread_mutex_lock(&(m))
#define U(m) pthread_mutex_unlock(&(m))
#define MI PTHREAD_MUTEX_INITIALIZER
typedef pthread_mutex_t M;
typedef pthread_t T;
#define GO(t, f, a) pthread_create(&(t), 0, f, (void *)(a))
#define JO(t) pthread_join(t, 0)
";

/// None of these is accepted.
pub(super) fn refuses(programs: &[(&str, &str)]) {
    for (name, text) in programs {
        let program = read(&format!("{HEAD}{text}\n"));
        match verdict(&program, &Builder::strongest(&program)) {
            Ok(()) => panic!("{name} is accepted"),
            Err(ProofError::Execution(exception)) => {
                panic!("{name} is stopped by executions alone: {exception}")
            }
            Err(_) => {}
        }
    }
}

#[test]
fn pointers_and_arrays() {
    refuses(&[
        ("ptr1", "int g; int*p=&g; void*w(void*a){*p=1;return 0;} int main(){T t;GO(t,w,0);g=2;JO(t);}"),
        (
            "ptr2",
            "int g,h; int*volatile p=&h; void*w(void*a){*p=1;return 0;} int main(){T t;p=&g;
             GO(t,w,0);g=2;JO(t);}",
        ),
        (
            "ptr3",
            "struct s{int*q;}; int g; struct s*sp; void*w(void*a){*sp->q=1;return 0;} int main(){
             T t;sp=malloc(sizeof*sp);sp->q=&g;GO(t,w,0);g=2;JO(t);}",
        ),
        (
            "ptrptr",
            "int g; int*p; int**pp=&p; void*w(void*a){**pp=1;return 0;} int main(){T t;*pp=&g;
             GO(t,w,0);g=2;JO(t);}",
        ),
        (
            "arr-index",
            "int a[4]; void*w(void*x){int i=(int)(long)x;a[i/2]++;return 0;} int main(){T t[4];
             for(long i=0;i<4;i++)GO(t[i],w,i);for(int i=0;i<4;i++)JO(t[i]);}",
        ),
        (
            "bitfield",
            "struct s{int a:3;int b:5;} f; void*w(void*z){f.a=1;return 0;} int main(){T t;
             GO(t,w,0);f.b=2;JO(t);}",
        ),
        (
            "memcpy-gap",
            "struct S{char a[32],b[32],c[32];} s; char src[96]; void*w(void*z){char q=s.a[0];
             memcpy(s.a,src,64);return q?z:0;} int main(){T t;GO(t,w,0);char q=s.c[0];
             memcpy(s.b,src,64);JO(t);return q;}",
        ),
        (
            "memcpy-both",
            "struct S{char a[64];} s; void*w(void*z){struct S k;memset(&k,1,64);s=k;return 0;}
             int main(){T t;GO(t,w,0);struct S k;memset(&k,2,64);s=k;JO(t);}",
        ),
        (
            "vla",
            "void*w(void*z){((int*)z)[1]=1;return 0;} int main(){int n=__VERIFIER_nondet_int();
             if(n<3||n>9)return 0;int a[n];T t;GO(t,w,a);a[1]=2;JO(t);}",
        ),
    ]);
}

#[test]
fn starts_in_loops() {
    refuses(&[
        (
            "loop-twice",
            "int g; void*w(void*x){g++;return 0;} int main(){T t;for(int i=0;i<2;i++)GO(t,w,0);
             JO(t);return g;}",
        ),
        (
            "loop-arg-same",
            "int a[4]; void*w(void*x){int*p=x;*p=1;return 0;} int main(){T t[4];for(int i=0;i<4;
             i++)GO(t[i],w,&a[i&1]);for(int i=0;i<4;i++)JO(t[i]);}",
        ),
        (
            "loop-arg-half",
            "struct s{int x,y;}; struct s a[4]; void*w(void*x){struct s*p=x;p[0].x=1;p[1].x=2;
             return 0;} int main(){T t[3];for(int i=0;i<3;i++)GO(t[i],w,&a[i]);for(int i=0;i<3;
             i++)JO(t[i]);}",
        ),
        (
            "loop-neg",
            "struct s{int x,y;}; struct s a[5]; void*w(void*x){struct s*p=x;p->x=1;p[-1].x=2;
             return 0;} int main(){T t[3];for(int i=1;i<4;i++)GO(t[i-1],w,&a[i]);for(int i=0;i<3;
             i++)JO(t[i]);}",
        ),
        (
            "nested-start",
            "int a[8]; void*w(void*x){int*p=x;*p=1;return 0;} int main(){T t[8];for(int k=0;k<2;
             k++)for(int i=0;i<4;i++)GO(t[i+4*k],w,&a[i]);for(int i=0;i<8;i++)JO(t[i]);}",
        ),
        (
            "join-one-less",
            "int g; void*w(void*x){L(*(M*)x);g++;U(*(M*)x);return 0;} M m=MI; int main(){T t[4];
             for(int i=0;i<4;i++)GO(t[i],w,&m);for(int i=0;i<3;i++)JO(t[i]);g=5;}",
        ),
        (
            "join-from-1",
            "int g; M m=MI; void*w(void*x){L(m);g++;U(m);return 0;} int main(){T t[4];
             for(int i=0;i<4;i++)GO(t[i],w,0);for(int i=1;i<4;i++)JO(t[i]);g=5;}",
        ),
        (
            "join-step2",
            "int g; M m=MI; void*w(void*x){L(m);g++;U(m);return 0;} int main(){T t[4];
             for(int i=0;i<4;i++)GO(t[i],w,0);for(int i=0;i<4;i+=2)JO(t[i]);g=5;}",
        ),
        (
            "join-n-input",
            "int g; M m=MI; void*w(void*x){L(m);g++;U(m);return 0;} int main(){T t[9];
             int n=__VERIFIER_nondet_int();if(n<0||n>9)return 0;for(int i=0;i<n;i++)GO(t[i],w,0);
             n=__VERIFIER_nondet_int();if(n<0||n>9)return 0;for(int i=0;i<n&&i<1;i++)JO(t[i]);
             g=5;}",
        ),
        (
            "main-as-thread",
            "int x; int main(int c,char**v); void*w(void*z){x++;return (void*)(long)main(0,0);}
             int main(int c,char**v){T t;if(c){GO(t,w,0);}x++;return 0;}",
        ),
        (
            "start-self",
            "int x; void*w(void*z){T t;if(z){GO(t,w,0);}x++;return 0;} int main(){T t;GO(t,w,1);
             JO(t);}",
        ),
        (
            "goto-restart",
            "int x; void*w(void*z){x++;return 0;} int main(){T t;int n=0;again:GO(t,w,0);
             if(n++<1)goto again;JO(t);}",
        ),
    ]);
}

#[test]
fn handles() {
    refuses(&[
        (
            "handle-over",
            "int g; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;} int main(){T t;
             GO(t,w,0);GO(t,v,0);JO(t);g=2;}",
        ),
        (
            "handle-over2",
            "int g; T t; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;} void f(void){
             GO(t,v,0);} int main(){GO(t,w,0);f();JO(t);g=2;}",
        ),
        (
            "handle-over3",
            "int g; T t[2]; M m=MI; void*w(void*x){L(m);g++;U(m);return 0;} void*v(void*x){
             return 0;} int main(){for(int i=0;i<2;i++)GO(t[i],w,0);GO(t[0],v,0);for(int i=0;i<2;
             i++)JO(t[i]);g=5;}",
        ),
        (
            "handle-copy",
            "int g; T t,u; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;} int main(){
             GO(u,v,0);GO(t,w,0);t=u;JO(t);g=2;}",
        ),
        (
            "handle-memcpy",
            "int g; T t,u; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;} int main(){
             GO(u,v,0);GO(t,w,0);memcpy(&t,&u,sizeof t);JO(t);g=2;}",
        ),
        (
            "handle-ptr",
            "int g; T t,u; T*q=&t; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;}
             int main(){GO(u,v,0);GO(t,w,0);*q=u;JO(t);g=2;}",
        ),
        (
            "handle-branch",
            "int g; void*w(void*x){g=1;return 0;} void*v(void*x){return 0;} int main(){T t,u;
             GO(u,v,0);GO(t,w,0);if(__VERIFIER_nondet_int())JO(t);else JO(u);g=2;}",
        ),
        (
            "handle-other-thread",
            "int g; T t,u; void*v(void*x){return 0;} void*o(void*x){t=u;return 0;}
             void*w(void*x){g=1;return 0;} int main(){T k;GO(u,v,0);GO(t,w,0);GO(k,o,0);JO(k);
             JO(t);g=2;}",
        ),
        (
            "detach",
            "int g; void*w(void*x){g=1;return 0;} int main(){T t;GO(t,w,0);pthread_detach(t);
             g=2;}",
        ),
        (
            "handle-moved-call",
            "int x; T a0,a1,b0,c; M m=MI; void*w(void*z){L(m);x++;U(m);return 0;} void*v(void*z){
             return 0;} void clobber(void){b0=c;} int main(){GO(c,v,0);GO(a0,w,0);GO(a1,w,0);
             T h=a0;b0=h;clobber();JO(b0);JO(a1);x=1;}",
        ),
        (
            "handle-struct-call",
            "int x; struct k{T t;int n;} k[3]; T c; M m=MI; void*w(void*z){L(m);x++;U(m);
             return 0;} void*v(void*z){return 0;} void clobber(struct k*p){p->t=c;} int main(){
             GO(c,v,0);for(int i=0;i<3;i++)GO(k[i].t,w,0);clobber(&k[1]);for(int i=0;i<3;
             i++)JO(k[i].t);x=1;}",
        ),
        (
            "handle-shift",
            "int x; T t[4]; M m=MI; void*w(void*z){L(m);x++;U(m);return 0;} int main(){
             for(int i=0;i<3;i++)GO(t[i],w,0);for(int i=0;i<3;i++)t[i]=t[i+1];for(int i=0;i<2;
             i++)JO(t[i]);x=1;}",
        ),
        (
            "handle-same-slot",
            "int x; T t[4]; M m=MI; void*w(void*z){L(m);x++;U(m);return 0;} int main(){
             for(int i=0;i<4;i++)GO(t[i%2],w,0);for(int i=0;i<2;i++)JO(t[i]);x=1;}",
        ),
    ]);
}

#[test]
fn children() {
    refuses(&[
        (
            "child-of-joined",
            "int g; void*c(void*x){g=1;return 0;} void*w(void*x){T t;GO(t,c,0);return 0;}
             int main(){T t;GO(t,w,0);JO(t);g=2;}",
        ),
        (
            "child-of-joined2",
            "int g; void*c(void*x){g=1;return 0;} void*w(void*x){T t;GO(t,c,0);
             if(__VERIFIER_nondet_int())JO(t);return 0;} int main(){T t;GO(t,w,0);JO(t);g=2;}",
        ),
        (
            "child-exit",
            "int g; void*c(void*x){g=1;return 0;} void*w(void*x){T t;GO(t,c,0);
             if(__VERIFIER_nondet_int())pthread_exit(0);JO(t);return 0;} int main(){T t;
             GO(t,w,0);JO(t);g=2;}",
        ),
        (
            "grandchild",
            "int g; void*d(void*x){g=1;return 0;} void*c(void*x){T t;GO(t,d,0);return 0;}
             void*w(void*x){T t;GO(t,c,0);JO(t);return 0;} int main(){T t;GO(t,w,0);JO(t);g=2;}",
        ),
        (
            "callee-started",
            "int x; T t; void*w(void*z){x++;return 0;} void f(void){GO(t,w,0);} int main(){x=1;
             f();x=2;JO(t);}",
        ),
        (
            "callee-join-cond",
            "int x; T t; void*w(void*z){x++;return 0;} void f(int c){if(c)JO(t);} int main(){
             GO(t,w,0);f(__VERIFIER_nondet_int());x=2;}",
        ),
    ]);
}

#[test]
fn recursion_and_function_pointers() {
    refuses(&[
        (
            "recursion",
            "int g; void*w(void*x){g++;return 0;} void f(int n){T t;if(n==0)return;GO(t,w,0);
             f(n-1);JO(t);} int main(){f(2);}",
        ),
        (
            "recursion2",
            "int g; void*w(void*x){g=1;return 0;} void f(int n){T t;GO(t,w,0);if(n)f(n-1);g=2;
             JO(t);} int main(){f(1);}",
        ),
        (
            "recursion-unlock",
            "int g; M m=MI; void f(int n){if(n)f(n-1);else U(m);} void*w(void*x){L(m);f(2);g++;
             return 0;} int main(){T t;GO(t,w,0);L(m);g++;U(m);JO(t);}",
        ),
        (
            "recursion-frame",
            "void*w(void*x){*(int*)x=1;return 0;} void f(int n,int*p){int o=0;if(n)f(n-1,&o);
             else{T t;GO(t,w,p);*p=2;JO(t);}} int main(){f(2,0);}",
        ),
        (
            "fptr",
            "int g; M m=MI; void un(void){U(m);} void no(void){} void (*volatile fp)(void)=no;
             void*w(void*x){L(m);fp();g++;U(m);return 0;} int main(){T t;fp=un;GO(t,w,0);L(m);
             g++;U(m);JO(t);}",
        ),
        (
            "fptr-start",
            "int g; void*a(void*x){g=1;return 0;} void*b(void*x){return 0;}
             void*(*tab[2])(void*)={b,a}; int main(){T t,u;GO(t,tab[0],0);GO(u,tab[1],0);JO(t);
             g=2;JO(u);}",
        ),
        (
            "fptr-callback",
            "int g; void cb(void){g++;} void run(void(*f)(void)){f();} void*w(void*x){run(cb);
             return 0;} int main(){T t;GO(t,w,0);run(cb);JO(t);}",
        ),
        (
            "fptr-arg",
            "int g; void cb(void){g++;} void*w(void*x){((void(*)(void))x)();return 0;}
             int main(){T t;GO(t,w,cb);g=2;JO(t);}",
        ),
        (
            "fptr-struct",
            "struct o{void(*f)(int*);}; int g; void cb(int*p){*p=1;} struct o oo={cb};
             void*w(void*x){struct o*q=x;q->f(&g);return 0;} int main(){T t;GO(t,w,&oo);g=2;
             JO(t);}",
        ),
    ]);
}

#[test]
fn objects_of_threads() {
    refuses(&[
        (
            "tls-passed",
            "__thread int v; void*w(void*x){*(int*)x=1;return 0;} int main(){T t;GO(t,w,&v);v=2;
             JO(t);}",
        ),
        (
            "tls-global",
            "__thread int v; int*p; void*w(void*x){*p=1;return 0;} int main(){T t;p=&v;GO(t,w,0);
             v=2;JO(t);}",
        ),
        (
            "tls-struct",
            "__thread int v; struct s{int*p;}; void*w(void*x){struct s*q=x;*q->p=1;return 0;}
             int main(){T t;struct s s;s.p=&v;GO(t,w,&s);v=2;JO(t);}",
        ),
        (
            "tls-int",
            "__thread int v; uintptr_t n; void*w(void*x){*(int*)n=1;return 0;} int main(){T t;
             n=(uintptr_t)&v;GO(t,w,0);v=2;JO(t);}",
        ),
        (
            "tls-lock",
            "__thread M m; int g; void*w(void*x){L(m);g++;U(m);return 0;} int main(){T t,u;
             GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "frame-lock",
            "int g; void*w(void*x){M m=MI;L(m);g++;U(m);return 0;} int main(){T t,u;GO(t,w,0);
             GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "frame-passed",
            "void*w(void*x){*(int*)x=1;return 0;} int main(){T t;int o=0;GO(t,w,&o);o=2;JO(t);}",
        ),
        (
            "frame-passed2",
            "struct s{int*p;}; void*w(void*x){struct s*q=x;*q->p=1;return 0;} int main(){T t;
             int o=0;struct s s={&o};GO(t,w,&s);o=2;JO(t);}",
        ),
        (
            "frame-copy",
            "struct s{int*p;}; struct s gs; void*w(void*x){*gs.p=1;return 0;} int main(){T t;
             int o=0;struct s s={&o};gs=s;GO(t,w,0);o=2;JO(t);}",
        ),
        (
            "frame-memcpy",
            "struct s{int*p;}; struct s gs; void*w(void*x){*gs.p=1;return 0;} int main(){T t;
             int o=0;struct s s={&o};memcpy(&gs,&s,sizeof s);GO(t,w,0);o=2;JO(t);}",
        ),
        (
            "frame-ended",
            "void*w(void*x){*(int*)x=1;return 0;} T t; void f(void){int o=0;GO(t,w,&o);}
             int main(){f();JO(t);}",
        ),
        (
            "frame-result",
            "void*w(void*x){int*o=malloc(4);*o=1;T t;extern void*v(void*);GO(t,v,o);return o;}
             void*v(void*x){*(int*)x=3;return 0;} int main(){T t;void*r;GO(t,w,0);
             pthread_join(t,&r);*(int*)r=2;}",
        ),
    ]);
}

#[test]
fn allocated_objects() {
    refuses(&[
        (
            "heap-shared",
            "int main2; void*w(void*x){*(int*)x=1;return 0;} int main(){T t;int*p=malloc(4);
             GO(t,w,p);*p=2;JO(t);}",
        ),
        (
            "heap-fresh-late",
            "int*q; void*w(void*x){if(q)*q=1;return 0;} int main(){T t;GO(t,w,0);int*p=malloc(4);
             q=p;*p=2;JO(t);}",
        ),
        (
            "heap-two",
            "int*q; void*w(void*x){int*p=x;*p=1;return 0;} int main(){T t,u;int*p=malloc(4);
             GO(t,w,p);GO(u,w,p);JO(t);JO(u);}",
        ),
        (
            "heap-handover-keep",
            "void*w(void*x){int*p=x;*p=1;return 0;} int main(){T t;int*p=malloc(8);int*k=p+1;
             GO(t,w,p);k[-1]=2;JO(t);}",
        ),
        (
            "heap-handover-caller",
            "void*w(void*x){int*p=x;*p=1;return 0;} T t; void f(int*p){GO(t,w,p);} int main(){
             int*p=malloc(8);f(p);*p=2;JO(t);}",
        ),
        (
            "heap-list",
            "struct n{struct n*x;int v;}; struct n*h; M m=MI; void*w(void*x){
             struct n*p=malloc(sizeof*p);p->v=1;L(m);p->x=h;h=p;U(m);p->v=2;return 0;}
             int main(){T t,u;GO(t,w,0);GO(u,w,0);L(m);if(h)h->v=3;U(m);JO(t);JO(u);}",
        ),
        (
            "heap-result-fresh",
            "int*keep; int*mk(void){int*p=malloc(4);keep=p;return p;} void*w(void*x){
             if(keep)*keep=1;return 0;} int main(){T t;GO(t,w,0);int*p=mk();*p=2;JO(t);}",
        ),
        (
            "heap-through-int",
            "uintptr_t k; void*w(void*x){if(k)*(int*)k=1;return 0;} int main(){T t;GO(t,w,0);
             int*p=malloc(4);k=(uintptr_t)p^0;*p=2;JO(t);}",
        ),
        (
            "free-race",
            "int*q; void*w(void*x){*q=1;return 0;} int main(){T t;q=malloc(4);GO(t,w,0);free(q);
             JO(t);}",
        ),
        (
            "free-reuse",
            "int*q; M m=MI; void*w(void*x){L(m);int*p=q;U(m);if(p)*p=1;return 0;} int main(){T t;
             q=malloc(4);GO(t,w,0);L(m);int*p=q;q=0;U(m);free(p);int*r=malloc(4);*r=2;JO(t);}",
        ),
    ]);
}

#[test]
fn locks() {
    refuses(&[
        (
            "lock-copied",
            "struct s{M m;int x;}; struct s a={MI,0}; struct s*volatile q=&a; void*w(void*z){
             struct s b=*q;L(b.m);q->x++;U(b.m);return 0;} int main(){T t;GO(t,w,0);L(a.m);a.x++;
             U(a.m);JO(t);}",
        ),
        (
            "lock-other-elem",
            "struct s{M m;int x;}; struct s a[2]={{MI,0},{MI,0}}; void*w(void*z){L(a[0].m);
             a[1].x++;U(a[0].m);return 0;} int main(){T t;GO(t,w,0);L(a[1].m);a[1].x++;U(a[1].m);
             JO(t);}",
        ),
        (
            "lock-next",
            "struct s{M m;int x;}; void inc(struct s*p){L(p->m);p[1].x++;U(p->m);}
             struct s a[3]; void*w(void*z){inc(&a[0]);return 0;} int main(){T t;GO(t,w,0);
             L(a[1].m);a[1].x++;U(a[1].m);JO(t);}",
        ),
        (
            "lock-per-thread",
            "struct s{M*m;int*x;}; int x; M ms[2]={MI,MI}; void*w(void*z){struct s*p=z;L(*p->m);
             (*p->x)++;U(*p->m);return 0;} int main(){T t,u;struct s a={&ms[0],&x},b={&ms[1],&x};
             GO(t,w,&a);GO(u,w,&b);JO(t);JO(u);}",
        ),
        (
            "lock-index",
            "M m[4]; int x[4]; void*w(void*z){int i=(int)(long)z;L(m[i]);x[i/2]++;U(m[i]);
             return 0;} int main(){T t[4];for(long i=0;i<4;i++)GO(t[i],w,i);for(int i=0;i<4;
             i++)JO(t[i]);}",
        ),
        (
            "lock-swap",
            "M a=MI,b=MI; M*volatile l=&a; int x; void*w(void*z){M*k=l;L(*k);x++;U(*k);
             return 0;} int main(){T t,u;GO(t,w,0);l=&b;GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "lock-reinit",
            "M a=MI; int x; void*w(void*z){L(a);x++;U(a);return 0;} int main(){T t,u;GO(t,w,0);
             GO(u,w,0);pthread_mutex_init(&a,0);JO(t);JO(u);}",
        ),
        (
            "lock-memset",
            "struct s{M m;int x;}; struct s a; void*w(void*z){L(a.m);a.x++;U(a.m);return 0;}
             int main(){T t,u;GO(t,w,0);memset(&a,0,sizeof a);JO(t);}",
        ),
        (
            "lock-union",
            "union u{M m;int x[10];}; union u a; int x; void*w(void*z){L(a.m);x++;U(a.m);
             return 0;} int main(){T t,u;GO(t,w,0);GO(u,w,0);a.x[0]=0;JO(t);JO(u);}",
        ),
        (
            "lock-heap-new",
            "int x; void*w(void*z){M*m=malloc(sizeof*m);pthread_mutex_init(m,0);L(*m);x++;U(*m);
             return 0;} int main(){T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "lock-unlock-by-other",
            "M m=MI; int x; void*w(void*z){L(m);x++;U(m);return 0;} void*o(void*z){U(m);
             return 0;} int main(){T t,u,v;GO(t,w,0);GO(u,w,0);GO(v,o,0);JO(t);JO(u);JO(v);}",
        ),
        (
            "lock-cond-unlock",
            "M m=MI; int x; void*w(void*z){L(m);if(__VERIFIER_nondet_int())U(m);x++;U(m);
             return 0;} int main(){T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "trylock",
            "M m=MI; int x; void*w(void*z){pthread_mutex_trylock(&m);x++;U(m);return 0;}
             int main(){T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "rw-read",
            "pthread_rwlock_t l=PTHREAD_RWLOCK_INITIALIZER; int x; void*w(void*z){
             pthread_rwlock_rdlock(&l);x++;pthread_rwlock_unlock(&l);return 0;} int main(){T t,u;
             GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "rw-read-callee",
            "pthread_rwlock_t l=PTHREAD_RWLOCK_INITIALIZER; int x; void in(int r){
             if(r)pthread_rwlock_rdlock(&l);else pthread_rwlock_wrlock(&l);} void*w(void*z){
             in(__VERIFIER_nondet_int());x++;pthread_rwlock_unlock(&l);return 0;} int main(){
             T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "rw-unlock",
            "pthread_rwlock_t l=PTHREAD_RWLOCK_INITIALIZER; int x; void*w(void*z){
             pthread_rwlock_wrlock(&l);pthread_rwlock_unlock(&l);x++;return 0;} int main(){T t,u;
             GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "rw-tryrd",
            "pthread_rwlock_t l=PTHREAD_RWLOCK_INITIALIZER; int x; void*w(void*z){
             if(!pthread_rwlock_tryrdlock(&l)){x++;pthread_rwlock_unlock(&l);}return 0;}
             int main(){T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "cond-callee",
            "M m=MI; pthread_cond_t c=PTHREAD_COND_INITIALIZER; int x,y; void wt(void){
             pthread_cond_wait(&c,&m);} void*w(void*z){L(m);int k=x;wt();U(m);L(m);x=k;U(m);
             return 0;} void*v(void*z){x=3;pthread_cond_signal(&c);return 0;} int main(){T t,u;
             GO(t,w,0);GO(u,v,0);JO(t);JO(u);}",
        ),
        (
            "cond-other-mutex",
            "M m=MI,n=MI; pthread_cond_t c=PTHREAD_COND_INITIALIZER; int x; void*w(void*z){L(m);
             L(n);pthread_cond_wait(&c,&n);U(n);x++;U(m);return 0;} void*v(void*z){L(n);x=3;U(n);
             pthread_cond_signal(&c);return 0;} int main(){T t,u;GO(t,w,0);GO(u,v,0);JO(t);
             JO(u);}",
        ),
        (
            "spin-other",
            "pthread_spinlock_t s[2]; int x; void*w(void*z){pthread_spinlock_t*k=z;
             pthread_spin_lock(k);x++;pthread_spin_unlock(k);return 0;} int main(){T t,u;
             pthread_spin_init(&s[0],0);pthread_spin_init(&s[1],0);GO(t,w,&s[0]);GO(u,w,&s[1]);
             JO(t);JO(u);}",
        ),
    ]);
}

#[test]
fn atomics_and_others() {
    refuses(&[
        (
            "atomic-none",
            "atomic_int f; int x; void*w(void*z){x=1;
             atomic_store_explicit(&f,1,memory_order_relaxed);return 0;} int main(){T t;
             GO(t,w,0);if(atomic_load_explicit(&f,memory_order_relaxed))x=2;JO(t);}",
        ),
        (
            "atomic-wrong-flag",
            "atomic_int f,g; int x; void*w(void*z){x=1;f=1;return 0;} int main(){T t;GO(t,w,0);
             if(!g)x=2;JO(t);}",
        ),
        (
            "atomic-mixed",
            "atomic_int x; void*w(void*z){x++;return 0;} int main(){T t;GO(t,w,0);
             *(volatile int*)&x=2;JO(t);}",
        ),
        (
            "atomic-spin-bad",
            "atomic_int l; int x; void*w(void*z){while(atomic_load(&l));atomic_store(&l,1);x++;
             atomic_store(&l,0);return 0;} int main(){T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "atomic-flag-clear",
            "atomic_flag l=ATOMIC_FLAG_INIT; int x; void*w(void*z){
             while(atomic_flag_test_and_set(&l));atomic_flag_clear(&l);x++;return 0;} int main(){
             T t,u;GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "once-bad",
            "pthread_once_t o=PTHREAD_ONCE_INIT,q=PTHREAD_ONCE_INIT; int x; void in(void){x=1;}
             void*w(void*z){pthread_once(&o,in);return 0;} void*v(void*z){pthread_once(&q,in);
             return 0;} int main(){T t,u;GO(t,w,0);GO(u,v,0);JO(t);JO(u);}",
        ),
        (
            "sem",
            "sem_t s; int x; void*w(void*z){sem_wait(&s);x++;sem_post(&s);return 0;} int main(){
             T t,u;sem_init(&s,0,2);GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "barrier",
            "pthread_barrier_t b; int x; void*w(void*z){pthread_barrier_wait(&b);x++;return 0;}
             int main(){T t,u;pthread_barrier_init(&b,0,2);GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "cleanup",
            "int x; M m=MI; void un(void*a){U(*(M*)a);} void*w(void*z){L(m);
             pthread_cleanup_push(un,&m);pthread_cleanup_pop(1);x++;return 0;} int main(){T t,u;
             GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "key-destructor",
            "int x; pthread_key_t k; void de(void*a){x++;} void*w(void*z){
             pthread_setspecific(k,&x);return 0;} int main(){T t,u;pthread_key_create(&k,de);
             GO(t,w,0);GO(u,w,0);JO(t);JO(u);}",
        ),
        (
            "atexit",
            "int x; void at(void){x++;} void*w(void*z){x++;return 0;} int main(){T t;atexit(at);
             GO(t,w,0);return 0;}",
        ),
    ]);
}

#[test]
fn arguments() {
    refuses(&[
        (
            "arg-reuse",
            "struct j{int v;} a[4]; void*w(void*z){struct j*p=z;p->v++;return 0;} int main(){
             T t[8];for(int r=0;r<2;r++){for(int i=0;i<4;i++)GO(t[i+4*r],w,&a[i]);} for(int i=0;
             i<8;i++)JO(t[i]);}",
        ),
        (
            "arg-main",
            "struct j{int v;} a[4]; void*w(void*z){struct j*p=z;p->v++;return 0;} int main(){
             T t[4];for(int i=0;i<4;i++){GO(t[i],w,&a[i]);a[i].v=1;} for(int i=0;i<4;
             i++)JO(t[i]);}",
        ),
        (
            "arg-main2",
            "struct j{int v;} a[4]; void*w(void*z){struct j*p=z;p->v++;return 0;} int main(){
             T t[4];for(int i=0;i<4;i++)GO(t[i],w,&a[i]); for(int i=0;i<4;i++){a[i].v=1;
             JO(t[i]);}}",
        ),
        (
            "arg-main3",
            "struct j{int v;} a[4]; void*w(void*z){struct j*p=z;p->v++;return 0;} int main(){
             T t[4];for(int i=0;i<4;i++)GO(t[i],w,&a[i]); for(int i=0;i<4;i++){JO(t[i]);
             a[(i+1)%4].v=1;}}",
        ),
        (
            "arg-next",
            "struct j{int v;} a[5]; void*w(void*z){struct j*p=z;p->v++;return 0;} int main(){
             T t[4];for(int i=0;i<4;i++){a[i+1].v=1;GO(t[i],w,&a[i+1]);a[i].v=2;} for(int i=0;
             i<4;i++)JO(t[i]);}",
        ),
        (
            "arg-overlap",
            "char a[64]; void*w(void*z){*(long*)z=1;return 0;} int main(){T t[4];for(int i=0;i<4;
             i++)GO(t[i],w,a+4*i); for(int i=0;i<4;i++)JO(t[i]);}",
        ),
        (
            "arg-two-kinds",
            "struct j{int v;} a[4]; void*w(void*z){struct j*p=z;p->v++;return 0;} void*v(void*z){
             struct j*p=z;p->v++;return 0;} int main(){T t[4],u[4];for(int i=0;i<4;i++){
             GO(t[i],w,&a[i]);GO(u[i],v,&a[i]);} for(int i=0;i<4;i++){JO(t[i]);JO(u[i]);}}",
        ),
    ]);
}

/// Which lock is meant is said by a number.
#[test]
fn numbered_locks() {
    let head = "M m[4], k[4]; int x, c, at=1; void l(int n){L(m[n]);} void u(int n){U(m[n]);}";
    let go = "int main(){T t,s;GO(t,f,0);GO(s,g,0);}";
    let pairs = [
        ("other", "void*f(void*p){l(1);x++;u(1);return 0;} void*g(void*p){l(2);x++;u(2);return 0;}"),
        (
            "assigned",
            "void a(int n){if(c)n=n+1;L(m[n]);} void*f(void*p){a(1);x++;return 0;}
             void*g(void*p){c=1;a(1);x++;return 0;}",
        ),
        (
            "recursive",
            "void a(int n){if(n>0){a(n-1);return;}L(m[n+c]);} void*f(void*p){a(2);x++;return 0;}
             void*g(void*p){c=1;a(2);x++;return 0;}",
        ),
        ("early", "void*f(void*p){l(1);u(1);x++;return 0;} void*g(void*p){l(1);x++;u(1);return 0;}"),
        (
            "narrow",
            "void a(unsigned char n){L(m[n]);} void*f(void*p){a(258);x++;return 0;}
             void*g(void*p){a(1);x++;return 0;}",
        ),
        (
            "arrays",
            "void a(M*q,int n){L(q[n]);} void*f(void*p){a(m,1);x++;return 0;}
             void*g(void*p){a(k,1);x++;return 0;}",
        ),
        (
            "pointer",
            "void none(int n){} void*f(void*p){void(*a)(int)=c?l:none;a(1);x++;return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
        (
            "overwritten",
            "void*f(void*p){l(1);x++;u(1);return 0;}
             void*g(void*p){memset(m,0,sizeof m);l(1);x++;u(1);return 0;}",
        ),
        (
            "given-back-by-others",
            "void*f(void*p){l(1);x++;u(1);return 0;} void*g(void*p){u(1);l(1);x++;u(1);return 0;}",
        ),
        (
            "global",
            "void a(int n){L(m[at]);} void*f(void*p){a(1);x++;return 0;}
             void*g(void*p){at=2;a(1);x++;return 0;}",
        ),
        (
            "one-of-two",
            "void*f(void*p){int n=c?1:2;l(n);x++;u(n);return 0;}
             void*g(void*p){int n=1;l(n);x++;u(n);return 0;}",
        ),
        (
            "given-back-by-pointer",
            "void a(M*q){U(*q);} void*f(void*p){l(1);a(&m[1]);x++;return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
        (
            "given-back-somewhere",
            "void a(M*q){U(*q);} void*f(void*p){l(1);x++;u(1);return 0;}
             void*g(void*p){l(2);a(&m[c]);l(1);x++;u(1);return 0;}",
        ),
        (
            "loop",
            "void*f(void*p){for(int i=1;i<3;i++){l(i);x++;u(i);}return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
        (
            "callback",
            "void a(int n){u(n);x++;l(n);} void*f(void*p){void(*w)(int)=a;l(1);w(1);u(1);return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
        (
            "wraps",
            "void a(unsigned n){L(m[n*2u+1u]);} void*f(void*p){a(0);x++;return 0;}
             void*g(void*p){a(1);x++;return 0;}",
        ),
        (
            "nested",
            "void a(void){l(1);u(1);} void*f(void*p){l(1);x++;u(1);return 0;}
             void*g(void*p){l(2);a();x++;u(2);return 0;}",
        ),
        (
            "all-given-back",
            "void a(void){for(int i=0;i<4;i++)U(m[i]);} void*f(void*p){l(1);a();x++;return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
        (
            "second-round",
            "void a(int n){for(int i=0;i<2;i++){L(m[n]);n=2;}} void*f(void*p){a(1);x++;U(m[2]);return 0;}
             void*g(void*p){l(1);x++;u(1);return 0;}",
        ),
    ];
    for (name, text) in pairs {
        refuses(&[(name, &format!("{head} {text} {go}"))]);
    }
    let argument = "void*f(void*p){l((int)(long)p);x++;u((int)(long)p);return 0;}
                    int main(){T t,s;GO(t,f,1);GO(s,f,2);}";
    refuses(&[("argument", &format!("{head} {argument}"))]);
}
