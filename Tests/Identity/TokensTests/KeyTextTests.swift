import JSONTree
import Testing

@testable import Tokens

@Suite("a key as text")
struct KeyTextTests {
    private let message = Array("message".utf8)

    @Test("comes back from PEM, both halves and the public one alone")
    func roundTrip() throws {
        for pair in [Fixtures.rsa, Fixtures.p256] {
            let pair = try #require(pair)
            let pem = try #require(pair.pem)
            #expect(pem.starts(with: Array("-----BEGIN PRIVATE KEY-----\n".utf8)))
            let again = try #require(KeyPair(pem: pem))
            #expect(again.algorithm == pair.algorithm)
            #expect(again.isSound)
            let signature = try #require(again.sign(message))
            #expect(pair.publicKey.verifies(signature, of: message))
            let publicPEM = try #require(pair.publicKey.pem)
            #expect(publicPEM.starts(with: Array("-----BEGIN PUBLIC KEY-----\n".utf8)))
            let key = try #require(PublicKey(pem: publicPEM))
            #expect(key.verifies(signature, of: message))
            #expect(key.thumbprint == pair.publicKey.thumbprint)
            let jwk = try #require(key.jwk(keyID: "k"))
            let fromJWK = PublicKey(jwk: try Node.readingAnyJSON(Array(jwk.utf8)))
            #expect(fromJWK?.thumbprint == key.thumbprint)
            #expect(fromJWK?.verifies(signature, of: message) == true)
        }
    }

