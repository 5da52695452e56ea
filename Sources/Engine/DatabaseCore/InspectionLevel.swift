/// Which decisions of the rules are reported, with their traces.
///
/// `--inspect`, and `/.inspect/level.json` while the server runs.
package enum InspectionLevel: String, CaseIterable, Sendable {
    /// None: a decision costs no more than itself. Refusals are counted all the same.
    case off
    /// Those that refuse. They are decided twice, the second time with all values recorded;
    /// a decision to allow costs no more than with `off`.
    case refused
    /// Every one, and all are counted as coverage. A decision takes several times as long.
    case all
}
