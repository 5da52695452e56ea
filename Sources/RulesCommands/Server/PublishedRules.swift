import DataCommands
import HTTPClient
import JSONTree

/// The rules of a database, as its server tells of them.
struct PublishedRules {
    /// The versions of its own that the server keeps, the newest first.
    let versions: [PublishedVersion]
    /// Which rules it has while it has none of its own; nil when the server does not tell.
    let fallback: Fallback?

    enum Fallback: Equatable {
        case file(String)
        case samples
        case open
        case closed

        /// For people, as a noun.
        var text: String {
            switch self {
            case .file(let path): "the server's file \(path)"
            case .samples: "the sample rules"
            case .open: "none: open to everybody"
            case .closed: "none: everything is denied"
            }
        }

        /// Reads `{"source":"file","file":"rules.json"}`.
        init?(_ node: Node) {
            switch node["source"].string {
            case "file":
                guard let path = node["file"].string else { return nil }
                self = .file(path)
            case "samples": self = .samples
            case "open": self = .open
            case "closed": self = .closed
            default: return nil
            }
        }
    }

    /// Asks the server.
    ///
    /// - Throws: `CommandError` when it refuses, or answers something else.
    init(of database: RemoteDatabase) throws(CommandError) {
        let request = database.request(.get, PublishedVersion.address)
        let body = try database.perform(request).body
        guard let versions = PublishedVersion.read(body) else {
            throw .failed("\(database.place) answers no history of rules: is it an older server?")
        }
        self.init(versions, body)
    }

    /// With the answer whose versions these are.
    init(_ versions: [PublishedVersion], _ body: [UInt8]) {
        self.versions = versions
        do throws(JSONError) {
            fallback = Fallback(try Node(json: body)["withoutOwn"])
        } catch {
            fallback = nil
        }
    }

    /// The version in force; nil when the database has no rules of its own.
    var own: PublishedVersion? { versions.first.flatMap { $0.isDetached ? nil : $0 } }

    /// For people: `in force: version 7 (by ann, ...)`, and which file is not used; nil when it is not known.
    var inForceText: String? {
        if let own { return "in force: version \(own.shown)\(unusedFileText)" }
        return fallback.map { "in force: \($0.text)" }
    }

    /// What goes behind own rules that are in force, when a file is configured; else nothing.
    var unusedFileText: String {
        guard case .file(let path) = fallback else { return "" }
        return "; the server's file \(path) is not used ('hearth rules detach' goes back to it)"
    }
}
