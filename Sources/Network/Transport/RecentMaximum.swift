/// The greatest of the values noted within the last minute, to the second.
struct RecentMaximum {
    private static let secondCount: UInt64 = 60

    /// For each second of a minute: the clock's second of the last write, and the greatest value noted in it.
    private var slots = [(second: UInt64, value: UInt64)](
        repeating: (second: .max, value: 0),
        count: Int(secondCount)
    )

    /// Notes a value at a time in nanoseconds, which never falls.
    mutating func note(_ value: UInt64, at now: UInt64) {
        let second = now / 1_000_000_000
        let index = Int(second % Self.secondCount)
        if slots[index].second != second {
            slots[index] = (second, value)
        } else if value > slots[index].value {
            slots[index].value = value
        }
    }

    /// The greatest value of the seconds that end now, at most 60; 0 when there is none.
    func value(at now: UInt64, ofSeconds count: UInt64 = secondCount) -> UInt64 {
        precondition(count <= Self.secondCount, "no more than a minute is kept")
        let second = now / 1_000_000_000
        let recent = slots.filter { $0.second <= second && second - $0.second < count }
        return recent.map(\.value).max() ?? 0
    }
}
