/// One thing wrong with what somebody wrote, named so that they can mend it.
package struct Problem: Sendable, Equatable {
    /// JSON pointer from the file's root; a missing member is named by the pointer that it would have.
    package var pointer: String
    /// One of content model §10 and decisions: `title_too_long`, `unknown_field`, …
    package var code: String
    /// What is the matter with the value, without quoting personal data.
    package var message: String
    /// What to do about it.
    package var remedy: String

    package init(pointer: String, code: String, message: String, remedy: String) {
        self.pointer = pointer
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}

/// Everything that is wrong, at once.
package struct ContentProblems: Error, Sendable {
    package let problems: [Problem]
    package init(_ problems: [Problem]) { self.problems = problems }
}
