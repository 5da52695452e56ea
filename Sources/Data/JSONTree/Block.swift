/// One encoded value: a run of bytes, and the blocks it refers to.
///
///     [object header 16][byteCount i32, childCount i32, referenceCount i32, height i32]
///     [references 8 each][bytes]
///
/// The bytes are drawn in `Encoding.swift`. A block is immutable once it is shared; `Node+Write`
/// edits one in place only behind `isKnownUniquelyReferenced`. The references are counted by hand,
/// here and nowhere else: a slot owns one retain of the block in it.
@safe
final class Block: ManagedBuffer<Block.Header, UInt8> {
    struct Header {
        let byteCount: Int32
        /// Children of the map that this block is the top of, or is a page of.
        var childCount: Int32
        /// Blocks this one holds on to; their addresses come before the bytes.
        let referenceCount: Int32
        /// Levels of branches from here down to the pages; 0 for everything but a branch.
        var height: Int32
    }

    /// A block whose bytes and references are still to be filled in, every one of them.
    @inline(__always)
    static func make(byteCount: Int, childCount: Int, referenceCount: Int = 0) -> Block {
        let block = Block.create(minimumCapacity: byteCount + 8 * referenceCount) { _ in
            Header(
                byteCount: Int32(byteCount),
                childCount: Int32(childCount),
                referenceCount: Int32(referenceCount),
                height: 0
            )
        }
        return unsafe unsafeDowncast(block, to: Block.self)
    }

    deinit {
        for index in 0..<referenceCount { unsafe slots[index].release() }
    }

    @inline(__always)
    private var slots: UnsafeMutablePointer<Unmanaged<Block>> {
        unsafe withUnsafeMutablePointerToElements {
            unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: Unmanaged<Block>.self)
        }
    }

    @inline(__always)
    var byteCount: Int {
        unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.byteCount) }
    }

    @inline(__always)
    var referenceCount: Int {
        unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.referenceCount) }
    }

    @inline(__always)
    var childCount: Int {
        get { unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.childCount) } }
        set {
            unsafe withUnsafeMutablePointerToHeader {
                unsafe $0.pointee.childCount = Int32(newValue)
            }
        }
    }

    @inline(__always)
    var height: Int {
        get { unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.height) } }
        set {
            unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.height = Int32(newValue) }
        }
    }

    /// The first byte. The pointer is valid while the block is alive.
    @inline(__always)
    var start: BytePointer { mutableStart.pointer }

    /// The first byte, for filling in a block that no other code has seen.
    @inline(__always)
    var mutableStart: MutableBytePointer {
        unsafe withUnsafeMutablePointers {
            unsafe MutableBytePointer($1 + 8 * Int($0.pointee.referenceCount))
        }
    }

    @inline(__always)
    var isBranch: Bool { start[0] == TypeByte.branch }

    @inline(__always)
    var isMap: Bool { start[0] == TypeByte.map || start[0] == TypeByte.branch }

    @inline(__always)
    func reference(_ index: Int) -> Block {
        unsafe slots[index].takeUnretainedValue()
    }

    /// Passes the block in slot `index` without counting a reference; self must stay alive.
    @inline(__always)
    func withReference<R>(_ index: Int, _ body: (Block) -> R) -> R {
        unsafe slots[index]._withUnsafeGuaranteedRef(body)
    }

    /// Fills the empty slot `index`.
    @inline(__always)
    func setReference(_ index: Int, _ block: Block) {
        unsafe slots[index] = Unmanaged.passRetained(block)
    }

    /// Fills the empty slots from `index` on with the references `range` of `block`.
    @inline(__always)
    func setReferences(from index: Int, _ range: Range<Int>, of block: Block) {
        let from = unsafe block.slots
        let to = unsafe slots + (index - range.lowerBound)
        for index in range { unsafe to[index] = from[index].retain() }
    }

    /// Edits the block in slot `index` through the only reference that this block holds to it.
    ///
    /// Self must be unshared.
    @inline(__always)
    func editReference<R>(_ index: Int, _ body: (inout Block) -> R) -> R {
        let slot = unsafe slots + index
        var child = unsafe slot.pointee.takeRetainedValue()
        defer { unsafe slot.pointee = Unmanaged.passRetained(child) }
        return body(&child)
    }

    /// A block with the same bytes and references.
    func copied() -> Block {
        let block = Block.make(
            byteCount: byteCount,
            childCount: childCount,
            referenceCount: referenceCount
        )
        block.height = height
        block.setReferences(from: 0, 0..<referenceCount, of: self)
        block.mutableStart.copy(from: start, count: byteCount)
        return block
    }

    /// Passes the page below this map where `key` belongs, and counts no references on the way down.
    @inline(__always)
    func withPage<R>(for key: Bytes, _ body: (Block) -> R) -> R {
        withExtendedLifetime(self) {
            var block = unsafe Unmanaged.passUnretained(self)
            while true {
                let next: Unmanaged<Block>? = unsafe block._withUnsafeGuaranteedRef {
                    unsafe $0.isBranch ? $0.slots[Entries($0.start).page(for: key)] : nil
                }
                guard let next = unsafe next else { break }
                unsafe block = next
            }
            return unsafe block._withUnsafeGuaranteedRef(body)
        }
    }
}

extension Block {
    /// Bytes of an object without its elements.
    private static var headByteCount: Int { 32 }

    /// Memory of this block and those below it, in bytes; a shared one counts each time. O(blocks).
    var memoryByteCount: Int {
        var sum = Self.headByteCount + byteCount + 8 * referenceCount
        for index in 0..<referenceCount { sum += reference(index).memoryByteCount }
        return sum
    }
}

extension Node {
    /// Memory of its blocks in bytes; 0 without blocks. O(blocks).
    var memoryByteCount: Int {
        if case .packed(let block, _) = storage { block.memoryByteCount } else { 0 }
    }
}
