//! Results that a function keeps in memory of its own: `localtime`, `gethostbyname`, `setlocale` and their
//! like.
//!
//! They are not safe in several threads (POSIX XSH 2.9.1). Whether threads really share that memory is up
//! to the library: it is the thread's own, or that of all threads, and in the second case the execution is
//! no evidence. So proofs hold for both, and no race on such memory is reported.
//!
//! What is there are inputs, or values that are not modelled where the arguments decide. Deviation: texts
//! have less than 256 bytes and lists less than four entries; that is noted.

use super::emit::truth;
use super::input::{open_bytes, unmodelled_bytes};
use super::printing::read_pointees;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{Expr, IntType, Layout, Lhs, ObjectId, Op, Place, Rhs, Storage, Value};

/// A part of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// Numbers of so many bytes in all.
    Bytes(u64),
    /// A `long`.
    Long,
    /// A pointer to a text.
    Text,
    /// A pointer to a list of texts, with null at its end.
    Texts,
    /// The family of addresses, and how many bytes they have.
    Family,
    /// A pointer to a list of addresses, with null at its end.
    Addresses,
}

use Part::{Addresses, Bytes, Family, Long, Text, Texts};

/// What numbers and texts are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// The world outside decides.
    Input,
    /// The arguments do.
    Unmodelled,
}

/// When there is no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Missing {
    Never,
    /// The world outside decides.
    Input,
    /// The arguments decide, and in common cases there is one.
    Unmodelled,
}

const TIME: &[Part] = &[Bytes(36), Long, Text];
const HOST: &[Part] = &[Text, Texts, Family, Addresses];
/// Families of addresses, each with their bytes.
const INTERNET: (Value, Value) = (2, 4);
const INTERNET_6: (Value, Value) = (10, 16);
const SERVICE: &[Part] = &[Text, Texts, Bytes(4), Text];
const PROTOCOL: &[Part] = &[Text, Texts, Bytes(4)];
const USER: &[Part] = &[Text, Text, Bytes(8), Text, Text, Text];
const GROUP: &[Part] = &[Text, Text, Bytes(4), Texts];

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["localtime", "gmtime"],
        wins: Wins::Body,
        model: |c, call| record(c, call, TIME, Content::Unmodelled, Missing::Unmodelled),
    },
    Entry {
        names: &["asctime"],
        wins: Wins::Body,
        model: |c, call| text(c, call, 26, Content::Unmodelled, Missing::Unmodelled),
    },
    // It is `asctime(localtime(time))`.
    Entry {
        names: &["ctime"],
        wins: Wins::Body,
        model: |context, call| {
            record(context, call, TIME, Content::Unmodelled, Missing::Never)?;
            text(context, call, 26, Content::Unmodelled, Missing::Unmodelled)
        },
    },
    Entry {
        names: &["setlocale"],
        wins: Wins::Body,
        model: |c, call| text(c, call, 64, Content::Unmodelled, Missing::Unmodelled),
    },
    Entry { names: &["inet_ntoa"], wins: Wins::Body, model: address_text },
    Entry { names: &["gai_strerror", "hstrerror"], wins: Wins::Body, model: super::environment::message },
    Entry {
        names: &["nl_langinfo"],
        wins: Wins::Body,
        model: |c, call| text(c, call, TEXT, Content::Unmodelled, Missing::Never),
    },
    Entry {
        names: &["getlogin", "dlerror"],
        wins: Wins::Body,
        model: |c, call| text(c, call, TEXT, Content::Input, Missing::Input),
    },
    Entry {
        names: &["ttyname", "ctermid", "ptsname"],
        wins: Wins::Body,
        model: |c, call| text(c, call, TEXT, Content::Unmodelled, Missing::Input),
    },
    Entry {
        names: &["gethostbyname", "gethostbyname2", "gethostbyaddr", "gethostent"],
        wins: Wins::Body,
        model: |c, call| record(c, call, HOST, Content::Input, Missing::Input),
    },
    // What is found fits what is looked for: it is not just any.
    Entry {
        names: &["getservbyname", "getservbyport"],
        wins: Wins::Body,
        model: |c, call| record(c, call, SERVICE, Content::Unmodelled, Missing::Input),
    },
    Entry {
        names: &["getprotobyname", "getprotobynumber"],
        wins: Wins::Body,
        model: |c, call| record(c, call, PROTOCOL, Content::Unmodelled, Missing::Input),
    },
    Entry {
        names: &["getpwnam", "getpwuid", "getpwent"],
        wins: Wins::Body,
        model: |c, call| record(c, call, USER, Content::Unmodelled, Missing::Input),
    },
    Entry {
        names: &["getgrnam", "getgrgid", "getgrent"],
        wins: Wins::Body,
        model: |c, call| record(c, call, GROUP, Content::Unmodelled, Missing::Input),
    },
];

