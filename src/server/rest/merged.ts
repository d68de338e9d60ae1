interface Arrival<Item> {
  readonly index: number
  readonly outcome: PromiseSettledResult<IteratorResult<Item>>
}

/** The items of several sources as they arrive. Ends when one of them ends; releases all. */
export function merged<Item>(...sources: readonly AsyncIterable<Item>[]): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const iterators = sources.map((source) => source[Symbol.asyncIterator]())
      const asked = new Set<number>()
      // Not `Promise.race`: a source that is silent for long would keep every item of the others.
      const arrived: Arrival<Item>[] = []
      let wake = (): void => {}
      const ask = async (iterator: AsyncIterator<Item>, index: number): Promise<void> => {
        const [outcome] = await Promise.allSettled([iterator.next()])
        arrived.push({ index, outcome })
        wake()
      }
      const end = async (): Promise<IteratorResult<Item>> => {
        await Promise.all(iterators.map((iterator) => iterator.return?.()))
        return { value: undefined, done: true }
      }
      return {
        async next() {
          for (const [index, iterator] of iterators.entries()) {
            if (asked.has(index)) continue
            asked.add(index)
            void ask(iterator, index)
          }
          for (;;) {
            const arrival = arrived.shift()
            if (!arrival) {
              await new Promise<void>((resolve) => {
                wake = resolve
              })
              continue
            }
            const { index, outcome } = arrival
            asked.delete(index)
            if (outcome.status === 'rejected') throw outcome.reason
            return outcome.value.done ? end() : outcome.value
          }
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
