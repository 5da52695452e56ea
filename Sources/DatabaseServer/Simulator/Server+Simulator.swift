import SecurityRules
import Transport

extension Server {
    /// Whether a simulator request asks for an explanation in words and not for JSON.
    func wantsWords(_ head: RequestHead) -> Bool {
        AcceptedTypes(head.headers("accept")).contains("text/plain")
    }
}

extension RESTAnswer {
    /// What came of a simulated request: 200 for either verdict, which a header repeats for those who read the
    /// words.
    static func simulated(_ answer: SimulationAnswer) -> HTTPResponse {
        let verdict = (name: "Hearth-Verdict", value: answer.isAllowed ? "allowed" : "refused")
        let type = answer.isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8"
        let headers = [
            (name: "Content-Type", value: type), (name: "Cache-Control", value: "no-cache"),
            verdict,
        ]
        let body = answer.isText ? answer.body + [0x0A] : answer.body
        return HTTPResponse(status: 200, headers: headers, body: body)
    }
}
