/// Old codes that devices still report, and what they are called now (Unicode CLDR, `supplementalMetadata`, language
/// and territory aliases with one replacement). Applied to an author's keys and to subscribers' tags alike.
///
/// Deliberately small: three-letter spellings of two-letter codes (`eng`) are tags of their own here, and CLDR has not
/// mapped `no` to `nb` since version 39.
enum LanguageAliases {
    struct Replacement {
        let language: [UInt8]
        /// Put after the language, unless the tag names a script itself.
        let script: [UInt8]?
    }

    /// nil = the subtag, in lower case, is current.
    static func replacement(ofLanguage subtag: Span<UInt8>) -> Replacement? {
        // Every code here has two letters, but for `cmn`.
        guard subtag.count <= 3 else { return nil }
        for (old, new) in languages where equal(subtag, old) { return new }
        return nil
    }

    static func replacement(ofRegion subtag: Span<UInt8>) -> [UInt8]? {
        guard subtag.count == 2 else { return nil }
        for (old, new) in regions where equal(subtag, old) { return new }
        return nil
    }

    /// Old languages and what they are called now, with the script that the old name implied.
    static var oldAndNewNames: [(old: String, new: String)] {
        languageNames.map { old, new, script in (old, script.map { new + "-" + $0 } ?? new) }
    }

    private static let languageNames: [(old: String, new: String, script: String?)] = [
        ("iw", "he", nil), ("in", "id", nil), ("ji", "yi", nil), ("jw", "jv", nil), ("mo", "ro", nil),
        ("tl", "fil", nil), ("sh", "sr", "latn"), ("cmn", "zh", nil),
    ]

    private static let languages: [([UInt8], Replacement)] = languageNames.map { old, new, script in
        (Array(old.utf8), Replacement(language: Array(new.utf8), script: script.map { Array($0.utf8) }))
    }

    private static let regions: [([UInt8], [UInt8])] = [
        ("uk", "gb"), ("bu", "mm"), ("dd", "de"), ("fx", "fr"), ("tp", "tl"), ("vd", "vn"), ("yd", "ye"), ("zr", "cd"),
    ].map { (Array($0.utf8), Array($1.utf8)) }

    private static func equal(_ span: Span<UInt8>, _ bytes: [UInt8]) -> Bool {
        guard span.count == bytes.count else { return false }
        for index in span.indices where span[index] != bytes[index] { return false }
        return true
    }
}
