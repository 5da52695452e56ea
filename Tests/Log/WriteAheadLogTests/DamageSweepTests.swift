import SimulatedStorage
import TestSupport
import Testing

@testable import WriteAheadLog

/// Every damage of some kinds, in folders of every kind, through verification, a start and a salvage. What a test of the gate
/// leaves out of a kind moves with the seed; with `HEARTH_ROUNDS` it leaves out nothing.
@Suite("every damage is found")
struct DamageSweepTests {
    private static let isWhole = TestSeed.rounds != nil

    /// Whether this run takes the n-th of a kind, of which it takes one in `share`.
    private static func takes(_ number: Int, oneIn share: Int) -> Bool {
        isWhole || (number &+ Int(TestSeed.first)) % share == 0
    }

    /// Fails with each damage that is not found as it must be; returns how many there were.
    private func sweep(
        _ name: String,
        _ damages: [(String, FolderDamage)],
        salvageOneIn share: Int
    ) throws -> Int {
        var unseen: [String] = []
        for (number, (what, damage)) in damages.enumerated() {
            if try !damage.isFound() { unseen.append("\(what) \(damage.file): \(damage.expected)") }
            guard Self.takes(number / 3, oneIn: share) else { continue }
            if let fault = try damage.salvageFault() {
                unseen.append("\(what) \(damage.file): salvage \(fault)")
            }
        }
        let isEach = unseen.isEmpty
        #expect(isEach, "\(name): \(unseen.count) of \(damages.count): \(unseen.prefix(5))")
        return damages.count
    }

    @Test("each flipped bit", arguments: FollowedFolder.Small.allCases)
    func bits(small: FollowedFolder.Small) throws {
        let folder = try small.make()
        var damages: [(String, FolderDamage)] = []
        for (file, content) in folder.files.sorted(by: { $0.key < $1.key }) {
            for bit in 0..<content.count * 8 where Self.takes(bit / 8 + bit % 8, oneIn: 8) {
                var changed = content
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let damage = FolderDamage(folder, file, changed) else { continue }
                damages.append(("bit \(bit % 8) of byte \(bit / 8) of", damage))
            }
        }
        let count = try sweep("\(small)", damages, salvageOneIn: 8)
        let byteCount = folder.files.values.map(\.count).reduce(0, +)
        #expect(count == byteCount * (Self.isWhole ? 8 : 1))
    }

    @Test("each length of a file that was cut", arguments: FollowedFolder.Small.allCases)
    func cuts(small: FollowedFolder.Small) throws {
        let folder = try small.make()
        var damages: [(String, FolderDamage)] = []
        for (file, content) in folder.files.sorted(by: { $0.key < $1.key }) {
            for count in content.indices where Self.takes(count, oneIn: 2) {
                guard let damage = FolderDamage(folder, file, Array(content[..<count])) else {
                    continue
                }
                damages.append(("\(count) bytes of", damage))
            }
        }
        #expect(try sweep("\(small)", damages, salvageOneIn: 8) > 300)
    }

    @Test(
        "each block of 4 KiB that is zeros, another block, or what it was before",
        arguments: 0..<6 as Range<UInt64>
    )
    func blocks(number: UInt64) throws {
        let folder = try FollowedFolder.large(
            number,
            isClosed: number % 3 == 0,
            isSealed: number % 3 == 1,
        )
        var damages: [(String, FolderDamage)] = []
        for (file, content) in folder.files.sorted(by: { $0.key < $1.key }) {
            let blocks = stride(from: 0, to: content.count, by: 4096).map { start in
                start..<min(content.count, start + 4096)
            }
            func add(_ what: String, _ changes: [(Range<Int>, [UInt8])]) {
                var changed = content
                for (range, bytes) in changes {
                    let count = min(range.count, bytes.count)
                    changed.replaceSubrange(
                        range.lowerBound..<range.lowerBound + count,
                        with: bytes.prefix(count)
                    )
                }
                guard let damage = FolderDamage(folder, file, changed) else { return }
                damages.append((what, damage))
            }
            for (index, block) in blocks.enumerated() {
                add("zeros in block \(index) of", [(block, [UInt8](repeating: 0, count: 4096))])
                for (from, other) in blocks.enumerated() where from != index {
                    let bytes = Array(content[other])
                    add("block \(from) over block \(index) of", [(block, bytes)])
                    guard from < index else { continue }
                    add(
                        "blocks \(from) and \(index) swapped in",
                        [(block, bytes), (other, Array(content[block]))]
                    )
                }
                for old in Set(
                    (folder.versions[file] ?? []).filter { $0.count > block.lowerBound }
                        .map { Array($0[block.lowerBound..<min($0.count, block.upperBound)]) }
                ) {
                    add("an earlier block \(index) of", [(block, old)])
                }
                for (name, other) in folder.files where other.count > block.lowerBound {
                    let end = min(other.count, block.upperBound)
                    add(
                        "block \(index) of \(name) in",
                        [(block, Array(other[block.lowerBound..<end]))]
                    )
                }
            }
        }
        #expect(try sweep("folder \(number)", damages, salvageOneIn: 4) > 150)
    }
}
