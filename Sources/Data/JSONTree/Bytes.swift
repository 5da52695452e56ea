/// Borrowed bytes, most often the UTF-8 of a key or a string.
///
/// The code that passes them says how long the memory lives, most often only during a call. Never keep a `Bytes`
/// longer: copy it with `Array(bytes)`. Access is checked against `count`. The wrapper exists so that code outside the
/// tree needs no unsafe expression.
///
/// Functions that pass bytes to a closure are inlinable in other modules. Unspecialised, each call
/// looks up metadata and boxes its result: an eighth of the time of a view that follows a commit.
@safe
@usableFromInline
package struct Bytes: RandomAccessCollection, Hashable {
    /// The first byte; a made-up address when `count` is 0, never read then.
    @usableFromInline let start: UnsafePointer<UInt8>

    /// The number of bytes.
    @usableFromInline
    package let count: Int

    @usableFromInline @inline(__always)
    init(start: UnsafePointer<UInt8>, count: Int) {
        unsafe self.start = start
        self.count = count
    }

    /// Borrows `buffer`, which must stay alive and unchanged while this value is used.
    @inlinable
    package init(_ buffer: UnsafeBufferPointer<UInt8>) {
        if let base = buffer.baseAddress {
            unsafe start = base
        } else {
            unsafe start = Bytes.nowhere
        }
        count = buffer.count
    }

    /// No bytes.
    package static var empty: Bytes { unsafe Bytes(start: nowhere, count: 0) }

    @usableFromInline static var nowhere: UnsafePointer<UInt8> {
        unsafe UnsafePointer(bitPattern: 8).unsafelyUnwrapped
    }

    /// Always 0.
    @inlinable package var startIndex: Int { 0 }

    /// The same as `count`.
    @inlinable package var endIndex: Int { count }

    /// The byte at `index`, which must be in `0..<count`.
    @inlinable
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "an index lies within the bytes")
        return unsafe start[index]
    }

    /// The bytes of `range`, borrowed from the same memory.
    @inlinable
    package func slice(_ range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0, "a slice starts within the bytes")
        precondition(range.upperBound <= count, "a slice ends within the bytes")
        return unsafe Bytes(start: start + range.lowerBound, count: range.count)
    }

    /// A copy of the bytes, made with one memory copy.
    package var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The text of these bytes; invalid UTF-8 becomes U+FFFD.
    package var string: String { String(decoding: self, as: UTF8.self) }

    /// Passes the bytes as a buffer; never nil.
    @inlinable
    package func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> R
    ) rethrows -> R? {
        try unsafe body(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether both are the same bytes.
    @usableFromInline
    package static func == (a: Bytes, b: Bytes) -> Bool {
        a.count == b.count && a.pointer.equals(b.pointer, count: a.count)
    }

    /// Mixes in the bytes.
    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        unsafe hasher.combine(
            bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(start: start, count: count))
        )
    }

    /// A pointer to the first byte, for unchecked reading.
    @inline(__always)
    var pointer: BytePointer { unsafe BytePointer(start) }
}

extension Array where Element == UInt8 {
    /// Appends the `byteCount` low bytes of a number, the lowest first.
    package mutating func append(littleEndian number: Int, byteCount: Int) {
        for index in 0..<byteCount { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    /// Passes the bytes to `body`, valid only during the call.
    @inlinable
    package func withBytes<R, E: Error>(_ body: (Bytes) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBufferPointer { (buffer) throws(E) -> R in
            try unsafe body(Bytes(buffer))
        }
    }
}

extension String {
    /// Passes the UTF-8 of the string to `body`, valid only during the call.
    @inlinable
    package func withBytes<R>(_ body: (Bytes) throws -> R) rethrows -> R {
        var copy = self
        return try copy.withUTF8 { try unsafe body(Bytes($0)) }
    }
}
