/// Times in the keys of posts. A timeline's entries hold nothing but who posted, so its pages follow the keys. A key is
/// a push id: 8 characters of milliseconds since 1970 in an alphabet that sorts as its digits do, and 12 random ones.
package enum PostKey {
    private static let alphabet = Array(
        "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8
    )
    private static let timeLength = 8
    private static let randomLength = 12

    /// The milliseconds in a key; nil if it is not a push id.
    package static func milliseconds(of key: String) -> Int64? {
        guard key.utf8.count == timeLength + randomLength else { return nil }
        var time: Int64 = 0
        for byte in key.utf8.prefix(timeLength) {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            time = time << 6 | Int64(digit)
        }
        return time
    }

    /// A new push id of that time: milliseconds since 1970, below 2^48. The generator gives 72 bits, by which keys of
    /// one millisecond differ.
    package static func make(
        milliseconds: Int64,
        using generator: inout some RandomNumberGenerator,
    ) -> String {
        var bytes = (0..<timeLength).map { location in
            alphabet[Int(milliseconds >> (6 * Int64(timeLength - 1 - location)) & 63)]
        }
        for _ in 0..<randomLength {
            bytes.append(alphabet[Int.random(in: 0..<64, using: &generator)])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a post's key is so far from its time that pages would show it in the wrong position.
    package static func isMisplaced(_ post: Post) -> Bool {
        guard let time = milliseconds(of: post.key) else { return true }
        return abs(time - post.createdMilliseconds) > TimelineLimits.keySkew
    }
}
