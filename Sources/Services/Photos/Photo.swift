/// A picture as it is stored: a PNG of at most `PhotoLimits.width` points and `PhotoLimits.byteCount` bytes.
///
/// It is made only from the points of a PNG, without its location, text, camera or color profile. An animation
/// becomes its still picture.
public struct Photo: Hashable, Sendable {
    /// The PNG: sRGB of 8 bits, not interlaced.
    public let png: [UInt8]
    /// Points.
    public let width: Int
    /// Points.
    public let height: Int

    /// The photo of any PNG: checked, shrunk if too wide, and encoded anew.
    ///
    /// Limits are checked before memory is allocated for the claimed size. Colors are averaged as light, so that fine
    /// patterns keep their brightness. A photo made of a photo's own `png` is the same photo.
    ///
    /// - Throws: `PhotoError`.
    public init(png: [UInt8]) throws { self = try Self.made(of: png) }

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
