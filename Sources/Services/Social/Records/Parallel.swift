extension Array where Element: Sendable {
    /// The results of `operation` for each element, in the order of the elements, with `width` of them under way at
    /// once.
    package func mapInParallel<Value: Sendable>(
        width: Int = 64,
        _ operation: @escaping @Sendable (Element) async throws -> Value,
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (index: Int, value: Value).self) { group in
            var values = [Value?](repeating: nil, count: count)
            for (index, element) in enumerated() {
                if index >= width, let done = try await group.next() {
                    values[done.index] = done.value
                }
                group.addTask { (index, try await operation(element)) }
            }
            while let done = try await group.next() { values[done.index] = done.value }
            return values.compactMap { $0 }
        }
    }
}
