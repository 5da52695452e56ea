package import DataCommands

/// `hearth rules coverage` and `hearth rules requests`: what the rules of a running server have decided.
package enum RulesInspection {
    private static let coverage = DatabasePath("/.inspect/coverage")
    static let requests = DatabasePath("/.inspect/requests")

    /// Prints how often each rule was consulted and what it came to, or writes that to a file.
    ///
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package static func showCoverage(
        of database: RemoteDatabase,
        as form: InspectionForm,
        to output: String?
    ) throws(CommandError) {
        try database.copyInspection(coverage, as: form, to: output)
    }

    /// Has the server count anew.
    ///
    /// - Throws: `CommandError` when the server refuses.
    package static func resetCoverage(of database: RemoteDatabase) throws(CommandError) {
        try database.clearInspection(coverage)
    }

    /// Which requests are meant.
    package struct Choice: Sendable {
        package var isRefused = false
        /// At or below it.
        package var path: String?
        package var uid: String?
        package var limit: Int?

        package init() {}

        var parameters: [(name: String, value: String)] {
            var parameters: [(name: String, value: String)] = []
            if isRefused { parameters.append(("refused", "true")) }
            if let path { parameters.append(("path", path)) }
            if let uid { parameters.append(("uid", uid)) }
            if let limit { parameters.append(("limit", "\(limit)")) }
            return parameters
        }
    }

    /// Prints the newest requests that the rules decided, and why.
    ///
    /// - Throws: `CommandError` when the server refuses.
    package static func showRequests(
        to database: RemoteDatabase,
        _ choice: Choice,
        as form: InspectionForm
    ) throws(CommandError) {
        try database.copyInspection(requests, choice.parameters, as: form)
    }
}
