import Testing

@testable import Tokens

@Suite("A sealed text")
struct SealedBoxTests {
    private let box: SealedBox

    init() throws {
        box = try #require(SealedBox(secret: Array("secret".utf8), purpose: "test"))
    }

    @Test("opens to what was sealed", arguments: [0, 1, 15, 16, 17, 4_096, 100_000])
    func roundTrip(byteCount: Int) throws {
        let text = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try #require(box.seal(text))
        #expect(box.open(sealed) == text)
        #expect(sealed.count == text.count + 28)
    }

    @Test("is another one each time, and shows nothing of the text")
    func randomness() throws {
        let text = [UInt8](repeating: 65, count: 64)
        let (one, other) = try (#require(box.seal(text)), #require(box.seal(text)))
        #expect(one != other)
        #expect(!one.contains { $0 == 65 } || one.filter { $0 == 65 }.count < 16)
    }

    @Test("does not open with one bit changed, wherever it is")
    func flips() throws {
        let sealed = try #require(box.seal(Array("text".utf8)))
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(box.open(changed) == nil, "bit \(bit)")
        }
    }

    @Test("does not open when it is cut, or longer")
    func lengths() throws {
        let sealed = try #require(box.seal(Array("text".utf8)))
        for count in 0..<sealed.count { #expect(box.open(Array(sealed.prefix(count))) == nil) }
        #expect(box.open(sealed + [0]) == nil)
    }

    @Test("does not open with another secret, or for another purpose")
    func others() throws {
        let sealed = try #require(box.seal([1, 2, 3]))
        for (secret, purpose) in [("secreu", "test"), ("", "test"), ("secret", "tesu")] {
            let other = try #require(SealedBox(secret: Array(secret.utf8), purpose: purpose))
            #expect(other.open(sealed) == nil)
        }
    }
}