/// Bytes of a text.
const TEXT: u64 = 256;
/// Entries of a list, with the null at its end.
const ENTRIES: u64 = 4;

/// The memory that a function keeps its result in: some share it.
fn memory(function: &str) -> &'static str {
    match function {
        "localtime" | "gmtime" => "result of localtime",
        "asctime" | "ctime" => "result of asctime",
        "setlocale" => "result of setlocale",
        "inet_ntoa" => "result of inet_ntoa",
        "gethostbyname" | "gethostbyname2" | "gethostbyaddr" | "gethostent" => "result of gethostbyname",
        "getservbyname" | "getservbyport" => "result of getservbyname",
        "getprotobyname" | "getprotobynumber" => "result of getprotobyname",
        "getpwnam" | "getpwuid" | "getpwent" => "result of getpwnam",
        "getgrnam" | "getgrgid" | "getgrent" => "result of getgrnam",
        "dlerror" => "result of dlerror",
        _ => "texts of the library",
    }
}

/// A result in memory that is the thread's own, or that of all threads; or null.
fn either(
    context: &mut Context<'_>,
    call: &Call<'_>,
    name: &str,
    missing: Missing,
    store: impl Fn(&mut Context<'_>, &str, Storage) -> ObjectId,
) -> Option<Answer> {
    read_pointees(context, call);
    let ty = context.pointer();
    let result = context.builder.save(Expr::int(0, ty), ty);
    let (none, shared, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let own = context.builder.label();
    if missing != Missing::Never {
        context.builder.alternative(Op::Assume(Expr::bool(true)), none);
    }
    context.builder.alternative(Op::Assume(Expr::bool(true)), own);
    context.builder.alternative(Op::Assume(Expr::bool(true)), shared);
    context.builder.continue_at(own);
    let own_name = format!("{name} in the thread");
    let object = store(context, &own_name, Storage::ThreadLocal);
    context.builder.set(Lhs::Local(result), Expr::Address(object, 0));
    context.builder.jump(done);
    context.builder.continue_at(shared);
    context.lose_path();
    let object = store(context, name, Storage::Static);
    context.builder.set(Lhs::Local(result), Expr::Address(object, 0));
    context.builder.jump(done);
    if missing != Missing::Never {
        context.builder.continue_at(none);
        if missing == Missing::Unmodelled {
            context.lose_path();
        }
        context.builder.jump(done);
    }
    context.builder.continue_at(done);
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(Expr::Local(result)))
}

/// A text with a final zero.
fn text(
    context: &mut Context<'_>,
    call: &Call<'_>,
    size: u64,
    content: Content,
    missing: Missing,
) -> Option<Answer> {
    context.assume(call, &format!("its text has less than {size} bytes"), false);
    let name = memory(call.name);
    either(context, call, name, missing, |context, name, storage| {
        store_text(context, name, storage, size, content)
    })
}

/// The text of an address of the internet, which is passed as a structure of four bytes.
fn address_text(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// Bytes of the longest one, with the final zero.
    const SIZE: u64 = 16;
    let passed = call.argument(0)?;
    if passed.ty != context.pointer() || passed.pointee.is_some() {
        return text(context, call, SIZE, Content::Unmodelled, Missing::Never);
    }
    let address = context.settle_pointer(passed);
    either(context, call, memory(call.name), Missing::Never, |context, name, storage| {
        let object = context.own_object(name, storage, Layout::Bytes(SIZE), SIZE);
        super::network::print_address(context, &Expr::Address(object, 0), &address, SIZE.into());
        object
    })
}

fn store_text(
    context: &mut Context<'_>,
    name: &str,
    storage: Storage,
    size: u64,
    content: Content,
) -> ObjectId {
    let object = context.own_object(name, storage, Layout::Bytes(size), size);
    // The last byte stays 0.
    store_bytes(context, Expr::Address(object, 0), size - 1, content);
    object
}

fn store_bytes(context: &mut Context<'_>, to: Expr, size: u64, content: Content) {
    let from = match content {
        Content::Input => open_bytes(context),
        Content::Unmodelled => unmodelled_bytes(context),
    };
    let size = Expr::int(Value::from(size), context.pointer());
    context.builder.emit(Op::Copy(to, from, size));
}

/// A structure.
fn record(
    context: &mut Context<'_>,
    call: &Call<'_>,
    parts: &[Part],
    content: Content,
    missing: Missing,
) -> Option<Answer> {
    if parts.iter().any(|part| matches!(part, Text | Texts | Addresses)) {
        context.assume(call, "its texts have less than 256 bytes", false);
    }
    if parts.contains(&Texts) {
        context.assume(call, "its lists have less than 4 entries", false);
    }
    let name = if parts == TIME { "result of localtime" } else { memory(call.name) };
    either(context, call, name, missing, |context, name, storage| {
        store_record(context, call.name, name, storage, parts, content)
    })
}

/// Stores the family of addresses and their size. `gethostbyname` gives addresses of the internet; others
/// give what they are asked for.
fn store_family(context: &mut Context<'_>, function: &str, to: &Expr) {
    let ty = IntType::I32;
    let [family, size] = [0, 4].map(|offset| Lhs::Memory(Place::pointee(context.at_offset(to, offset), ty)));
    let store = |context: &mut Context<'_>, values: (Value, Value)| {
        context.builder.set(family.clone(), Expr::int(values.0, ty));
        context.builder.set(size.clone(), Expr::int(values.1, ty));
    };
    store(context, INTERNET);
    if function != "gethostbyname" {
        context.lose_path();
    }
    context.perhaps(|context| {
        context.lose_path();
        store(context, INTERNET_6);
    });
}

