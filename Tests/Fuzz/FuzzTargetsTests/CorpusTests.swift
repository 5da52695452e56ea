import Foundation
import TestSupport
import Testing

@testable import FuzzTargets

/// What fuzzing kept, given to its targets again.
@Suite("fuzz targets")
struct CorpusTests {
    /// The files of a target's folder, by name.
    private static func corpus(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: Checkout.path).appending(
            path: "Tests/Fuzz/Corpus/\(target.name)"
        )
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test("every input of the corpus holds", arguments: FuzzTarget.all)
    func corpus(target: FuzzTarget) throws {
        let corpus = try Self.corpus(of: target)
        #expect(!corpus.isEmpty)
        for (name, bytes) in corpus {
            do { try target.run(bytes) } catch { Issue.record("\(target.name)/\(name): \(error)") }
        }
    }

    /// Changes of one input that `make test` tries.
    private static let changeCount = 150

    @Test("inputs of the corpus with some bytes changed hold", arguments: FuzzTarget.all)
    func changes(target: FuzzTarget) throws {
        let corpus = try Self.corpus(of: target)
        try #require(!corpus.isEmpty)
        var random = SeededGenerator(seed: TestSeed.first)
        for round in 0..<Self.changeCount {
            var (name, bytes) = corpus[random.index(corpus.count)]
            for _ in 0...random.index(3) { random.change(&bytes) }
            do { try target.run(bytes) } catch {
                let fault =
                    "seed \(TestSeed.first) round \(round): \(target.name)/\(name): \(error)"
                Issue.record("\(fault)\n\(bytes)")
            }
        }
    }

    @Test("every folder of the corpus is of a target")
    func folders() throws {
        let folder = URL(filePath: Checkout.path).appending(path: "Tests/Fuzz/Corpus")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == FuzzTarget.all.map(\.name).sorted())
    }
}

extension SeededGenerator {
    fileprivate mutating func change(_ bytes: inout [UInt8]) {
        let place = index(bytes.count + 1)
        switch index(4) {
        case 0: bytes.insert(UInt8(index(256)), at: place)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8(index(8))
        default:
            let part = bytes[place..<min(bytes.count, place + 1 + index(16))]
            bytes.insert(contentsOf: Array(part), at: index(bytes.count + 1))
        }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    package var testDescription: String { name }
}
