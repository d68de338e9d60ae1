import type { InteractionEvent, Store } from '../../contracts/index.ts'

interface StoreObserver {
  /** Gets events once they are durable, in the order of their tree. Of a copied session, only that it was created. */
  observe(events: readonly InteractionEvent[]): void
  /** Gets the first event of a session that is read: after a restart, nothing else says what it is. */
  learn(event: InteractionEvent): void
}

/** The same store. The observer must not throw. */
export function observedStore(store: Store, observer: StoreObserver): Store {
  const { journal } = store
  const stored = (events: readonly InteractionEvent[]): void =>
    observer.observe(isCopy(events) ? events.filter(({ type }) => type === 'interaction.session.created') : events)
  const known = (events: readonly InteractionEvent[]): readonly InteractionEvent[] => {
    if (events[0]?.seq === 1) observer.learn(events[0])
    return events
  }
  return {
    ...store,
    journal: {
      claim: (treeId, driver) => journal.claim(treeId, driver),
      release: (treeId, epoch) => journal.release(treeId, epoch),
      read(...range) {
        const events = journal.read(...range)
        return events instanceof Promise ? events.then(known) : known(events)
      },
      watch: (treeId, wake) => journal.watch(treeId, wake),
      append(batch) {
        const answer = journal.append(batch)
        if (!(answer instanceof Promise)) {
          if (answer.ok) stored(batch.events)
          return answer
        }
        return answer.then((result) => {
          if (result.ok) stored(batch.events)
          return result
        })
      },
    },
    vacuum: () => store.vacuum(),
    close: () => store.close(),
  }
}

/** A fork is one batch. Its turns were observed when they ran. */
const isCopy = ([first]: readonly InteractionEvent[]): boolean =>
  first?.type === 'interaction.session.created' && first.forkedFrom !== undefined
