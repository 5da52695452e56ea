/// A picture as it is stored: a PNG of at most `PhotoLimits.width` points and `PhotoLimits.byteCount` bytes.
///
/// It is made from the points of a PNG and nothing else of it: no place, text, camera or color profile goes along, and
/// of an animation the picture that stands for it alone.
public struct Photo: Hashable, Sendable {
    /// The PNG: sRGB of 8 bits, not interlaced.
    public let png: [UInt8]
    /// Points.
    public let width: Int
    /// Points.
    public let height: Int

    /// The photo of any PNG: checked, shrunk if it is wider, and written anew.
    ///
    /// Limits are checked before memory is taken for what the bytes claim to be. Colors are averaged as light, so
    /// that fine patterns keep their brightness. Made of a photo's own `png`, it is the same photo.
    ///
    /// - Throws: `PhotoError`.
    public init(png: [UInt8]) throws {
        self = try Self.made(of: png)
    }

    private init(png: [UInt8], width: Int, height: Int) {
        self.png = png
        self.width = width
        self.height = height
    }

    private static func made(of png: [UInt8]) throws(PhotoError) -> Photo {
        guard png.count <= PhotoLimits.inputByteCount else { throw .tooManyBytes(png.count) }
        let chunks = try PNGChunks(png)
        var raster = try PNGImage.read(chunks)
        if raster.width > PhotoLimits.width { raster = raster.shrunk(to: PhotoLimits.width) }
        guard let png = PNGImage.write(raster, byteLimit: PhotoLimits.byteCount) else {
            throw .tooHigh(raster.height)
        }
        return Photo(png: png, width: raster.width, height: raster.height)
    }
}
