/** The items of two sources as they arrive. Ends when one of them ends; releases both. */
export function merged<Item>(one: AsyncIterable<Item>, other: AsyncIterable<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const iterators = [one[Symbol.asyncIterator](), other[Symbol.asyncIterator]()] as const
      const next = (index: 0 | 1) => iterators[index].next().then((result) => ({ index, result }))
      const pending: (ReturnType<typeof next> | undefined)[] = [undefined, undefined]
      const end = async (): Promise<IteratorResult<Item>> => {
        await Promise.all(iterators.map((iterator) => iterator.return?.()))
        return { value: undefined, done: true }
      }
      return {
        async next() {
          pending[0] ??= next(0)
          pending[1] ??= next(1)
          const { index, result } = await Promise.race(pending as [ReturnType<typeof next>, ReturnType<typeof next>])
          pending[index] = undefined
          return result.done ? end() : result
        },
        return: end,
      }
    },
  }
}
