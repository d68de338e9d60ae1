/** The items of a source, each replaced. A reader that leaves releases the source immediately, also while it waits. */
export function mapItems<Item>(source: AsyncIterable<Item>, map: (item: Item) => Item | Promise<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await items.next()
          return result.done ? result : { done: false, value: await map(result.value) }
        },
        return: async () => (await items.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}
