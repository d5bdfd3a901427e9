//! Plots of cost against size as SVG, with a logarithmic scale for the cost. Other people's figures are
//! dashed, in the colour of ours that they belong to.

use std::fmt::Write;

/// What is written at a plot.
pub struct Plot<'a> {
    /// Above it.
    pub title: &'a str,
    /// Along the sizes.
    pub along: &'a str,
}

/// Points that belong together.
pub struct Series {
    /// What they are.
    pub name: String,
    /// Series that are compared with each other have the same colour.
    pub colour: usize,
    /// Whether they were measured by us.
    pub ours: bool,
    /// Size and seconds.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A series that was measured here.
    pub fn ours(name: impl Into<String>, colour: usize) -> Self {
        Self { name: name.into(), colour, ours: true, points: Vec::new() }
    }
    /// A series from elsewhere.
    pub fn theirs(name: impl Into<String>, colour: usize) -> Self {
        Self { ours: false, ..Self::ours(name, colour) }
    }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
// Space for the words.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that differ in brightness, too, and can be read on white and on black.
const COLOURS: [&str; 6] = ["#3b82c4", "#d9822b", "#3f9b57", "#b4504f", "#8a6cc2", "#777777"];
/// Nothing is quicker on the plot than this.
const LEAST: f64 = 0.01;

/// A plot of seconds against size.
pub fn plot(labels: &Plot<'_>, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| &series.points);
    let (mut left, mut right) =
        points().fold((f64::MAX, f64::MIN), |(a, b), point| (a.min(point.0), b.max(point.0)));
    if left >= right {
        (left, right) = (left.min(1.0) - 1.0, right.max(1.0) + 1.0);
    }
    let top = points().fold(0.1f64, |most, point| most.max(point.1));
    let (low, high) = (LEAST.log10().floor(), top.log10().ceil());
    // Sizes that grow by factors get a logarithmic scale as well.
    let spread = left > 0.0 && right / left > 50.0;
    let along = |size: f64| if spread { size.ln() } else { size };
    let x = |size: f64| {
        LEFT + (WIDTH - LEFT - RIGHT) * (along(size) - along(left)) / (along(right) - along(left))
    };
    let y = |seconds: f64| {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (seconds.max(LEAST).log10() - low) / (high - low)
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#888\">\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{}</text>\n",
        escaped(labels.title)
    );
    let (bottom, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for power in low as i32..=high as i32 {
        let seconds = 10f64.powi(power);
        let at = y(seconds);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#888\" stroke-opacity=\"0.3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{seconds} s</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    let mut sizes: Vec<f64> = points().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let mut last = f64::MIN;
    for size in sizes {
        let at = x(size);
        if at - last < 34.0 {
            continue;
        }
        last = at;
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
            bottom + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (LEFT + end) / 2.0,
        bottom + 38.0,
        escaped(labels.along)
    );
    for (index, series) in series.iter().filter(|series| !series.points.is_empty()).enumerate() {
        let colour = COLOURS[series.colour % COLOURS.len()];
        let (dashes, inside) = match series.ours {
            true => ("", "fill-opacity=\"1\""),
            false => (" stroke-dasharray=\"5 4\"", "fill-opacity=\"0\" stroke-width=\"1.5\""),
        };
        let path: Vec<String> = series
            .points
            .iter()
            .map(|(size, seconds)| format!("{:.1},{:.1}", x(*size), y(*seconds)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            path.join(" ")
        );
        for (size, seconds) in &series.points {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\" stroke=\"{colour}\" {inside}><title>{}, {size}: {seconds:.2} s</title></circle>",
                x(*size),
                y(*seconds),
                escaped(&series.name)
            );
        }
        let at = TOP + 18.0 * index as f64;
        let _ = writeln!(
            out,
            "<polyline points=\"{:.1},{at:.1} {:.1},{at:.1}\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n\
             <circle cx=\"{:.1}\" cy=\"{at:.1}\" r=\"3.5\" fill=\"{colour}\" stroke=\"{colour}\" {inside}/>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            end + 10.0,
            end + 34.0,
            end + 22.0,
            end + 40.0,
            at + 4.0,
            escaped(&series.name)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_inside() {
        let series = [
            Series {
                points: vec![(1.0, 0.001), (10.0, 3.0), (100_000.0, 3000.0)],
                ..Series::ours("a < b", 0)
            },
            Series { points: vec![(2.0, 1.0)], ..Series::theirs("one", 7) },
            Series::ours("empty", 1),
        ];
        let svg = plot(&Plot { title: "t", along: "n" }, &series);
        assert!(!svg.contains("empty"));
        assert!(svg.contains("a &lt; b"));
        let mut circles = 0;
        for line in svg.lines().filter(|line| line.starts_with("<circle")) {
            let number = |name: &str| -> f64 {
                let text = line.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
                text.and_then(|(number, _)| number.parse().ok()).expect("a number")
            };
            assert!(
                (0.0..=WIDTH).contains(&number("cx")) && (0.0..=HEIGHT).contains(&number("cy")),
                "{line}"
            );
            circles += 1;
        }
        assert_eq!(circles, 4 + 2, "points and names");
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        assert!(plot(&Plot { title: "t", along: "n" }, &[]).ends_with("</svg>\n"));
    }
}
