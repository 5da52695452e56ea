import JSONTree
import Testing

@testable import ObjectStorage

@Suite("XML of stores")
struct XMLTests {
    private static func read(_ text: String) throws(XMLFault) -> XMLElement {
        try XMLReader.read(Array(text.utf8))
    }

    @Test("is read with what stores write")
    func reads() throws {
        let root = try Self.read(
            """
            \u{FEFF} <?xml version="1.0" encoding='UTF-8'?>
              \n <Error xmlns="http://s3.amazonaws.com/doc/2006-03-01/" a:b='>' >
              <Code>No&#83;uch&#x4B;ey</Code><Message>a &lt;b&gt; &amp;amp; &quot;c&apos; ü</Message>
              <Empty/><Other /><Space> a
            </Space></Error>\r\n
            """
        )
        #expect(root.name == "Error")
        #expect(root.children.map(\.name) == ["Code", "Message", "Empty", "Other", "Space"])
        #expect(root.text(of: "Code") == "NoSuchKey")
        #expect(root.text(of: "Message") == "a <b> &amp; \"c' ü")
        #expect(root.text(of: "Empty") == "")
        #expect(root.text(of: "Space") == " a\n")
        #expect(root.text(of: "None") == nil)
    }

    @Test(
        "is refused when it is anything else",
        arguments: [
            "", " ", "text", "<", "<a", "<a>", "<a></b>", "<a></a", "<a/><b/>", "<a/>text",
            "<a b></a>", "<a b=c></a>", "<a b=\"c></a>", "<a b=\"<\"/>", "<a>&</a>", "<a>&b;</a>",
            "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&#-1;</a>", "<a>&#;</a>",
            "<a>&lt</a>", "<a>text<b/></a>", "<a><b/>text</a>", "<!DOCTYPE a><a/>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a><!-- b --></a>",
            "<a><![CDATA[b]]></a>", "<a><?b?></a>", "<?xml", "<1/>", "<-a/>", "< a/>", "<a/ >",
            String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
            "<a>" + String(repeating: "<b/>", count: 100_000) + "</a>",
        ]
    )
    func refused(text: String) {
        #expect(throws: XMLFault.self) { try Self.read(text) }
    }

    @Test("is refused when it is not UTF-8")
    func encoding() {
        #expect(throws: XMLFault(reason: "is not UTF-8", offset: 0)) {
            try XMLReader.read(Array("<a>".utf8) + [0xFF] + Array("</a>".utf8))
        }
    }

    @Test("cut anywhere is no XML")
    func cuts() {
        let text = "<?xml version=\"1.0\"?><a b=\"c\"><d>e&amp;</d><f/></a>"
        for count in 0..<text.utf8.count {
            #expect(throws: XMLFault.self, "\(count)") {
                try XMLReader.read(Array(text.utf8.prefix(count)))
            }
        }
    }

    @Test("with any byte changed ends nothing")
    func changes() {
        let bytes = Array("<?xml version=\"1.0\"?><a b=\"c\"><d>e&#65;</d><f/></a>".utf8)
        var readCount = 0
        for index in bytes.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = byte
                do throws(XMLFault) {
                    _ = try XMLReader.read(changed)
                    readCount += 1
                } catch {
                    #expect(error.offset <= bytes.count)
                }
            }
        }
        #expect(readCount > bytes.count)
    }

    @Test("of a list gives its objects, with names as they are")
    func list() throws {
        let page = try ObjectStore.page(
            try Self.read(
                """
                <ListBucketResult><Name>files</Name><EncodingType>url</EncodingType>\
                <IsTruncated>true</IsTruncated><KeyCount>2</KeyCount>
                <Contents><Key>a+b%2Bc/%C3%BC%0A</Key><LastModified>2026-09-30T17:26:04.648Z\
                </LastModified><ETag>"x"</ETag><Size>5000000000</Size></Contents>
                <Contents><Key>b</Key><LastModified>2026-09-30T17:26:05Z</LastModified>\
                <Size>0</Size></Contents></ListBucketResult>
                """
            )
        )
        #expect(page.objects.map(\.key) == ["a b+c/ü\n", "b"])
        #expect(page.objects.map(\.byteCount) == [5_000_000_000, 0])
        #expect(
            page.objects.map(\.modified.milliseconds) == [1_790_789_164_648, 1_790_789_165_000]
        )
        #expect(!page.isLast)
    }

    @Test(
        "of a list that lacks what it must have is refused",
        arguments: [
            "", "<IsTruncated>maybe</IsTruncated>", "<IsTruncated>true</IsTruncated>",
            "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>1</Size></Contents>",
            """
            <IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>-1</Size>\
            <LastModified>2026-09-30T17:26:05Z</LastModified></Contents>
            """,
            """
            <IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><Contents><Key>a%4</Key>\
            <Size>1</Size><LastModified>2026-09-30T17:26:05Z</LastModified></Contents>
            """,
        ]
    )
    func poorLists(inner: String) throws {
        let root = try Self.read("<ListBucketResult>\(inner)</ListBucketResult>")
        #expect(throws: StoreFault.self) { try ObjectStore.page(root) }
    }

    @Test("of the parts of an upload is what is read")
    func completion() throws {
        let root = try Self.read(ObjectStore.completion(["\"a\"", "<&>"]))
        #expect(root.children.map { $0.text(of: "PartNumber") } == ["1", "2"])
        #expect(root.children.map { $0.text(of: "ETag") } == ["\"a\"", "<&>"])
    }
}
