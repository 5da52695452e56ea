import DataCommands
import JSONTree

/// One version of the rules of a database, as its server lists it.
struct PublishedVersion: Equatable {
    let number: Int
    /// When it came in force; nil where the server does not know.
    let time: Timestamp?
    /// Who put it in force; nil where the server does not know.
    let author: String?
    let isInForce: Bool
    let byteCount: Int
    /// Whether it is that of no rules of the database's own.
    let isDetached: Bool

    static let address = DatabasePath("/.settings/rules_history")

    /// For people, in the middle of a sentence: `7 (by ann, 2026-01-31T23:59:59.999Z)`.
    var shown: String {
        let facts = [author.map { "by \($0)" }, time.map { ISO8601.text(of: $0.milliseconds) }]
        let known = facts.compactMap { $0 }
        return known.isEmpty ? "\(number)" : "\(number) (\(known.joined(separator: ", ")))"
    }

    /// Reads `{"versions":[...]}`; nil when it is something else.
    static func read(_ body: [UInt8]) -> [PublishedVersion]? {
        // What says null to everything is no database with a history.
        if body.first != UInt8(ascii: "{") { return nil }
        let answer: Node
        do throws(JSONError) { answer = try Node(json: body) } catch { return nil }
        let list = answer["versions"]
        var versions: [PublishedVersion] = []
        // An empty list is no node, nor is what holds nothing else.
        var isWhole = (answer.isMap || answer.isAbsent) && (list.isMap || list.isAbsent)
        list.visitChildren { _, entry in
            guard let number = entry["number"].integer, let byteCount = entry["bytes"].integer
            else {
                isWhole = false
                return false
            }
            versions.append(
                PublishedVersion(
                    number: Int(number),
                    time: entry["time"].integer.map { Timestamp(milliseconds: $0) },
                    author: entry["author"].string,
                    isInForce: entry["inForce"].boolean ?? false,
                    byteCount: Int(byteCount),
                    isDetached: entry["detached"].boolean ?? false,
                )
            )
            return true
        }
        return isWhole ? versions : nil
    }
}
