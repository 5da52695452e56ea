extension Node {
    /// Value order, priorities aside: absent, false, true, numbers, strings, maps. It is the order of priorities too.
    ///
    /// Negative, 0 or positive. Numbers compare as doubles, strings by UTF-16 code unit; all maps
    /// are equal. Ties are to be broken by key.
    package static func compareValues(_ a: Node, _ b: Node) -> Int {
        withExtendedLifetime((a, b)) {
            switch (BorrowedNode(a).content, BorrowedNode(b).content) {
            case (.number(let x), .number(let y)): x == y ? 0 : (x < y ? -1 : 1)
            case (.string(let x), .string(let y)): compareText(x, y)
            case (let x, let y): valueRank(x) - valueRank(y)
            }
        }
    }

    private static func valueRank(_ content: BorrowedNode.Content) -> Int {
        switch content {
        case .absent: 0
        case .boolean(let flag): flag ? 2 : 1
        case .number: 3
        case .string: 4
        case .map: 5
        }
    }
}
