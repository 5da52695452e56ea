/// Where the records of the last segment end, as a pass over the log found it.
struct LogEnd {
    /// The last segment.
    var segment: LogPosition
    /// Where its records end, seal included.
    var offset: UInt64
    /// Whether the last of them is a seal.
    var isSealed: Bool
    /// Bytes that the segment had durably before its first record; 0 when an older server made it.
    var preallocatedByteCount: UInt64

    /// Makes the segment end there, durably: the next segment's header will say so. Returns the end.
    ///
    /// All of it is durable already. A torn tail is cut. A segment that becomes shorter than it was made is sealed
    /// first, so that a crash in between leaves no short one that looks as if its end were lost.
    func settle(at position: LogPosition, in folder: LogFolder) throws(LogError) -> ClosedEnd {
        let path = FolderLayout.segment(segment)
        var end = ClosedEnd(segment: segment, byteCount: offset, position: position)
        guard let file = try folder.storage.open(path) else {
            throw .damage(LogDamage(file: path, offset: 0, fault: .missing))
        }
        defer { file.close() }
        if !isSealed, offset < preallocatedByteCount {
            let seal = ByteBuffer(capacity: RecordHeader.byteCount)
            let header = RecordHeader(
                kind: .seal,
                position: position,
                durableThrough: position,
                commit: 0,
                time: 0,
                nameByteCount: 0,
                payloadByteCount: 0,
            )
            let salt = checksumSalt(folderID: folder.id, position: segment)
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            RecordFormat.append(header, name: [], payload: nothing, salt: salt, to: seal)
            try seal.withBytes { bytes throws(LogError) in try file.write(bytes, at: offset) }
            try file.sync()
            end.byteCount += UInt64(RecordHeader.byteCount)
        }
        if try file.byteCount() > end.byteCount {
            try file.truncate(to: end.byteCount)
            try file.sync()
        }
        try folder.storage.syncFolder(FolderLayout.log)
        return end
    }
}