    @Test("is none when it is no PEM, damaged, or has the other half")
    func bad() throws {
        let pair = try #require(Fixtures.rsa)
        let text = String(decoding: try #require(pair.pem), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let cut = lines.dropLast(5).joined(separator: "\n") + "\n-----END PRIVATE KEY-----\n"
        let typo = text.replacing("-----BEGIN", with: "----BEGIN")
        for bad in ["", "\0", "-----BEGIN PRIVATE KEY-----\n", cut, typo, "{}"] {
            #expect(KeyPair(pem: Array(bad.utf8)) == nil)
            #expect(PublicKey(pem: Array(bad.utf8)) == nil)
        }
        #expect(KeyPair(pem: try #require(pair.publicKey.pem)) == nil)
        #expect(PublicKey(pem: try #require(pair.pem)) == nil)
        #expect(KeyPair(pem: [UInt8](repeating: 65, count: 20_000)) == nil)
    }

    @Test("of another kind or a short one is none")
    func otherKinds() {
        // RSA of 1024 bits, Ed25519 and P-384, made with `openssl genpkey | openssl pkey -pubout`.
        for text in Self.unusable {
            #expect(PublicKey(pem: Array(text.utf8)) == nil)
        }
    }

    @Test("with a passphrase is none, and the terminal is not asked for it")
    func encrypted() {
        #expect(KeyPair(pem: Array(Self.encrypted.utf8)) == nil)
    }

    @Test("as a JWK is none with a private half, of another kind, or out of range")
    func badJWK() throws {
        let good = try Fixtures.jwk(of: Fixtures.rsa, "k")
        let private1 = good.dropLast() + #","d":"AQAB"}"#
        let texts = [
            String(private1), "{}", #"{"kty":"oct","k":"AAAA"}"#,
            #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
        ]
        for text in texts {
            #expect(PublicKey(jwk: try Node.readingAnyJSON(Array(text.utf8))) == nil, "\(text)")
        }
    }

    @Test("has the name that RFC 7638 gives its key")
    func thumbprint() throws {
        // The example of RFC 7638 section 3.1.
        let text = """
            {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_\
            BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQM\
            icAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksIN\
            HaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB"}
            """
        let key = try #require(PublicKey(jwk: try Node.readingAnyJSON(Array(text.utf8))))
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test("of a pair whose halves are of two keys is not sound")
    func unsound() throws {
        // The private half of one key under the public half of another is made here from its parts.
        let pair = try #require(Fixtures.rsa)
        #expect(pair.isSound)
        #expect(KeyPair(pem: Array(Self.mixed.utf8))?.isSound != true)
    }

    private static let unusable = [
        """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCyUHftA84q9+d85tOGiSHCNwMG
        gerQ2SJ3l+N7EFuTmpPEwuMG8T8eet7xo4baxFXKTKEWmkiu/ascKJsfgiRuI/xr
        kTNcS/BqD7EyV5N1fBpofwr4BPWKB8WPojdsDHdDj8AiXbqU0zJDoISKZqoT70Ze
        B4BX6HRtp/T97z/9ywIDAQAB
        -----END PUBLIC KEY-----
        """,
        """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA9++g+uUUnM4WFBbS88EayEocsCFUBanqWlUd5ClQ0m4=
        -----END PUBLIC KEY-----
        """,
        """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEc102vFDwtJNouAQ/10WgrFH+ECNg6CGa
        jCM+XPpSAXYLiCaeogZQSfpuHqkaMwQ6BjL8AGc0GT64v/y6YVuGK1Q8pbLnf+Uv
        STjiU+gFB4vCVt7vesknyd8reRjUy3vQ
        -----END PUBLIC KEY-----
        """,
    ]

    private static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBDNYao0aEOmcRJXYLGI
        4Bv2AgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQflOu7eK9+VsaWA+C
        HM6hawSBkEY6KdIpYnH/WjMsboWW1K9Iz5nBymi5jLJkFsoa19U0XDRpS2wyP+uH
        V1wRq9llWL6nkm/UkyBNxRk1mw5XqWPIVDz8T9LLjCBsflszr4CBKwIjFvORttCd
        ymGafxHEq8miau84purMg/7PAVx+Vae/Ugdtw9Mhq0f6i9/QaK2BXKqIJbyQ+15I
        D3/XqO+Lxg==
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// The modulus of one key with the private numbers of another.
    private static let mixed = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQChw5ukOxL6IxCL
        VePxl5x20fDYs6mqZb611stbwoHCsqlWyOXKSEek4dFYIW1xh+k0/oy/Or0WXvKm
        O42oclz9HRTjLQSNcacg1rG5Dwv2wovJ05NT4CQir/3t5e1PmvP/MyD9FG9S3dxL
        JEr9+WimtpvK4MaSReNPap8Q6oeYGMFTfQmseEc97DMtMbgA0/rbKq6CUqEyaMBU
        wh2YIe/HEQpC4GfAkuAQy8jr9Xf/xTyzZlgQYmxLiCXMfpY8sU++VghPBLxRvGUC
        IyEIm0BQRRKikMbuF614+77M3Mih7TPY41zl7t1JXEJBXn5t99LD+uqTN4X6mPXN
        +3G90KHbAgMBAAECggEACvSIQ8oZk92FptgI8+x9dTYSQemHm28PLyOaWQ9eVf9/
        D//kjk/fv8VxWRh3pZUxzbq79c5KADdIra/N6diOwPQr0pvSpJc+TjguxLfjRfk3
        xXqdxe9wZ0CeNowj3AwTHroqYLssVpLrcE/pffPiMLYgsnKchWpQV0kdZiQebGdC
        SCAxADAF+2lQeaeb+bN6xAVSte/Gv0vDlxWDyhz3auIzlMPkV8hhfOO48KzVJSF2
        LoHw4Nfm1pZMphfh1IBBF+cOyEWf4qo3yjq7hUEIYWjUFxdQ5iH2emCRleNPM1Ir
        7EgJeLpCHfx18yuew19b9rmpuE5LT1vn0IDRMh5bdQKBgQDTd9vjnME1XGgKXf2G
        U0cAZJUl6RcqHD34jbGCR6CnufFKGQIrw3f7YVQ5uNsp70fSZt/J0O64pywwDJW2
        dRpeHCf74frPJrVSTbkXBRPg2947Rm4LvtlBBwQmB7cSkD29Hpa8Jj4to154GGjp
        kOl7ICC7mAzUoaj1jsPs8zadBwKBgQDNnz68AekSe2mt+eVE8Wtu3TuIeXzB8eN1
        b/C6LJSGPUdm+PPGNQiF4o7Gvrt4O2qCxtmg9tV67oTS3sSn/JhSN2FYgctl6Fch
        Jf27IdEvcRkQV5I3R/43FlVo441gDypH5ATv4rSI7km46gzF/yb6924G7SCBnoOw
        eVJbfiHoawKBgQClaDVo3i4KTRNcOJSbwvvghMxc8OublqeqiTp1iw1Q5JKlwNX/
        4U8yI7k7xSo4rN9i5fDZ7UEs0iYwF0frhcFwJ1nnHaWO7toZXI4QQXqBAbncZ4Sg
        T1GkGZbXIGXEcWq5SPnihY9RJ143VfCJ8T2Pf1vbIF243BJKsLbz2nG3dQKBgDyO
        iqZKFb9Is132e8wrIY27//14cgKYX3nFpurdmDxUrcOoy/pywfjUOWJU59dIAF1V
        fOCH8WVL+7gyvU4P+Tg1cSjkyOdRXt+3VZuYIQhM0anbcIdxX3AP1sWWRpuku7oC
        cGXJqYuuSe34mBxzwaIl3rSRf4JNEdGWWWfypL/TAoGAV0mp+efc/kfYV6YOV8AF
        bNSGTBwj1QPwW1YTRMZlUamr8gcWHqoXVcOGB9CPuZZHoNY+5jJ1vNE7F8g2F6bN
        t/gXXzFsdkWczgtXJNIJZxMWYPzcjpesBsePYvDg2ZSv6QyrDxvfBnK2lxLlKKcB
        Vc3lp2e38pLvX/2nPOUt1ms=
        -----END PRIVATE KEY-----
        """
}
