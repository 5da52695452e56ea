package import Files

/// The audit log of a data folder, whether or not a server runs on it: `hearth audit --data-dir`.
package enum AuditCommands {
    /// What was found.
    package struct Found: Sendable {
        /// Lines of JSON, the oldest first.
        package let lines: [[UInt8]]
        /// What cannot be read, in words; nil when all of it can.
        package let damage: String?
    }

    /// Reads the newest entries, up to 1,000; with a text only those that have it.
    package static func newest(
        _ limit: Int,
        inDataFolder folder: String,
        text: String?
    ) throws(FileError) -> Found {
        var query = AuditQuery()
        query.limit = limit
        query.text = text?.lowercased()
        let page = try AuditPage(query, folder: AuditFolder.path(in: folder))
        var damage: [String] = []
        if page.unreadableCount > 0 {
            damage.append("\(page.unreadableCount) lines cannot be read")
        }
        if page.isTorn { damage.append("the last line is torn") }
        return Found(
            lines: page.lines.reversed(),
            damage: damage.isEmpty ? nil : damage.joined(separator: "; ")
        )
    }
}
