//! The manual page, made from the definition of the command line.

use clap::Command;
use clap_mangen::Man;

/// One page: the program, then each of its commands with its options.
pub fn page(mut whole: Command) -> String {
    whole.build();
    let man = Man::new(whole.clone());
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text));
    let is_shown = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
    for command in whole.get_subcommands().filter(is_shown) {
        let name = format!("threadproof {}", command.get_name());
        let man = Man::new(command.clone().display_name(&name).bin_name(&name));
        let title = format!(".SH \"{}\"\n", name.to_uppercase());
        text.extend_from_slice(title.as_bytes());
        let mut part = Vec::new();
        let _ = man
            .render_synopsis_section(&mut part)
            .and_then(|()| man.render_description_section(&mut part))
            .and_then(|()| man.render_options_section(&mut part));
        // Its sections are parts of the command's section.
        text.extend_from_slice(String::from_utf8_lossy(&part).replace(".SH ", ".SS ").as_bytes());
    }
    let _ = man.render_version_section(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}
