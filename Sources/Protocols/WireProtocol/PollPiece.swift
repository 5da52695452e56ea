/// One piece of a message that a client sends in the addresses of its long-polling requests.
///
///     &seg0=17&ts0=2&d0=eyJ0Ijoi...&seg1=18&ts1=2&d1=...
///
/// A message is JSON in UTF-8, in base64 with `-` and `_` and padded with `.`, cut anywhere.
package struct PollPiece: Equatable, Sendable {
    /// `seg`: the index among all pieces of the connection, from 0.
    package let number: Int

    /// `ts`: of how many pieces the message is made, at least 1.
    package let count: Int

    /// `d`: part of the base64 text.
    package let text: [UInt8]

    /// Reads the pieces of one request; other parameters are ignored. O(parameters).
    ///
    /// - Throws: `PollError` when a piece lacks a part, or a number is none.
    package static func pieces(
        in query: [(name: String, value: String)]
    ) throws(PollError) -> [PollPiece] {
        var found: [Int: Parts] = [:]
        for (name, value) in query {
            guard let (part, index) = Parts.position(of: name) else { continue }
            found[index, default: Parts()].values[part.rawValue] = value
        }
        var pieces: [PollPiece] = []
        pieces.reserveCapacity(found.count)
        for index in 0..<found.count {
            guard let parts = found[index] else { throw .partMissing(index: index) }
            pieces.append(try parts.piece(index))
        }
        return pieces
    }

    /// The three parameters of one piece.
    private struct Parts {
        enum Part: Int { case number, count, text }

        var values: [String?] = [nil, nil, nil]

        /// Reads `seg12`: the piece with index 12, its number.
        static func position(of name: String) -> (Part, index: Int)? {
            for (prefix, part) in [("seg", Part.number), ("ts", .count), ("d", .text)] {
                guard name.hasPrefix(prefix) else { continue }
                return PollPiece.integer(name.utf8.dropFirst(prefix.utf8.count)).map { (part, $0) }
            }
            return nil
        }

        func piece(_ index: Int) throws(PollError) -> PollPiece {
            guard let number = values[0], let count = values[1], let text = values[2] else {
                throw .partMissing(index: index)
            }
            guard let number = PollPiece.integer(Substring(number).utf8),
                let count = PollPiece.integer(Substring(count).utf8), count > 0
            else { throw .badNumber(index: index) }
            return PollPiece(number: number, count: count, text: Array(text.utf8))
        }
    }

    /// A decimal number of 1 to 12 digits.
    private static func integer(_ digits: Substring.UTF8View) -> Int? {
        guard (1...12).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

/// Why the pieces of a long-polling client are not messages. Its session must end.
package enum PollError: Error, Equatable, Sendable {
    /// Of the piece with this index in its address `seg`, `ts` or `d` is not there.
    case partMissing(index: Int)
    /// `seg` is not a number, or `ts` is not one of at least 1.
    case badNumber(index: Int)
    /// The piece with this number says that its message has another count of pieces than those before it.
    case countDiffers(number: Int)
    /// The piece with this number holds what base64 does not, or its message ends within a byte.
    case notBase64(number: Int)
    /// Too many later pieces wait for the piece with this number.
    case tooFarAhead(number: Int)
    /// A message longer than the connection takes; `byteCount` are those seen so far.
    case messageTooBig(byteCount: Int, limit: Int)
}

extension PollError: CustomStringConvertible {
    /// What is wrong, for the log.
    package var description: String {
        switch self {
        case .partMissing(let index): "piece \(index) of an address lacks seg, ts or d"
        case .badNumber(let index): "piece \(index) of an address has a bad number"
        case .countDiffers(let number): "piece \(number) is of another message than those before it"
        case .notBase64(let number): "piece \(number) is not base64"
        case .tooFarAhead(let number): "too many pieces wait for piece \(number)"
        case .messageTooBig(let byteCount, let limit):
            "message of at least \(byteCount) bytes is over the limit of \(limit)"
        }
    }
}