fn store_record(
    context: &mut Context<'_>,
    function: &str,
    name: &str,
    storage: Storage,
    parts: &[Part],
    content: Content,
) -> ObjectId {
    let pointer = context.pointer();
    let width = pointer.bytes();
    let mut offsets = Vec::new();
    let mut size = 0_u64;
    for part in parts {
        let (bytes, align) = match part {
            Bytes(bytes) => (*bytes, 4),
            Family => (8, 4),
            Long | Text | Texts | Addresses => (width, width),
        };
        size = size.next_multiple_of(align);
        offsets.push(size);
        size += bytes;
    }
    let size = size.next_multiple_of(width);
    let object = context.own_object(name, storage, Layout::Bytes(size), size);
    for (index, (part, offset)) in parts.iter().zip(offsets).enumerate() {
        let to = Expr::Address(object, offset);
        let place = Place::pointee(to.clone(), pointer);
        let text_name = format!("text {} of the {name}", index + 1);
        match part {
            Bytes(bytes) => store_bytes(context, to, *bytes, content),
            Long => store_bytes(context, to, width, content),
            Family => store_family(context, function, &to),
            Text => {
                let text = store_text(context, &text_name, storage, TEXT, content);
                context.builder.set(Lhs::Memory(place), Expr::Address(text, 0));
            }
            Texts | Addresses => {
                let text = store_text(context, &text_name, storage, TEXT, content);
                let list_name = format!("list {} of the {name}", index + 1);
                let layout = Layout::Array {
                    element: Box::new(Layout::Scalar(pointer)),
                    count: ENTRIES,
                    stride: width,
                };
                let list = context.own_object(&list_name, storage, layout, ENTRIES * width);
                for entry in 0..ENTRIES - 1 {
                    let is_there = context.open_value(IntType::BOOL, Rhs::Any, |_| None);
                    let value = Expr::IfThenElse(Box::new((
                        truth(is_there, IntType::BOOL),
                        Expr::Address(text, 0),
                        Expr::int(0, pointer),
                    )));
                    context.builder.set(Lhs::Memory(Place::cell(list, entry * width, pointer)), value);
                }
                if *part == Addresses {
                    // Who is found has an address, as far as common libraries go.
                    let first = Lhs::Memory(Place::cell(list, 0, pointer));
                    context.builder.set(first.clone(), Expr::Address(text, 0));
                    context.perhaps(|context| {
                        context.lose_path();
                        context.builder.set(first, Expr::int(0, pointer));
                    });
                }
                context.builder.set(Lhs::Memory(place), Expr::Address(list, 0));
            }
        }
    }
    object
}
