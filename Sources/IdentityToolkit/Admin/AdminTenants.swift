extension IdentityToolkit {
    /// `v2/projects/P/tenants`: there are none, and none can be made.
    static func tenants(_ request: IdentityRequest) throws(IdentityError) -> IdentityStep {
        guard request.verb == "GET" else { throw .notImplemented("A tenant") }
        var body = JSONMembers()
        body.add("tenants", .list([]))
        return .answer(IdentityAnswer(body))
    }
}
