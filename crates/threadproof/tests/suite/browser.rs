//! The page, in a browser: Chromium without a window, driven by its DevTools protocol.
//!
//! The protocol is JSON over a WebSocket; the little of that which is needed is here, so that no library is.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Where Debian's package puts it; `cargo xtask setup` installs it.
const CHROMIUM: &str = "/usr/bin/chromium";

/// A browser with one page.
struct Browser {
    process: Child,
    folder: PathBuf,
    socket: TcpStream,
    session: String,
    last: u64,
    /// What the page complained about.
    complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Browser {
    /// Starts the browser with an empty page.
    fn start(name: &str) -> Self {
        assert!(Path::new(CHROMIUM).exists(), "there is no Chromium: run `cargo xtask setup`");
        let folder = std::env::temp_dir().join(format!("threadproof-{}-{name}", std::process::id()));
        let mut process = std::process::Command::new(CHROMIUM)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-extensions", "--disable-background-networking"])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium runs");
        let mut lines = BufReader::new(process.stderr.take().expect("it is a pipe")).lines();
        let address = lines
            .find_map(|line| Some(line.ok()?.strip_prefix("DevTools listening on ws://")?.to_owned()))
            .expect("Chromium says where it listens");
        // It continues talking, and must not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let (host, path) = address.split_once('/').expect("an address has a path");
        let mut socket = TcpStream::connect(host).expect("Chromium listens");
        socket.set_read_timeout(Some(Duration::from_secs(1000))).expect("a time limit can be set");
        let hello = format!(
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhyZWFkcHJvb2YgdGVzdHM=\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        socket.write_all(hello.as_bytes()).expect("it can be told");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).expect("it answers");
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
        let mut browser =
            Self { process, folder, socket, session: String::new(), last: 0, complaints: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().expect("there is a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    fn send(&mut self, text: &str) {
        let length = text.len();
        let mut frame = vec![0x81];
        match length {
            0..126 => frame.push(0x80 | length as u8),
            126..65536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            _ => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        // The mask is required, and may be anything.
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.socket.write_all(&frame).expect("it can be told");
    }

    /// The next message.
    fn receive(&mut self) -> Value {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.socket.read_exact(&mut head).expect("it answers in time");
            let length = match head[1] & 0x7f {
                126 => {
                    let mut bytes = [0; 2];
                    self.socket.read_exact(&mut bytes).expect("a length follows");
                    u64::from(u16::from_be_bytes(bytes))
                }
                127 => {
                    let mut bytes = [0; 8];
                    self.socket.read_exact(&mut bytes).expect("a length follows");
                    u64::from_be_bytes(bytes)
                }
                length => u64::from(length),
            };
            let mut part = vec![0; length as usize];
            self.socket.read_exact(&mut part).expect("the message follows");
            // Text and what continues it; the rest keeps the connection alive.
            if matches!(head[0] & 0x0f, 0 | 1) {
                text.extend(part);
                if head[0] & 0x80 != 0 {
                    break;
                }
            }
        }
        serde_json::from_slice(&text).expect("messages are JSON")
    }

    fn note(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.complaints.push(parameters["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if parameters["type"] != "log" => {
                self.complaints.push(parameters["args"].to_string());
            }
            "Log.entryAdded" => self.complaints.push(parameters["entry"]["text"].to_string()),
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default().to_owned();
                if !url.starts_with("file:") && !url.starts_with("data:") && !url.starts_with("about:") {
                    self.complaints.push(format!("it asks for {url}"));
                }
            }
            _ => {}
        }
    }

    /// Calls a method and waits for its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.send(&message.to_string());
        loop {
            let answer = self.receive();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    /// Opens a file and waits until it is there.
    fn open(&mut self, page: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        for _ in 0..20_000 {
            if self.value("document.readyState === 'complete' && location.protocol === 'file:'") == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the page does not load");
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses a key.
    fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Clicks what a selector finds, where it is on the screen.
    fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let place = self.value(&format!(
            "(() => {{ const node = document.querySelector({selector}); node.scrollIntoView({{block: 'center', inline: 'center'}}); const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }
}

/// The page of a program.
fn page(name: &str, words: &[&str]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("threadproof-{}-{name}.html", std::process::id()));
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    command.args(["verify", "--html"]).arg(&path).args(words).current_dir(crate::root());
    let output = command.output().expect("it runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

#[test]
fn an_execution_can_be_stepped_through() {
    let page = page("race", &["examples/counter.c"]);
    let mut browser = Browser::start("stepping");
    browser.open(&page);
    let rows = browser.value("document.querySelectorAll('#trace-0 tbody tr').length");
    let rows = rows.as_u64().expect("there is an execution");
    assert!(rows > 5, "{rows}");
    let step = "document.getElementById('trace-0').dataset.step";
    assert_eq!(browser.value(step), "0");
    browser.press("ArrowDown");
    browser.press("j");
    assert_eq!(browser.value(step), "2");
    browser.press("ArrowUp");
    assert_eq!(browser.value(step), "1");
    browser.press("End");
    assert_eq!(browser.value(step), (rows - 1).to_string());
    let current = "document.querySelector('#trace-0 tr.current').className";
    assert_eq!(browser.value(current), "marked current");
    assert!(
        browser.value("document.querySelector('#trace-0 tr.current .wrong').textContent").is_string(),
        "what is wrong is marked"
    );
    // The source line of the step, and the values, go along.
    let text = browser.value("document.querySelector('.source tr.current').textContent");
    assert!(text.as_str().is_some_and(|text| text.contains("assert(counter == 2)")), "{text}");
    let values = browser.value("document.getElementById('values-0').textContent");
    assert!(values.as_str().is_some_and(|text| text.contains("counter = 1")), "{values}");
    browser.press("Home");
    assert_eq!(browser.value(step), "0");
    browser.press("n");
    let thread = browser.value("[...document.querySelectorAll('#trace-0 tr.current td')].findIndex((cell, index) => index > 0 && cell.textContent !== '')");
    assert_ne!(thread, 1, "another thread is next");
    // The other execution has keys of its own.
    assert_eq!(browser.value("document.getElementById('trace-1').dataset.step"), "0");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_location_shows_its_line() {
    let page = page("locations", &["examples/counter.c"]);
    let mut browser = Browser::start("locations");
    browser.open(&page);
    browser.value(
        "document.querySelectorAll('.source tr.current').forEach((row) => row.classList.remove('current'))",
    );
    // Pictures take much space: they are unfolded where they are wanted.
    assert_eq!(browser.value("document.querySelectorAll('#automata details[open]').length"), 0);
    browser.click("#automata summary");
    browser.click("figure.automaton g.location");
    assert_eq!(browser.value("document.querySelectorAll('.source tr.current').length"), 1);
    assert_eq!(browser.value("document.querySelectorAll('figure.automaton g.location.current').length"), 1);
    let row = "#trace-0 tbody tr:nth-child(3)";
    browser.click(row);
    assert_eq!(browser.value("document.getElementById('trace-0').dataset.step"), "2");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_proof_has_its_invariants_at_the_margin() {
    let page = page("proof", &["examples/counter-locked.c"]);
    let mut browser = Browser::start("proof");
    browser.open(&page);
    let margin = browser.value(
        "[...document.querySelectorAll('.source td.margin')].map((cell) => cell.textContent).join(' ')",
    );
    assert!(margin.as_str().is_some_and(|text| text.contains("holds ")), "{margin}");
    let engines = browser.value("document.querySelectorAll('.timeline tr').length");
    assert!(engines.as_u64().is_some_and(|count| count >= 2), "{engines}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_page_is_readable_in_light_and_dark() {
    let page = page("colours", &["examples/counter.c"]);
    let mut browser = Browser::start("colours");
    browser.open(&page);
    /// How far apart two colours are, as the guidelines for readable pages count it.
    const CONTRAST: &str = "((selector) => { const node = document.querySelector(selector); const numbers = (text) => text.match(/[0-9.]+/g).map(Number); const light = (rgb) => { const [r, g, b] = rgb.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; let paper = node; while (paper.parentElement && numbers(getComputedStyle(paper).backgroundColor)[3] === 0) paper = paper.parentElement; const [a, b] = [light(numbers(getComputedStyle(node).color)), light(numbers(getComputedStyle(paper).backgroundColor))]; return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); })";
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", feature);
        papers.push(browser.value("getComputedStyle(document.body).backgroundColor"));
        for selector in [
            "body",
            "#trace-0 tr.marked td",
            "#trace-0 .wrong",
            ".source td.number",
            ".source td.margin",
            ".faint",
        ] {
            let contrast = browser.value(&format!("{CONTRAST}({})", json!(selector)));
            assert!(
                contrast.as_f64().is_some_and(|contrast| contrast >= 4.5),
                "{scheme} {selector}: {contrast}"
            );
        }
    }
    assert_ne!(papers[0], papers[1]);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_program_cannot_put_anything_into_the_page() {
    let text = "#include <pthread.h>\n#include <assert.h>\nint x; // </script><script>document.title = 'taken'</script>\n\
        char *text = \"</style><img src=x onerror=\\\"document.title = 'taken'\\\">\";\n\
        void *f(void *a) { x = 1; /* <script>document.title = 'taken'</script> ' \" & */ return 0; }\n\
        int main(void) { pthread_t p; pthread_create(&p, 0, f, 0); x = 2; /* <!-- <script> --> */ assert(x == 2); return 0; }\n";
    let file = std::env::temp_dir().join(format!("threadproof-{}-<b onclick='x'>&.c", std::process::id()));
    std::fs::write(&file, text).expect("temporary files can be written");
    let page = page("hostile", &[file.to_str().unwrap()]);
    let mut browser = Browser::start("hostile");
    browser.open(&page);
    let title = browser.value("document.title");
    assert!(title.as_str().is_some_and(|title| title.starts_with("threadproof: false(")), "{title}");
    assert_eq!(browser.value("document.querySelectorAll('script').length"), 2, "only the page's own");
    assert_eq!(browser.value("document.querySelectorAll('img, main b[onclick]').length"), 0);
    let source = browser.value("document.querySelector('.source').textContent");
    assert!(source.as_str().is_some_and(|text| text.contains("<script>document.title = 'taken'</script>")));
    browser.press("End");
    assert_ne!(browser.value("document.getElementById('trace-0').dataset.step"), "0");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_results_of_a_batch_can_be_sorted_and_filtered() {
    let folder = crate::batch::finished("browser");
    let mut browser = Browser::start("batch");
    browser.open(&folder.path("out/batch.html"));
    let shown = "[...document.querySelectorAll('#table tbody tr')].filter((row) => !row.hidden).map((row) => row.cells[0].textContent + ' ' + row.cells[1].textContent)";
    let all = browser.value(shown);
    assert_eq!(all.as_array().map(Vec::len), Some(6), "{all}");
    // By verdict, up and down.
    let verdicts = "[...document.querySelectorAll('#table tbody tr')].map((row) => row.cells[2].textContent.split('(')[0])";
    browser.click("#table th:nth-child(3) button");
    assert_eq!(browser.value(verdicts), json!(["false", "true", "true", "true", "unknown", "unknown"]));
    browser.click("#table th:nth-child(3) button");
    assert_eq!(browser.value(verdicts), json!(["unknown", "unknown", "true", "true", "true", "false"]));
    // Numbers as numbers, the largest first.
    browser.click("#table th:nth-child(8) button");
    let sorted = "(() => { const all = [...document.querySelectorAll('#table tbody tr')].map((row) => parseFloat(row.cells[7].textContent)); return all.every((value, index) => index === 0 || all[index - 1] >= value); })()";
    assert_eq!(browser.value(sorted), true);
    browser.click("#filter");
    browser.call("Input.insertText", json!({ "text": "race.c FALSE" }));
    assert_eq!(browser.value(shown), json!(["race.c races"]));
    assert_eq!(browser.value("document.getElementById('shown').textContent"), "1 of 6");
    // Names cannot put anything into the page.
    assert_eq!(browser.value("document.querySelectorAll('#table td b').length"), 0);
    let size = json!({ "width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", size);
    assert_eq!(
        browser.value("document.documentElement.scrollWidth <= 400"),
        true,
        "it is not wider than the window"
    );
    assert_eq!(browser.value("[...document.querySelectorAll('#table tr')].every((row) => row.getBoundingClientRect().right <= 400)"), true);
    let link =
        browser.value("document.querySelector('#table tbody tr:not([hidden]) a').getAttribute('href')");
    browser.open(&folder.path("out").join(link.as_str().expect("there is a link")));
    assert_eq!(browser.value("document.title"), "threadproof: false(no-data-race)");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
