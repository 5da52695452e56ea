/// How much work the hash of a password takes.
package struct PasswordCost: Sendable, Equatable {
    /// Memory that one hash fills, in KiB.
    package var memoryKiB: Int
    /// Times the memory is gone through.
    package var passes: Int

    /// 64 MiB, three times: 100 to 200 ms on a server of 2020. Source: RFC 9106 section 4, second choice.
    package static let standard = PasswordCost(memoryKiB: 64 << 10, passes: 3)

    /// KiB that may be configured: less is no better than a fast hash, more lets one sign-in starve a small machine.
    package static let memoryRange = (8 << 10)...(1 << 20)
    package static let passRange = 1...20

    package init(memoryKiB: Int, passes: Int) {
        precondition(Self.memoryRange.contains(memoryKiB), "the memory is within its range")
        precondition(Self.passRange.contains(passes), "the passes are within their range")
        self.memoryKiB = memoryKiB
        self.passes = passes
    }
}
