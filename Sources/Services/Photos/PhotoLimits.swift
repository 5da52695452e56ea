/// The limits of a photo.
public enum PhotoLimits {
    /// Points of width that a photo is shrunk to; a narrower one stays as it is.
    public static let width = 300
    /// Bytes of a PNG that is taken in.
    public static let inputByteCount = 32 << 20
    /// Points of width or height of a PNG that is taken in.
    public static let inputSide = 16_384
    /// Bytes of memory that its points may take: 64 million points with color and alpha.
    public static let decodedByteCount = 256 << 20
    /// Bytes of a photo that is stored, and that is read back.
    public static let byteCount = 750_000
    /// Characters of the key that a photo is stored under.
    public static let keyLength = 64
}
