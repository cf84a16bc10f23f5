import FoundationEssentials
import Testing

@testable import Simulator

@Suite struct JSONScannerTests {
    private func fault(_ text: [UInt8]) -> JSONFault.Reason? {
        var scanner = JSONScanner(text)
        do throws(JSONFault) {
            try scanner.skipValue()
            try scanner.finish()
            return nil
        } catch { return error.reason }
    }

    @Test(arguments: [
        "{}", "[]", "0", "-0", "0e3", "-1.5e+10", "1E5", "true", "null", #""""#, " { \"a\" : [ 1 , 2 ] }\r\n\t",
        #""\u0000""#,
        #""\ud83d\ude00 \/ \b\f\n\r\t\\\"""#, #"{"a":1,"A":1}"#, "\"\u{7F}é€😀\u{10FFFF}\"",
    ])
    func `well-formed text passes`(text: String) {
        #expect(fault(Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("", .unfinished), ("{", .unfinished), ("[1,]", .unexpected), (#"{"a":1,}"#, .unexpected),
            (#"{"a"}"#, .unexpected), ("{a:1}", .unexpected), ("01", .trailingText), ("1.", .unfinished),
            (".5", .unexpected), ("+1", .unexpected), ("1e", .unfinished), ("tru", .unfinished), ("True", .unexpected),
            ("NaN", .unexpected), ("{} x", .trailingText), (#""a"#, .unfinished), ("\"a\nb\"", .controlCharacter),
            (#""\x""#, .badEscape), (#""\u12x4""#, .badEscape), (#""\ud83d""#, .loneSurrogate),
            (#""\ude00""#, .loneSurrogate), (#""\ud83d\u0041""#, .loneSurrogate), ("'a'", .unexpected),
            (#"{"a":1,"\u0061":2}"#, .duplicateKey), ("\u{FEFF}{}", .unexpected),
        ] as [(String, JSONFault.Reason)])
    func `malformed text is refused`(text: String, reason: JSONFault.Reason) {
        #expect(fault(Array(text.utf8)) == reason)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xE2, 0x82],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x28, 0xA1],
        ] as [[UInt8]])
    func `bytes that are no UTF-8 are refused`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(fault([quote] + bytes + [quote]) == .badUTF8)
    }

    @Test func `nesting ends at the limit`() {
        let fits =
            Array(repeating: UInt8(ascii: "["), count: JSONScanner.depthLimit)
            + Array(repeating: UInt8(ascii: "]"), count: JSONScanner.depthLimit)
        #expect(fault(fits) == nil)
        #expect(fault([UInt8(ascii: "[")] + fits + [UInt8(ascii: "]")]) == .tooDeep)
    }

    @Test func `a name that comes twice among a thousand is found`() {
        let members = (0..<1000).map { #""k\#($0)":1"# } + [#""k17":2"#]
        #expect(fault(Array("{\(members.joined(separator: ","))}".utf8)) == .duplicateKey)
    }

    @Test(arguments: [
        (#" { "a" : "b" , "c" : [ 1 , true ] } "#, #"{"a":"b","c":[1,true]}"#),
        (#""\u0041\/\n\u0001""#, #""A/\n\u0001""#),
        (#""\ud83d\ude00é""#, #""😀é""#), (#""\u00e9""#, #""é""#),
    ])
    func `the compact length is that of the text written compactly`(text: String, compact: String) throws {
        var scanner = JSONScanner(Array(text.utf8))
        try scanner.skipValue()
        #expect(scanner.compactLength == compact.utf8.count)
    }

    @Test func `what it accepts is what the general decoder accepts`() throws {
        var generator = SeededGenerator(seed: 20261130)
        var accepted = 0
        for _ in 0..<4000 {
            let text = RandomJSON.mutated(using: &generator)
            if Self.isTakenOtherwise(String(decoding: text, as: UTF8.self)) { continue }
            let ours = fault(text) == nil
            let decoders = (try? JSONDecoder().decode(JSONValue.self, from: Data(text))) != nil
            #expect(ours == decoders, "\(String(decoding: text, as: UTF8.self))")
            accepted += ours ? 1 : 0
        }
        #expect(
            (800...3000).contains(accepted), "of 4000 texts \(accepted) were well-formed: the comparison is one-sided")
    }

    /// Where the general decoder leaves RFC 8259: it takes a comma after the last member, and refuses `0e3`.
    private static func isTakenOtherwise(_ text: String) -> Bool {
        text.contains(/,\s*[}\]]/) || text.contains(/(^|[^0-9.])0[eE]/)
    }
}

/// SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Hash64.combine(state, 0)
    }
}

enum RandomJSON {
    private static let strings = [
        "a", "", "title", #"\n"#, #"\u00e9"#, "é", "😀", #"\ud83d\ude00"#, #"\ud83d"#, #"\""#, #"\\"#, #"\/"#,
    ]
    private static let numbers = ["0", "-1", "12.5", "1e3", "-0.1E-2", "100000"]

    static func value(depth: Int, using generator: inout some RandomNumberGenerator) -> String {
        let space = ["", "", " ", "\n"].randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<(depth > 3 ? 5 : 8), using: &generator) {
        case 0: return space + "true"
        case 1: return space + "null"
        case 2: return space + (numbers.randomElement(using: &generator) ?? "0")
        case 3, 4: return space + string(using: &generator)
        case 5:
            let elements = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                value(depth: depth + 1, using: &generator)
            }
            return "[" + elements.joined(separator: ",") + "]" + space
        default:
            // Numbered names: the general decoder takes the same name twice, the scanner does not.
            let members = (0..<Int.random(in: 0...4, using: &generator)).map { index in
                "\"\(index)\(space)\":" + value(depth: depth + 1, using: &generator)
            }
            return "{" + space + members.joined(separator: ",") + "}"
        }
    }

    private static func string(using generator: inout some RandomNumberGenerator) -> String {
        let parts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            strings.randomElement(using: &generator) ?? ""
        }
        return "\"" + parts.joined() + "\""
    }

    /// A value, in two of three cases with a byte dropped, doubled or changed.
    static func mutated(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var text = Array(value(depth: 0, using: &generator).utf8)
        let place = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: text.remove(at: place)
        case 1: text[place] = Array(#"",:{}[]\01x"#.utf8).randomElement(using: &generator) ?? 0
        case 2: text[place] = UInt8.random(in: 0x80...0xFF, using: &generator)
        case 3: text.insert(Array(#" ,"u5"#.utf8).randomElement(using: &generator) ?? 0, at: place)
        default: break
        }
        return text
    }
}
