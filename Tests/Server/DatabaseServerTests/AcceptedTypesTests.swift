import Testing

@testable import DatabaseServer

@Suite("The types that a client takes")
struct AcceptedTypesTests {
    @Test(
        "are those it names with a weight",
        arguments: [
            (["text/event-stream"], true),
            (["text/html", "TEXT/Event-Stream"], true),
            (["application/json;q=0.9,text/event-stream ; q=0.1"], true),
            (["text/event-stream;charset=utf-8;q=1"], true),
            (["text/event-stream;q=nonsense"], true),
            (["text/event-stream;q=0"], false),
            (["text/event-stream; q=0.000"], false),
            (["text/event-stream2", "text/*", "*/*"], false),
            ([",;,", ";q=1", ""], false),
            ([], false),
        ]
    )
    func named(headers: [String], isTaken: Bool) {
        #expect(AcceptedTypes(headers).contains("text/event-stream") == isTaken)
    }
}
