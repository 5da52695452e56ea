import Glibc
import LoopSupport
import Testing

@testable import Transport

@Suite("The last answer of a connection")
struct LastAnswerTests {
    private static let goodbye = Duration.milliseconds(50)

    @Test("a reader who goes on reading may take longer over it than a goodbye may")
    func slowReader() throws {
        let server = try TestServer { $0.timeouts.goodbye = Self.goodbye }
        let client = try RawClient(server.port, receiveBuffer: 4096)
        try client.send(
            "GET /big?bytes=20000000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        )
        #expect(client.wait(for: Int32(POLLIN)))
        let later = Waiter<Void>()
        onLoop { _ = EventLoop.shared.after(Self.goodbye * 4) { later.fulfil(()) } }
        later.wait()
        #expect(try client.readResponse().body.count == 20_000_000)
    }

    @Test("one that took longer to make than a goodbye may take still arrives")
    func slowMaker() throws {
        let server = try TestServer { $0.timeouts.goodbye = Self.goodbye }
        let client = try RawClient(server.port)
        try client.send("GET /hold HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        server.wait { $0.heldExchanges.count == 1 }
        server.read { application in
            let end = monotonicNanoseconds() + (Self.goodbye * 4).nanoseconds
            while monotonicNanoseconds() < end {}
            application.heldExchanges[0].respond(.text(200, "late"))
        }
        #expect(try client.readResponse().status == 200)
    }
}
