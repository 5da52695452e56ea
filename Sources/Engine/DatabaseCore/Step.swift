import JSONTree

/// One step of the engine: its time, its effects, and its counts.
///
/// Every function that can make an effect takes it as its last argument.
struct Step {
    let now: Timestamp
    /// What the shell must now do, in order.
    var effects: [Effect] = []
    /// What the engine has done since the process began, this step included.
    var counts: EngineCounts
    /// Whether commits are made here, and not by the owner that this node follows.
    var makesCommits: Bool
}
