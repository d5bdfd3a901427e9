//! Laws of contexts on random automata, and the automata of paper 1.

mod check_sim;
mod collapse;
mod counts;
mod generate;
mod graph;
mod infer;
mod labels;
mod paper;
mod values;
