/// Counts what a person sees: extended grapheme clusters (content model D-6).
package enum CharacterCount {
    /// Longer fields are refused before counting, which bounds its cost.
    package static let guardBytes = 16_384

    /// More than `limit` characters, or more bytes than the guard lets through.
    package static func of(_ text: String, exceeds limit: Int) -> Bool {
        let bytes = text.utf8.count
        if bytes <= limit { return false }  // no character is shorter than a byte
        return bytes > guardBytes || text.count > limit
    }
}
