import TestSupport
import Testing

@testable import Photos

@Suite("Photo")
struct PhotoTests {
    /// The points of a photo, of 8 bits.
    private func points(_ photo: Photo) throws -> Raster {
        try PNGImage.read(PNGChunks(photo.png))
    }

    @Test("a picture of 300 points or fewer keeps its points", arguments: [1, 7, 299, 300])
    func narrow(width: Int) throws {
        let png = TestPNG(width: width, height: 3) { x, y, c in (x * 3 + y * 50 + c * 80) % 256 }
        let photo = try Photo(png: png.bytes)
        #expect((photo.width, photo.height) == (width, 3))
        let raster = try points(photo)
        for y in 0..<3 {
            for x in 0..<width {
                for c in 0..<3 {
                    let sample = Int(raster.samples[(y * width + x) * 3 + c])
                    #expect(sample == png.sample(x, y, c))
                }
            }
        }
    }

    @Test(
        "a wider picture becomes 300 wide and keeps its shape",
        arguments: [(301, 301, 300), (600, 400, 200), (3000, 1, 1), (451, 300, 200), (900, 5, 2)]
    )
    func wide(width: Int, height: Int, newHeight: Int) throws {
        let photo = try Photo(png: TestPNG(width: width, height: height, color: .gray).bytes)
        #expect((photo.width, photo.height) == (300, newHeight))
        #expect(photo.png.count <= PhotoLimits.byteCount)
    }

    @Test("averages are of light: black and white in turn become the gray that is half as bright")
    func averages() throws {
        let png = TestPNG(width: 600, height: 4, color: .gray) { x, _, _ in x % 2 * 255 }
        let raster = try points(Photo(png: png.bytes))
        #expect(raster.channelCount == 1)
        #expect(raster.samples.allSatisfy { (187...189).contains($0) })
    }

    @Test(
        "each point is the average of what it covers, whatever the ratio",
        arguments: TestSeed.seeds(20)
    )
    func area(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func next(_ limit: Int) -> Int { random.index(limit) }
        let (width, height) = (next(30) + 2, next(30) + 1)
        let old = Raster(
            width: width,
            height: height,
            channelCount: 1,
            samples: (0..<width * height).map { _ in UInt8(next(256)) }
        )
        let new = old.shrunk(to: next(width) + 1)
        for y in 0..<new.height {
            for x in 0..<new.width {
                var (sum, weight) = (0.0, 0.0)
                let columns = Double(width) / Double(new.width)
                let rows = Double(height) / Double(new.height)
                for oldY in 0..<height {
                    let high =
                        min(Double(oldY + 1), Double(y + 1) * rows)
                        - max(Double(oldY), Double(y) * rows)
                    guard high > 0 else { continue }
                    for oldX in 0..<width {
                        let wide =
                            min(Double(oldX + 1), Double(x + 1) * columns)
                            - max(Double(oldX), Double(x) * columns)
                        guard wide > 0 else { continue }
                        sum +=
                            high * wide
                            * Double(Light.ofSample[Int(old.samples[oldY * width + oldX])])
                        weight += high * wide
                    }
                }
                let expected = Light.sample(of: UInt16((sum / weight).rounded()))
                let sample = new.samples[y * new.width + x]
                #expect(abs(Int(sample) - Int(expected)) <= 1, "seed \(seed)")
            }
        }
    }

    @Test("each of the 256 numbers is the one whose light it is")
    func light() {
        for sample in UInt8.min...UInt8.max {
            #expect(Light.sample(of: Light.ofSample[Int(sample)]) == sample)
        }
    }

    @Test("a wide picture of one color keeps it, the dark ones too", arguments: 0...15)
    func oneColor(seed: Int) throws {
        let color = [seed, seed * 7, 255 - seed, 1 + seed * 16].map { UInt8($0) }
        let png = TestPNG(width: 411, height: 3, color: .rgba) { _, _, c in Int(color[c]) }
        let raster = try points(Photo(png: png.bytes))
        #expect(raster.samples == (0..<raster.width * raster.height).flatMap { _ in color })
    }

