import CPNG

/// libpng's simplified interface: it reports faults as return values, so no `longjmp` passes Swift. Source:
/// libpng-manual, "Simplified API". Each image is read or written by one call and then freed.
enum PNGImage {
    static func read(_ chunks: PNGChunks) throws(PhotoError) -> Raster {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        let bytes = chunks.essence
        guard png_image_begin_read_from_memory(&image, bytes, bytes.count) != 0 else {
            throw .damaged(message(of: image))
        }
        // Without a word about it 16 bits are sRGB too. Source: the PNG specification, 12.1.
        image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
        let layers = image.format & png_uint_32(PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR)
        image.format = layers
        let channelCount = channelCount(layers)
        let (width, height) = (Int(image.width), Int(image.height))
        let count = width * height * channelCount
        guard count <= PhotoLimits.decodedByteCount else {
            throw .tooManyPoints(width: width, height: height)
        }
        var samples = [UInt8](repeating: 0, count: count)
        guard png_image_finish_read(&image, nil, &samples, 0, nil) != 0 else {
            throw .damaged(message(of: image))
        }
        return Raster(width: width, height: height, channelCount: channelCount, samples: samples)
    }

    /// A PNG of 8 bits; nil when it would have more than `byteLimit` bytes, or memory is short.
    static func write(_ raster: Raster, byteLimit: Int) -> [UInt8]? {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        image.width = png_uint_32(raster.width)
        image.height = png_uint_32(raster.height)
        image.format =
            png_uint_32(raster.channelCount > 2 ? PNG_FORMAT_FLAG_COLOR : 0)
            | png_uint_32(raster.hasAlpha ? PNG_FORMAT_FLAG_ALPHA : 0)
        var byteCount = byteLimit
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        guard
            png_image_write_to_memory(&image, &bytes, &byteCount, 0, raster.samples, 0, nil) != 0
        else { return nil }
        return Array(bytes.prefix(byteCount))
    }

    private static func channelCount(_ layers: png_uint_32) -> Int {
        let colors = layers & png_uint_32(PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1
        return colors + (layers & png_uint_32(PNG_FORMAT_FLAG_ALPHA) != 0 ? 1 : 0)
    }

    /// libpng's error text; it ends with a zero.
    private static func message(of image: png_image) -> String {
        withUnsafeBytes(of: image.message) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
