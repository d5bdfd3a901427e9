//! Renderings of programs and verdicts: text, JSON, SARIF, graphs.
