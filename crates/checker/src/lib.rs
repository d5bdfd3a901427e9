//! Replays traces and checks proofs. Sees programs and verdicts, and nothing of any search.
