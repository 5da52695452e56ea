import Testing

@testable import JSONTree

@Suite("memory that a text on its way in takes")
struct TreeBytesTests {
    private func byteCount(_ text: String, isUpdate: Bool = false) throws -> Int {
        var assembly = JSONAssembly(windowByteCount: 16 * 1024, isUpdate: isUpdate)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 10_000) {
            try assembly.append(Array(bytes[start..<min(start + 10_000, bytes.count)]))
        }
        if isUpdate { _ = try assembly.finishUpdate() } else { _ = try assembly.finish() }
        return assembly.treeByteCount
    }

    @Test("is proportional to the elements of a list: 10 to 16 bytes for each zero")
    func zeros() throws {
        for count in [50_000, 200_000, 800_000] {
            let text = "[" + String(repeating: "0,", count: count) + "0]"
            let byteCount = try byteCount(text)
            #expect(byteCount > 10 * count && byteCount < 16 * count, "\(count): \(byteCount)")
        }
    }

    @Test("of text is about that of the text")
    func texts() throws {
        let members = (0..<20_000).map { "\"key\($0)\":\"some text of ordinary length \($0)\"" }
        let text = "{\(members.joined(separator: ","))}"
        let byteCount = try byteCount(text)
        #expect(byteCount > text.utf8.count / 2 && byteCount < text.utf8.count * 3 / 2)
    }

    @Test("of an update counts its entries, which cost far more than their text")
    func update() throws {
        let members = (0..<50_000).map { "\"k\($0)\":0" }
        let text = "{\(members.joined(separator: ","))}"
        #expect(try byteCount(text, isUpdate: true) > 100 * 40_000)
    }

    @Test("of nested lists counts what each level takes")
    func nested() throws {
        let count = 100_000
        let text = "[" + String(repeating: "[0],", count: count) + "0]"
        let byteCount = try byteCount(text)
        #expect(byteCount > 18 * count, "\(byteCount)")
    }
}