    @Test("what cannot be seen does not color what can")
    func transparency() throws {
        // Red that is solid beside green that is not there.
        let png = TestPNG(width: 600, height: 2, color: .rgba) { x, _, c in
            x % 2 == 0 ? [255, 0, 0, 255][c] : [0, 255, 0, 0][c]
        }
        let raster = try points(Photo(png: png.bytes))
        #expect(Array(raster.samples.prefix(3)) == [255, 0, 0])
        #expect((127...128).contains(raster.samples[3]))
    }

    @Test("every kind of points is read, wide or narrow, interlaced or not", arguments: [20, 310])
    func kinds(width: Int) throws {
        let kinds: [(TestPNG.Color, [Int])] = [
            (.gray, [1, 2, 4, 8, 16]), (.rgb, [8, 16]), (.palette, [1, 2, 4, 8]),
            (.grayAlpha, [8, 16]), (.rgba, [8, 16]),
        ]
        for (color, depths) in kinds {
            for bits in depths {
                for isInterlaced in [false, true] {
                    var png = TestPNG(width: width, height: 9, bits: bits, color: color)
                    png.isInterlaced = isInterlaced
                    png.sample = { _, _, _ in 1 << bits - 1 }
                    if color == .palette {
                        let palette = (0..<1 << bits).flatMap { _ in [10, 20, 30] as [UInt8] }
                        png.chunks = [("PLTE", palette), ("tRNS", [255, 255])]
                    }
                    let raster = try points(Photo(png: png.bytes))
                    #expect(raster.width == min(width, 300))
                    if color == .palette {
                        #expect(Array(raster.samples.prefix(4)) == [10, 20, 30, 255])
                    } else {
                        #expect(raster.samples.allSatisfy { $0 == 255 }, "\(color) \(bits)")
                    }
                }
            }
        }
    }

    @Test("16 bits without a word about light are sRGB like 8 bits")
    func sixteenBits() throws {
        let wide = TestPNG(width: 10, height: 1, bits: 16) { x, _, _ in x * 25 * 257 }
        let narrow = TestPNG(width: 10, height: 1) { x, _, _ in x * 25 }
        let (a, b) = (try points(Photo(png: wide.bytes)), try points(Photo(png: narrow.bytes)))
        for (one, other) in zip(a.samples, b.samples) { #expect(abs(Int(one) - Int(other)) <= 1) }
    }

    @Test("interlaced points are where they belong")
    func interlaced() throws {
        var png = TestPNG(width: 23, height: 17) { x, y, c in (x * 11 + y * 13 + c) % 256 }
        let plain = try Photo(png: png.bytes)
        png.isInterlaced = true
        #expect(try Photo(png: png.bytes) == plain)
    }

    @Test("texts, places, profiles, animations and what follows the end stay behind")
    func extras() throws {
        var png = TestPNG(width: 5, height: 5) { x, _, _ in x * 9 }
        let plain = try Photo(png: png.bytes)
        png.chunks = [
            ("tEXt", Array("Author\0Ann".utf8)), ("eXIf", [1, 2, 3]), ("iCCP", [65, 0, 0, 1]),
            ("acTL", TestPNG.four(2) + TestPNG.four(0)),
            ("fcTL", [UInt8](repeating: 0, count: 26)), ("fdAT", TestPNG.four(1) + [1, 2]),
        ]
        png.tail = Array("<script>".utf8)
        #expect(try Photo(png: png.bytes) == plain)
        #expect(plain.png.suffix(12) == TestPNG.chunk("IEND", [])[...])
    }

    @Test("a photo's own bytes are the same photo", arguments: [30, 700])
    func again(width: Int) throws {
        let png = TestPNG(width: width, height: 40, color: .rgba) { x, y, c in (x * y + c) % 256 }
        let photo = try Photo(png: png.bytes)
        #expect(try Photo(png: photo.png) == photo)
    }
}

@Suite("What is no photo")
struct DamagedPhotoTests {
    private static let good = TestPNG(width: 40, height: 30) { x, y, _ in (x * y) % 256 }.bytes

    private func fault(_ bytes: [UInt8]) -> PhotoError? {
        #expect(throws: PhotoError.self) { _ = try Photo(png: bytes) } as PhotoError?
    }

