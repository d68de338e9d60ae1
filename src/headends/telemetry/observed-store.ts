import type { InteractionEvent, Store } from '../../contracts/index.ts'

/** The same store. `observe` gets events once they are durable, in the order of their tree. It must not throw. */
export function observedStore(store: Store, observe: (events: readonly InteractionEvent[]) => void): Store {
  const { journal } = store
  return {
    ...store,
    journal: {
      claim: (treeId, owner) => journal.claim(treeId, owner),
      release: (treeId, epoch) => journal.release(treeId, epoch),
      read: (treeId, after, limit) => journal.read(treeId, after, limit),
      watch: (treeId, wake) => journal.watch(treeId, wake),
      append(batch) {
        const answer = journal.append(batch)
        if (!(answer instanceof Promise)) {
          if (answer.ok) observe(batch.events)
          return answer
        }
        return answer.then((result) => {
          if (result.ok) observe(batch.events)
          return result
        })
      },
    },
    vacuum: () => store.vacuum(),
    close: () => store.close(),
  }
}
