import Testing

@testable import DatabaseServer
@testable import Files

@Suite("the watch over a file")
struct FileWatchTests {
    private func stamp(_ modified: Int64, inode: UInt64 = 1, size: Int64 = 10) -> FileStamp {
        FileStamp(device: 1, inode: inode, byteCount: size, modified: modified)
    }

    @Test(
        "sees a change when two looks in a row see the same",
        arguments: [
            ([1, 1, 1], [.quiet, .quiet, .quiet]),
            ([2, 2, 2], [.quiet, .changed, .quiet]),
            ([2, 3, 4, 4, 4], [.quiet, .quiet, .quiet, .changed, .quiet]),
            ([2, 1, 1], [.quiet, .quiet, .quiet]),
            ([nil, 1], [.quiet, .quiet]),
            ([nil, nil, nil], [.quiet, .missing, .quiet]),
            ([nil, nil, 2, 2], [.quiet, .missing, .quiet, .changed]),
            ([nil, nil, 1, 1], [.quiet, .missing, .quiet, .changed]),
            ([2, 2, 3, 3], [.quiet, .changed, .quiet, .changed]),
        ] as [([Int64?], [FileWatch.Look])]
    )
    func looks(times: [Int64?], results: [FileWatch.Look]) {
        var watch = FileWatch(path: "f", inForce: stamp(1))
        #expect(times.map { watch.look($0.map { stamp($0) }) } == results)
    }

    @Test("tells files apart by size and inode when the time is the same")
    func otherMarks() {
        var watch = FileWatch(path: "f", inForce: stamp(1))
        #expect(
            [stamp(1, inode: 2), stamp(1, inode: 2)].map { watch.look($0) } == [.quiet, .changed]
        )
        #expect(
            [stamp(1, size: 11), stamp(1, size: 11)].map { watch.look($0) } == [.quiet, .changed]
        )
    }

    @Test("knows what was really read, which may be newer than the look")
    func loaded() {
        var watch = FileWatch(path: "f", inForce: stamp(1))
        #expect(watch.look(stamp(2)) == .quiet)
        #expect(watch.look(stamp(2)) == .changed)
        watch.loaded(stamp(3))
        #expect(watch.look(stamp(3)) == .quiet)
        #expect(watch.look(stamp(3)) == .quiet)
    }

    @Test("of a file that is not there yet sees it come")
    func comes() {
        var watch = FileWatch(path: "f", inForce: nil)
        #expect([nil, stamp(1), stamp(1)].map { watch.look($0) } == [.quiet, .quiet, .changed])
    }
}
