/// The scripts that long-polling clients are answered with.
///
///     function pLPCommand(...){...}               once, with the first answer
///     function pRTLPCB(...){...}
///     pLPCommand('start','<id>','<password>');
///     pRTLPCB(0,[{"t":"c",...}]);                 a batch of messages, numbered from 0 without gaps
///     pLPCommand('close',7);                      the end, once batch 7 is read
///
/// A client loads each with a script element in a frame of its own, and the two functions hand what it says
/// to the page around that frame.
package enum PollScript {
    /// The functions that later scripts call. Of `callback`, which a client makes up, only the digits count,
    /// 20 at most: it becomes part of a script.
    package static func functions(callback: String) -> [UInt8] {
        let digits = callback.unicodeScalars.filter { ("0"..."9").contains($0) }.prefix(20)
        let suffix = String(String.UnicodeScalarView(digits))
        return Array(
            """
            function pLPCommand(c,a1,a2,a3,a4){\
            parent.window["pLPCommand\(suffix)"]&&\
            parent.window["pLPCommand\(suffix)"](c,a1,a2,a3,a4);}
            function pRTLPCB(pN,data){\
            parent.window["pRTLPCB\(suffix)"]&&parent.window["pRTLPCB\(suffix)"](pN,data);}

            """.utf8
        )
    }

    /// Sends a client the parameters that its requests must carry. Both are of `A-Z`, `a-z`, `0-9`, `-`, `_`.
    package static func start(id: String, password: String) -> [UInt8] {
        Array("pLPCommand('start','\(id)','\(password)');\n".utf8)
    }

    /// The text before the messages of a batch; commas separate them, `batchEnd` follows.
    package static func batchStart(_ number: Int) -> [UInt8] {
        Array("pRTLPCB(\(number),[".utf8)
    }

    /// The text behind the messages of a batch.
    package static let batchEnd = Array("]);\n".utf8)

    /// The end of a connection: at once, or when the client has read the batch of that number.
    package static func close(after number: Int? = nil) -> [UInt8] {
        Array((number.map { "pLPCommand('close',\($0));\n" } ?? "pLPCommand('close');\n").utf8)
    }

    /// Appends JSON text in a form that is the same value in JSON and in any script, also one that stands in
    /// a page: `<` and the line ends that JSON allows in strings and old scripts do not are escaped.
    ///
    /// All three occur only within strings. The text must not end within a scalar.
    package static func append(_ json: ArraySlice<UInt8>, to out: inout [UInt8]) {
        var start = json.startIndex
        var index = start
        while index < json.endIndex {
            let byte = json[index]
            guard byte == 0x3C || byte == 0xE2 else {
                index += 1
                continue
            }
            guard let (escape, byteCount) = escape(json, at: index) else {
                index += 1
                continue
            }
            out.append(contentsOf: json[start..<index])
            out.append(contentsOf: escape.utf8)
            index += byteCount
            start = index
        }
        out.append(contentsOf: json[start...])
    }

    /// The escape for the scalar at `index`, and the scalar's byte count; nil when it needs none.
    private static func escape(_ json: ArraySlice<UInt8>, at index: Int) -> (String, Int)? {
        if json[index] == 0x3C { return (#"\u003c"#, 1) }
        // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
        guard index + 2 < json.endIndex, json[index + 1] == 0x80 else { return nil }
        switch json[index + 2] {
        case 0xA8: return (#"\u2028"#, 3)
        case 0xA9: return (#"\u2029"#, 3)
        default: return nil
        }
    }

    /// The page of a hidden frame that says goodbye when it goes, with the page around it or before that.
    ///
    /// A beacon outlives its page; browsers without one wait for a request to be sent. Pages that a browser
    /// keeps to come back to go as well: what they ask when they are back is answered with the end.
    package static func disconnectPage(id: String, password: String) -> [UInt8] {
        Array(
            """
            <!DOCTYPE html>
            <html><head><meta charset="utf-8"><title></title></head><body><script>
            var isTold = false;
            function tell() {
              if (isTold) return;
              isTold = true;
              var address = "/.lp?disconn=t&id=\(id)&pw=\(password)";
              if (navigator.sendBeacon && navigator.sendBeacon(address)) return;
              try {
                var request = new XMLHttpRequest();
                request.open("GET", address, false);
                request.send(null);
              } catch (error) {}
            }
            addEventListener("pagehide", tell);
            addEventListener("unload", tell);
            </script></body></html>

            """.utf8
        )
    }
}
