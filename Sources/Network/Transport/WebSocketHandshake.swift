import CTransport

/// The server's half of the opening handshake (RFC 6455, section 4.2).
enum WebSocketHandshake {
    /// The answer that opens the WebSocket.
    ///
    /// - Throws: `RequestFault` when the request is not a proper handshake.
    static func accept(
        _ head: RequestHead,
        subprotocol: String?,
        unixSeconds: Int
    ) throws(RequestFault) -> [UInt8] {
        guard head.method == "GET", !head.isHTTP10 else {
            throw .badUpgrade("only GET in HTTP/1.1")
        }
        guard head.framing == .none else { throw .badUpgrade("it has a body") }
        guard head.headers("sec-websocket-version") == ["13"] else {
            throw .unsupportedWebSocketVersion
        }
        let keys = head.headers("sec-websocket-key")
        guard keys.count == 1, isKey(keys[0]) else {
            throw .badUpgrade("Sec-WebSocket-Key is not 16 bytes in base64")
        }
        var text = "HTTP/1.1 101 Switching Protocols\r\nDate: \(HTTPDate.text(unixSeconds))\r\n"
        text += "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Accept: \(acceptValue(keys[0]))\r\n"
        if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        return Array("\(text)\r\n".utf8)
    }

    static func acceptValue(_ key: String) -> String {
        var out = [CChar](repeating: 0, count: 29)
        key.withCString { hearth_websocket_accept($0, key.utf8.count, &out) }
        return text(out)
    }

    /// 16 bytes in base64 are 22 digits, the last with 4 idle bits, and two pads.
    private static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[22...].elementsEqual("==".utf8) else { return false }
        return bytes[..<22].allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
