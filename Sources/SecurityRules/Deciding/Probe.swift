import JSONTree

/// What watches a decision being made.
///
/// The evaluator is compiled once for each: with `SilentProbe`, whose `isRecording` is a constant
/// false, the calls vanish, so that recording costs nothing when it is off.
protocol Probe {
    /// Whether anything is recorded; who is false is never called.
    static var isRecording: Bool { get }

    /// A rule looked at the data of a path.
    mutating func looked(at path: Path)
    mutating func lookedAtTime()
    mutating func lookedAtAuth()
    /// A rule was consulted.
    mutating func consulted(_ outcome: RuleOutcome)
}

/// Records nothing.
struct SilentProbe: Probe {
    static var isRecording: Bool { false }

    @inline(__always) mutating func looked(at path: Path) {}
    @inline(__always) mutating func lookedAtTime() {}
    @inline(__always) mutating func lookedAtAuth() {}
    @inline(__always) mutating func consulted(_ outcome: RuleOutcome) {}
}

/// Records what was asked for.
struct Recorder: Probe {
    static var isRecording: Bool { true }

    let recording: Recording
    private(set) var trace: [RuleOutcome] = []
    private(set) var paths: [Path] = []
    private(set) var hasLookedAtTime = false
    private(set) var hasLookedAtAuth = false

    /// The members of `paths` once they are many; its order is never used.
    private var known: Set<Path> = []

    /// Up to here a look through all paths is cheaper than hashing one.
    private static let fewPaths = 16

    init(_ recording: Recording) {
        self.recording = recording
    }

    mutating func looked(at path: Path) {
        if !recording.contains(.paths) { return }
        if paths.count < Recorder.fewPaths {
            if !paths.contains(path) { paths.append(path) }
            return
        }
        if known.isEmpty { known = Set(paths) }
        if known.insert(path).inserted { paths.append(path) }
    }

    mutating func lookedAtTime() {
        if recording.contains(.paths) { hasLookedAtTime = true }
    }

    mutating func lookedAtAuth() {
        if recording.contains(.paths) { hasLookedAtAuth = true }
    }

    mutating func consulted(_ outcome: RuleOutcome) {
        if recording.contains(.trace) { trace.append(outcome) }
    }
}
