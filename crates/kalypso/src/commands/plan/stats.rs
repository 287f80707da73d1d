//! The amount of work in each stage of compiling, as text.

use engine::compile::Work;

use crate::terminal::thousands;

/// The stages in their order, with their counts.
fn stages(work: &Work) -> [(&'static str, usize); 5] {
    let Work { matches, compositions, checks, renderings, folders, .. } = *work;
    [
        ("matches", matches),
        ("compositions", compositions),
        ("checks", checks),
        ("renderings", renderings),
        ("trees", folders),
    ]
}

/// The numbers as text.
pub(super) fn text(work: &Work) -> String {
    let stages = stages(work).map(|(stage, number)| (stage, thousands(number)));
    let name_width = stages.iter().map(|(stage, _)| stage.len()).max().unwrap_or_default();
    let number_width = stages.iter().map(|(_, number)| number.len()).max().unwrap_or_default();
    let line = |(stage, number): &(&str, String)| format!("  {stage:<name_width$}  {number:>number_width$}\n");
    format!("\n{}", stages.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned() {
        let work = Work { matches: 7, compositions: 12, checks: 1_200, renderings: 1_000_000, ..Work::default() };
        let lines = ["", "  matches               7", "  compositions         12", "  checks            1,200"];
        assert_eq!(text(&work).lines().take(4).collect::<Vec<_>>(), lines);
    }
}
