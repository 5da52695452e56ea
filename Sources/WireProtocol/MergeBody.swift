package import JSONTree

/// Why a text is no multi-path update.
package enum MergeError: Error, Equatable, Sendable {
    case notAnObject
    /// It is not JSON, or a value in it cannot be stored.
    case value(JSONError)
    /// A path is bad, or two exclude each other; the text is for people.
    case path(String)
}

extension MergeEntry {
    /// Reads an object of relative paths and values, as a REST PATCH carries it.
    ///
    /// The paths begin at `base`. Throws `MergeError`.
    package static func parse(
        _ text: [UInt8],
        base: Path,
    ) throws(MergeError) -> [MergeEntry] {
        do throws(ReadingStop) {
            return try text.withBytes { bytes throws(ReadingStop) in
                var reader = MemberReader(bytes, 0..<bytes.count)
                guard try reader.enterObject() else { throw .envelope(.notAnObject) }
                var entries: [(path: String, draft: Draft)] = []
                while let path = try reader.nextMember() {
                    entries.append((path, try reader.draft()))
                }
                try reader.expectEnd()
                return try RequestBodyReader.checked(entries, base: base)
            }
        } catch {
            switch error {
            case .json(let fault): throw .value(fault)
            case .envelope: throw .notAnObject
            case .body(let text): throw .path(text)
            }
        }
    }
}
