import Testing

@testable import DatabaseServer

@Suite("forms")
struct MultipartTests {
    private func firstFile(_ text: String, boundary: String = "b") throws(BadRequest) -> String {
        let body = Array(text.utf8)
        let range = try MultipartBody.firstFile(in: body, boundary: Array(boundary.utf8))
        return String(decoding: body[range], as: UTF8.self)
    }

    private static let file = "Content-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n"

    @Test(
        "the first part with a file name is the file",
        arguments: [
            ("--b\r\n\(file)\r\n1\r\n--b--\r\n", "1"),
            ("--b\r\n\(file)\r\n\r\n--b--", ""),
            ("--b\r\n\(file)\r\na\r\n--x\r\n\r\n--b--", "a\r\n--x\r\n"),
            ("--b\r\n\(file)\r\none\r\n--b\r\n\(file)\r\ntwo\r\n--b--", "one"),
            ("--b\r\n\r\nplain\r\n--b\r\n\(file)\r\n2\r\n--b--", "2"),
            ("--b\r\nA: filename=x\r\n\r\nno\r\n--b\r\n\(file)\r\n3\r\n--b--", "3"),
            ("words\r\n--b\r\n\(file)\r\n4\r\n--b--", "4"),
            ("--b\r\nX: y\r\ncontent-disposition:form-data;FILENAME*=u\r\n\r\n5\r\n--b--", "5"),
        ]
    )
    func good(body: String, content: String) throws {
        #expect(try firstFile(body) == content)
    }

    @Test(
        "a body without such a part, or that ends within one, is refused",
        arguments: [
            "", "-", "--b", "--b--", "--b\r\n", "--b\r\n\(file)", "--b\r\n\(file)\r\n",
            "--b\r\n\(file)\r\n1", "--b\r\n\(file)\r\n1\r\n--", "--b\r\n\r\nplain\r\n--b--",
            "--b--\r\n\(file)\r\n1\r\n--b--", "x--b\r\n\(file)\r\n1\r\n--b--",
        ]
    )
    func bad(body: String) {
        #expect(throws: BadRequest.self) { try firstFile(body) }
    }

    @Test("no cut of a body is read as more than it is, and none stops the process")
    func cuts() throws {
        let body = "--b\r\n\r\nplain\r\n--b\r\n\(Self.file)\r\n{\"a\":1}\r\n--b--\r\n"
        for count in 0...body.utf8.count {
            let cut = String(decoding: Array(body.utf8)[..<count], as: UTF8.self)
            if let found = try? firstFile(cut) { #expect(found == "{\"a\":1}") }
        }
    }

    @Test(
        "the boundary is a parameter of the type",
        arguments: [
            ("multipart/form-data; boundary=x", "x"),
            ("Multipart/Form-Data;charset=utf-8;Boundary=\"a b\"", "a b"),
            ("multipart/form-data ; boundary = x1 ", "x1"),
        ]
    )
    func boundary(type: String, boundary: String) throws {
        #expect(try MultipartBody.boundary(in: type) == Array(boundary.utf8))
    }

    @Test(
        "a type without a good boundary is refused",
        arguments: [
            "", "application/json", "multipart/mixed; boundary=x", "multipart/form-data",
            "multipart/form-data; boundary=", "multipart/form-data; boundary=\"",
            "multipart/form-data; boundary=\"x",
            "multipart/form-data; boundary=\(String(repeating: "x", count: 71))",
        ]
    )
    func badBoundary(type: String) {
        #expect(throws: BadRequest.self) { try MultipartBody.boundary(in: type) }
    }
}
