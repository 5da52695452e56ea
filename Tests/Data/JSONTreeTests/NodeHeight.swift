@testable import JSONTree

extension Node {
    /// Levels of branches over the pages of a map in a block of its own; 0 for every other value.
    var height: Int {
        guard case .packed = storage else { return 0 }
        return withBody { block, body in
            body - block.start == 0 && block.isMap ? block.height : 0
        } ?? 0
    }
}
