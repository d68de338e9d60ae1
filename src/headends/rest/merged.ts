/** The items of several sources as they arrive. Ends when one of them ends; releases all. */
export function merged<Item>(...sources: readonly AsyncIterable<Item>[]): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const iterators = sources.map((source) => source[Symbol.asyncIterator]())
      const next = async (iterator: AsyncIterator<Item>, index: number) => ({ index, result: await iterator.next() })
      const pending: (ReturnType<typeof next> | undefined)[] = iterators.map(() => undefined)
      const end = async (): Promise<IteratorResult<Item>> => {
        await Promise.all(iterators.map((iterator) => iterator.return?.()))
        return { value: undefined, done: true }
      }
      return {
        async next() {
          for (const [index, iterator] of iterators.entries()) pending[index] ??= next(iterator, index)
          const { index, result } = await Promise.race(pending as ReturnType<typeof next>[])
          pending[index] = undefined
          return result.done ? end() : result
        },
        return: end,
      }
    },
  }
}

/** The item, once for all signals since it was read last. */
export function signals<Item>(item: Item, subscribe: (signal: () => void) => () => void): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      let isDue = false
      let waiting: PromiseWithResolvers<IteratorResult<Item>> | undefined
      const unsubscribe = subscribe(() => {
        isDue = waiting === undefined
        waiting?.resolve({ value: item, done: false })
        waiting = undefined
      })
      return {
        next() {
          waiting = Promise.withResolvers()
          const { promise } = waiting
          if (isDue) {
            isDue = false
            waiting.resolve({ value: item, done: false })
            waiting = undefined
          }
          return promise
        },
        async return() {
          unsubscribe()
          waiting?.resolve({ value: undefined, done: true })
          return { value: undefined, done: true }
        },
      }
    },
  }
}
