/// The name of an object: 1 to 1024 bytes of UTF-8.
///
/// Two names are equal when their bytes are: case counts, and a composed character is another name than its parts. So the
/// bytes are kept, not a `String`, whose `==` looks through that.
package struct ObjectName: Hashable, Comparable, Sendable {
    /// The bytes of the name.
    package let utf8: [UInt8]

    /// The name as text.
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Checks a name that a library of a server may use.
    package init(utf8: [UInt8]) throws(NameFault) {
        guard let first = utf8.first else { throw .noName }
        guard FileLimits.nameByteCount.contains(utf8.count) else {
            throw .nameTooLong(byteCount: utf8.count)
        }
        guard String(validating: utf8, as: UTF8.self) != nil else {
            throw .nameEncoding(offset: Self.validByteCount(utf8))
        }
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF: throw .nameCharacter(scalar: scalar.value)
            default: continue
            }
        }
        if first == UInt8(ascii: ".") {
            if utf8.count == 1 || utf8.elementsEqual("..".utf8) { throw .nameDots }
            if utf8.starts(with: ".well-known/acme-challenge/".utf8) { throw .nameReserved }
        }
        self.utf8 = utf8
    }

    /// Checks a name that a library of a server may use.
    package init(_ text: String) throws(NameFault) { try self.init(utf8: Array(text.utf8)) }

    /// A name that was checked before: one of an index.
    init(unchecked utf8: [UInt8]) { self.utf8 = utf8 }

    /// Why the SDKs of clients cannot address the name, and why browsers would ask for another one; nil when they can.
    package var clientFault: NameFault? {
        for segment in utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if segment.isEmpty { return .emptySegment }
            if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
                return .dotSegment
            }
        }
        return nil
    }

    /// By bytes.
    package static func < (a: ObjectName, b: ObjectName) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    private static func validByteCount(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var rest = bytes.makeIterator()
        var byteCount = 0
        while case .scalarValue(let scalar) = decoder.decode(&rest) {
            byteCount += UTF8.width(scalar)
        }
        return byteCount
    }
}
