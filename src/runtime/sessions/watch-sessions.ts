import type { SessionChange, SessionId, TreeChange, TreeId } from '../../contracts/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { sessionEntry } from './session-entry.ts'
import type { SessionsHost } from './sessions-host.ts'

/**
 * Changes of the list of sessions, from the call on. Ends with the runtime.
 *
 * 1. A reader that is slow gets the last state of each session, not every state: memory is bounded by the number of sessions.
 * 2. With an owner, a deletion is reported only for sessions of that owner.
 * 3. A reader that leaves is released immediately, also while it waits.
 */
export function watchSessions(host: SessionsHost, owner: string | undefined): AsyncIterableIterator<SessionChange> {
  const { trees } = host.parts.options.store
  const pending = new Map<TreeId, TreeChange>()
  let woken = Promise.withResolvers<void>()
  const wake = (): void => woken.resolve()
  const unwatch = trees.watch((change) => {
    // The order is that of the last change of each.
    pending.delete(change.treeId)
    pending.set(change.treeId, change)
    wake()
  })
  const ended = new Interrupt(host.closed)
  ended.listen(() => {
    unwatch()
    wake()
  })
  const isOwn = ownership(owner, () => trees.list({ owner: owner ?? '' }))
  return {
    async next() {
      while (ended.reason === undefined) {
        const [change] = pending.values()
        if (change) {
          pending.delete(change.treeId)
          if (await isOwn(change)) return { done: false, value: sessionChange(change) }
          continue
        }
        const release = keepAlive()
        await woken.promise
        release()
        woken = Promise.withResolvers()
      }
      return { done: true, value: undefined }
    },
    async return() {
      ended.fire('left')
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

type ListOwn = () => ReturnType<SessionsHost['parts']['options']['store']['trees']['list']>

/** A deleted tree has no owner any more: those of the owner are listed once, and followed from then on. */
function ownership(owner: string | undefined, list: ListOwn): (change: TreeChange) => Promise<boolean> {
  if (owner === undefined) return async () => true
  // Failures are thrown to the reader.
  const listed = Promise.resolve(list()).then((entries) => new Set(entries.map(({ treeId }) => treeId)))
  listed.catch(() => {})
  return async ({ treeId, entry }) => {
    const own = await listed
    if (!entry) return own.delete(treeId)
    if (entry.owner === owner) own.add(treeId)
    return entry.owner === owner
  }
}

const sessionChange = ({ treeId, entry }: TreeChange): SessionChange =>
  entry ? { kind: 'changed', session: sessionEntry(entry) } : { kind: 'deleted', sessionId: treeId as string as SessionId }
