import type { InteractionEvent, Store } from '../../src/contracts/index.ts'
import { changedStore } from './changed-store.ts'

type Append = Store['journal']['append']

/**
 * A store that commits as SQLite does: what is appended in one macrotask is one commit, and is durable after it. `stored`: called for
 * each event when it is durable.
 */
export function groupedCommits(store: Store, stored: (event: InteractionEvent) => void = () => {}) {
  let commits = 0
  let waiting: (() => void)[] = []
  const commit = (): void => {
    commits++
    for (const each of waiting.splice(0)) each()
  }
  const append: Append = (batch) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(commit)
      waiting = [
        ...waiting,
        () => {
          const answer = store.journal.append(batch)
          batch.events.forEach(stored)
          resolve(answer)
        },
      ]
    })
  return { store: changedStore(store, { append }), commits: () => commits }
}
