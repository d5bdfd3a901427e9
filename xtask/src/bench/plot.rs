//! Plots of cost against size as SVG, with a logarithmic scale for the cost.

use std::fmt::Write;

/// Points that belong together.
pub struct Series {
    /// What they are.
    pub name: String,
    /// Size and seconds.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
// Space for the words.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that differ in brightness, too, and can be read on white and on black.
const COLOURS: [&str; 6] = ["#3b82c4", "#d9822b", "#3f9b57", "#b4504f", "#8a6cc2", "#777777"];
/// Nothing is quicker on the plot than this.
const LEAST: f64 = 0.01;

/// A plot of seconds against size.
pub fn plot(title: &str, size: &str, series: &[Series]) -> String {
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
        escaped(title)
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
        escaped(size)
    );
    for (index, series) in series.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let path: Vec<String> = series
            .points
            .iter()
            .map(|(size, seconds)| format!("{:.1},{:.1}", x(*size), y(*seconds)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (size, seconds) in &series.points {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{size}: {seconds:.2} s</title></circle>",
                x(*size),
                y(*seconds)
            );
        }
        let at = TOP + 18.0 * index as f64;
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            end + 16.0,
            at,
            end + 26.0,
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
            Series { name: "a < b".to_owned(), points: vec![(1.0, 0.001), (10.0, 3.0), (100_000.0, 3000.0)] },
            Series { name: "one".to_owned(), points: vec![(2.0, 1.0)] },
        ];
        let svg = plot("t", "n", &series);
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
        assert!(plot("t", "n", &[]).ends_with("</svg>\n"));
    }
}
