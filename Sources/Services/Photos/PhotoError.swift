/// Why bytes are not a photo. Nothing is stored.
public enum PhotoError: Error, Hashable, Sendable {
    /// They do not begin as a PNG does.
    case notPNG
    /// There are more than `PhotoLimits.inputByteCount`.
    case tooManyBytes(Int)
    /// A side is longer than `PhotoLimits.inputSide`.
    case tooLarge(width: Int, height: Int)
    /// Its points would take more than `PhotoLimits.decodedByteCount`.
    case tooManyPoints(width: Int, height: Int)
    /// Part of it is missing or wrong: the part, as part of a sentence.
    case damaged(String)
    /// Shrunk as it is, it still has more bytes than `PhotoLimits.byteCount`; it is this high.
    case tooHigh(Int)
}

extension PhotoError: CustomStringConvertible {
    /// The reason and its remedy, without a full stop.
    public var description: String {
        switch self {
        case .notPNG: "this is no PNG; convert the picture to PNG first"
        case .tooManyBytes(let count):
            "the picture has \(count) bytes; at most \(PhotoLimits.inputByteCount) are taken: "
                + "save it smaller"
        case .tooLarge(let width, let height):
            "the picture is \(width) by \(height); a side may be \(PhotoLimits.inputSide) at most: "
                + "crop it or save it smaller"
        case .tooManyPoints(let width, let height):
            "the picture is \(width) by \(height), which takes too much memory: save it smaller"
        case .damaged(let reason): "the picture is damaged: \(reason); export or download it again"
        case .tooHigh(let height):
            "\(PhotoLimits.width) wide, the picture is \(height) high and has more than "
                + "\(PhotoLimits.byteCount) bytes: crop it"
        }
    }
}
