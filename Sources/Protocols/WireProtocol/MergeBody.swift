package import JSONTree

/// Why a text is not a multi-path update.
package enum MergeError: Error, Equatable, Sendable {
    case notAnObject
    /// It is not JSON, or a value in it cannot be stored.
    case value(JSONError)
    /// A location cannot be written, or two overlap.
    case target(WriteFault)
}

extension MergeEntry {
    /// Reads an object of relative paths and values, as a REST PATCH carries it.
    ///
    /// The paths begin at `base`. Throws `MergeError`.
    package static func parse(_ text: [UInt8], base: Path) throws(MergeError) -> [MergeEntry] {
        try text.withBytes { bytes throws(MergeError) in try parseBorrowed(bytes, base: base) }
    }

    /// Reads an object of relative paths and values from borrowed bytes.
    ///
    /// The paths begin at `base`; of members with the same name the last counts. Throws `MergeError`.
    package static func parseBorrowed(
        _ text: Bytes,
        base: Path,
    ) throws(MergeError) -> [MergeEntry] {
        let members = try members(text)
        do throws(WriteFault) { return try ofMembers(members, base: base) } catch {
            throw .target(error)
        }
    }

    /// The locations that the members of one object write; of members with the same name the last counts.
    ///
    /// Throws as `checked`.
    package static func ofMembers(
        _ members: [(path: String, draft: Draft)],
        base: Path
    ) throws(WriteFault) -> [MergeEntry] {
        do throws(WriteFault) {
            return try checked(members, base: base)
        } catch {
            guard case .overlap = error, let distinct = withoutRepeatedNames(members) else {
                throw error
            }
            return try checked(distinct, base: base)
        }
    }

    /// The last member of each name, in order; nil when no name is repeated.
    private static func withoutRepeatedNames(
        _ members: [(path: String, draft: Draft)]
    ) -> [(path: String, draft: Draft)]? {
        // As bytes: a `String` equals others that are spelled in other scalars, which are other keys.
        var seen: Set<[UInt8]> = []
        let kept = members.reversed().filter { seen.insert(Array($0.path.utf8)).inserted }
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
