/// Which decisions of the rules are told, with how they came about.
///
/// `--inspect`, and `/.inspect/level.json` while the server runs.
package enum InspectionLevel: String, CaseIterable, Sendable {
    /// None: a decision costs what its verdict does. Refusals are counted all the same.
    case off
    /// Those that refuse. They are decided twice, the second time with all values noted down;
    /// what is allowed costs no more than with `off`.
    case refused
    /// Every one, and all are counted as coverage. A decision takes several times as long.
    case all
}
