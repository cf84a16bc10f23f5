/// A queue whose ends both cost constant time.
struct FIFO<Element> {
    private var elements: ContiguousArray<Element?> = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }
    var first: Element? { isEmpty ? nil : elements[head] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Removes what matches and hands it to `body`, in order.
    mutating func remove(where matches: (Element) -> Bool, _ body: (Element) -> Void) {
        let all = elements[head...].compactMap { $0 }
        elements.removeAll()
        head = 0
        for element in all {
            if matches(element) { body(element) } else { elements.append(element) }
        }
    }

    func forEach(_ body: (Element) -> Void) {
        for index in head..<elements.count { if let element = elements[index] { body(element) } }
    }
}
