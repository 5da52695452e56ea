package import JSONTree

/// Why a text is no multi-path update.
package enum MergeError: Error, Equatable, Sendable {
    case notAnObject
    /// It is not JSON, or a value in it cannot be stored.
    case value(JSONError)
    /// A place cannot be written, or two exclude each other.
    case place(WriteFault)
}

extension MergeEntry {
    /// Reads an object of relative paths and values, as a REST PATCH carries it.
    ///
    /// The paths begin at `base`. Throws `MergeError`.
    package static func parse(
        _ text: [UInt8],
        base: Path,
    ) throws(MergeError) -> [MergeEntry] {
        try text.withBytes { bytes throws(MergeError) in try parse(bytes, base: base) }
    }

    /// Reads an object of relative paths and values from borrowed bytes.
    ///
    /// The paths begin at `base`; of members with the same name the last counts. Throws `MergeError`.
    package static func parse(
        _ text: Bytes,
        base: Path,
    ) throws(MergeError) -> [MergeEntry] {
        let members = try members(text)
        do throws(WriteFault) {
            return try checked(members, base: base)
        } catch {
            guard case .overlap = error, let distinct = withoutRepeatedNames(members) else {
                throw .place(error)
            }
            do throws(WriteFault) { return try checked(distinct, base: base) } catch {
                throw .place(error)
            }
        }
    }

    /// The last member of each name, in order; nil when no name is repeated.
    private static func withoutRepeatedNames(
        _ members: [(path: String, draft: Draft)]
    ) -> [(path: String, draft: Draft)]? {
        var seen: Set<String> = []
        let kept = members.reversed().filter { seen.insert($0.path).inserted }
        return kept.count < members.count ? kept.reversed() : nil
    }

    private static func members(
        _ text: Bytes
    ) throws(MergeError) -> [(path: String, draft: Draft)] {
        var scanner = JSONScanner(text)
        var entries: [(path: String, draft: Draft)] = []
        let isObject: Bool
        do throws(JSONError) {
            isObject = try scanner.peek() == UInt8(ascii: "{")
            if isObject {
                try scanner.enterObject()
                while let path = try scanner.nextMember() {
                    entries.append((path, try scanner.readDraft()))
                }
                try scanner.expectEnd()
            }
        } catch {
            throw .value(error)
        }
        if !isObject { throw .notAnObject }
        return entries
    }
}
