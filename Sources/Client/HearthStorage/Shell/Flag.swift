import HearthCore

/// Something that happens once, and that another thread looks for.
final class Flag: Sendable {
    private let flag = Mutex(false)

    var isRaised: Bool { flag.withLock { $0 } }

    func raise() { flag.withLock { $0 = true } }
}
