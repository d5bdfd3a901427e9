//! Property files of the Competition on Software Verification.

use verdict::Check;

/// The content of a property file.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The checks that this tool makes.
    pub checks: Vec<Check>,
    /// Parts that it cannot check: they stay open, so nothing is proved.
    pub open: Vec<String>,
}

/// Reads a property file.
pub fn parse(text: &str) -> Result<Asked, String> {
    let mut asked = Asked { checks: Vec::new(), open: Vec::new() };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let Some(formula) =
            compact.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))"))
        else {
            return Err(format!(
                "`{line}` is not a property that can be checked; expected e.g. `CHECK( init(main()), LTL(G ! data-race) )`, or use --check"
            ));
        };
        match formula {
            "G!call(reach_error())" | "G!call(__VERIFIER_error())" => asked.checks.push(Check::ReachError),
            "G!data-race" => asked.checks.push(Check::Races),
            "G!overflow" => asked.checks.push(Check::Overflow),
            "Gvalid-deref" => asked.checks.push(Check::Deref),
            "Gvalid-free" => asked.checks.push(Check::Free),
            "Gvalid-memtrack" => asked.checks.push(Check::Memtrack),
            "Gvalid-memcleanup" => asked.checks.push(Check::Memcleanup),
            "G!deadlock" | "Gno-deadlock" => asked.checks.push(Check::Deadlock),
            other => asked.open.push(other.to_owned()),
        }
    }
    if asked.checks.is_empty() && asked.open.is_empty() {
        return Err("there is no property in it; write one such as `CHECK( init(main()), LTL(G ! data-race) )`, or use --check".to_owned());
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_properties() {
        let one = |text| parse(text).unwrap().checks;
        assert_eq!(one("CHECK( init(main()), LTL(G ! call(reach_error())) )\n"), [Check::ReachError]);
        assert_eq!(one("CHECK( init(main()), LTL(G ! data-race) )\n\n"), [Check::Races]);
        assert_eq!(one("CHECK( init(main()), LTL(G ! overflow) )"), [Check::Overflow]);
    }

    #[test]
    fn memory_safety_has_several_parts() {
        let part = |name| format!("CHECK( init(main()), LTL(G {name}) )\n");
        let text: String = ["valid-free", "valid-deref", "valid-memtrack"].map(part).concat();
        let checks = vec![Check::Free, Check::Deref, Check::Memtrack];
        assert_eq!(parse(&text), Ok(Asked { checks, open: Vec::new() }));
        let checks = vec![Check::Memcleanup];
        assert_eq!(parse(&part("valid-memcleanup")), Ok(Asked { checks, open: Vec::new() }));
    }

    #[test]
    fn what_cannot_be_checked_stays_open() {
        let text = "CHECK( init(main()), LTL(F end) )\nCHECK( init(main()), LTL(G valid-deref) )\n";
        assert_eq!(parse(text), Ok(Asked { checks: vec![Check::Deref], open: vec!["Fend".to_owned()] }));
    }

    #[test]
    fn nonsense_is_rejected() {
        assert!(parse("").is_err());
        assert!(parse("COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )").is_err());
    }
}
