import Testing

@testable import Commands

@Suite("an answer that has to be JSON")
struct JSONValidatorTests {
    /// Whether `text` is taken as a whole, and byte by byte.
    private func accepts(_ text: String) -> [Bool] {
        let bytes = Array(text.utf8)
        var validator = JSONValidator()
        var isGood = true
        for byte in bytes { isGood = withUnsafeBytes(of: byte) { validator.read($0) } && isGood }
        return [JSONValidator.accepts(bytes), isGood && validator.isWhole]
    }

    @Test(
        "is one whole value, with white space around it",
        arguments: [
            "null", " true\n", "0", "-1.5e+10", "17\n", #""""#, #""a\"\\\u00eF/\n""#, "{}", "[]",
            "[ ]", "{ }",
            #"{"a":{"b":[1,"x",{}]},"c":null}"#, "[[],{}]", #" { "a" : [ 1 , 2 ] } "#, #""ä€😀""#,
            String(repeating: "[", count: 256) + String(repeating: "]", count: 256),
        ]
    )
    func good(text: String) {
        #expect(accepts(text) == [true, true])
    }

    @Test(
        "is not cut short, and nothing else",
        arguments: [
            "", " ", "<html>", "{", #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, "[1,]", "[1",
            "[,]", "{,}",
            "[1]]", "{}{}", "1 2", "tru", "nul", "-", "1.", "01", "1e", "+1", ".5", "NaN",
            #"{"a"}"#, #"{a:1}"#,
            #"{"a":1]"#, "[1}", #""abc"#, #""a\"#, #""\x""#, #""\u12g4""#, "\"a\u{1B}\"",
            "\"a\nb\"", "]", "truefalse",
            "{1:2}", #"["a" "b"]"#, #"{"a":1 "b":2}"#, "/**/1", "{\"a\":1}\u{0}",
            String(repeating: "[", count: 257) + String(repeating: "]", count: 257),
        ]
    )
    func bad(text: String) {
        #expect(accepts(text) == [false, false])
    }

    @Test("no start of a value is a whole value")
    func cuts() {
        let text = #"{"a":{"b":[1.5,"x\u00e4",true,null,{}]}}"#
        for count in 0..<text.utf8.count {
            let start = String(decoding: Array(text.utf8).prefix(count), as: UTF8.self)
            #expect(accepts(start) == [false, false], "\(start)")
        }
    }

    @Test("a control character is found at every place of a text")
    func places() {
        for count in 0..<20 {
            let plain = String(repeating: "\u{7F}", count: count) + "\u{80}!#[]~"
            #expect(accepts("\"\(plain)\"") == [true, true])
            #expect(accepts("\"\(plain)\u{1F}\(plain)\"") == [false, false])
            #expect(accepts("\"\(plain)\"\(plain)\"") == [false, false])
            #expect(accepts("\"\(plain)\\\"\(plain)\"") == [true, true])
        }
    }
}