    @Test("a picture cut anywhere is damaged")
    func cut() {
        for count in stride(from: 0, to: Self.good.count, by: 7) {
            let fault = fault(Array(Self.good.prefix(count)))
            if count < 8 {
                #expect(fault == .notPNG)
            } else {
                #expect(fault == .damaged("its end is missing"))
            }
        }
    }

    @Test("a picture with any bit changed is damaged, or no PNG")
    func changed() {
        for index in stride(from: 0, to: Self.good.count, by: 11) {
            var bytes = Self.good
            bytes[index] ^= 1 << (index % 8)
            _ = fault(bytes)
        }
    }

    @Test("what claims to be larger than it may be is refused before memory is taken for it")
    func claims() {
        let sizes: [(Int, Int, PhotoError)] = [
            (16_385, 1, .tooLarge(width: 16_385, height: 1)),
            (1, 0x7FFF_FFFF, .tooLarge(width: 1, height: 0x7FFF_FFFF)),
            (0xFFFF_FFFF, 1, .tooLarge(width: 0xFFFF_FFFF, height: 1)),
            (0, 5, .damaged("it is 0 by 5")),
            (9000, 9000, .damaged("it has too few bytes for 9000 by 9000")),
        ]
        for (width, height, expected) in sizes {
            var bytes = TestPNG(width: 1, height: 1).bytes
            let header = TestPNG.four(width) + TestPNG.four(height) + [8, 2, 0, 0, 0]
            bytes.replaceSubrange(8..<33, with: TestPNG.chunk("IHDR", header))
            #expect(fault(bytes) == expected)
        }
    }

    @Test("points that take too much memory are refused, though the bytes could hold them")
    func bomb() {
        let filler = [UInt8](repeating: 0, count: 40_000)
        let header = TestPNG.four(16_000) + TestPNG.four(16_000) + [8, 6, 0, 0, 0]
        let bytes =
            Array(Self.good.prefix(8)) + TestPNG.chunk("IHDR", header)
            + TestPNG.chunk("IDAT", filler) + TestPNG.chunk("IEND", [])
        #expect(fault(bytes) == .tooManyPoints(width: 16_000, height: 16_000))
    }

    @Test("more bytes than are taken in are refused unread")
    func tooManyBytes() {
        let bytes = [UInt8](repeating: 0, count: PhotoLimits.inputByteCount + 1)
        #expect(fault(bytes) == .tooManyBytes(bytes.count))
    }

    @Test("chunks out of place, twice or missing are damage")
    func order() {
        let start = Array(Self.good.prefix(8))
        let header = Array(Self.good[8..<33])
        let end = TestPNG.chunk("IEND", [])
        let junk = TestPNG.chunk("IDAT", [1, 2, 3, 4, 5, 6, 7, 8])
        let files = [
            start + end, start + header + end, start + header + header + end,
            start + header + junk + end, start + junk + header + end,
            start + header + TestPNG.chunk("ID\0T", []) + end,
            // Points that are fewer than the header says.
            start + header + TestPNG.chunk("IDAT", TestPNG.stored([0, 1, 2])) + end,
        ]
        for file in files {
            guard case .damaged = fault(file) else {
                Issue.record("it was taken, or refused for another reason")
                return
            }
        }
    }

    @Test("a header that no PNG has is damage", arguments: [[3, 2], [8, 5], [16, 3], [0, 0]])
    func headers(bitsAndColor: [UInt8]) {
        var bytes = Self.good
        let header = TestPNG.four(40) + TestPNG.four(30) + bitsAndColor + [0, 0, 0]
        bytes.replaceSubrange(8..<33, with: TestPNG.chunk("IHDR", header))
        guard case .damaged = fault(bytes) else {
            Issue.record("it was taken")
            return
        }
    }

    @Test("one that is too high for its bytes is refused with the height it would have")
    func tooHigh() {
        var state: UInt32 = 1
        let png = TestPNG(width: 300, height: 900) { _, _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 24)
        }
        #expect(fault(png.bytes) == .tooHigh(900))
    }
}
