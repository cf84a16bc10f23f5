/// Which schemas this binary can work with.
package enum BinaryLevel {
    /// A migration names the lowest level that may run once it is applied (`-- lowest binary: N`), so that old and new
    /// processes can run side by side while a new version is rolled out. Raised together with the first migration that
    /// processes built before it cannot live with.
    package static let current = 1
}
