/// Who goes first when requests wait for room; within each, in the order submitted.
package enum HTTP2Priority: Sendable {
    case transactional
    case normal
}
