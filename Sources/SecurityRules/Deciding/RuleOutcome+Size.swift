extension RuleOutcome {
    /// Bytes of memory that it holds on to and shares with no other outcome. O(1).
    package var heldByteCount: Int {
        guard let observed else { return MemoryLayout<RuleOutcome>.stride }
        return MemoryLayout<RuleOutcome>.stride + 64 + observed.bytes.count
            + observed.slots.count * MemoryLayout<ObservedRun.Slot>.stride
    }
}
