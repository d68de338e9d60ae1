import type { EventsOptions, StreamEvent, TreeEntry, TreeId } from '../../contracts/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { unknownTree } from '../journal/tree-cache.ts'
import type { Subscription } from '../tree/event-feed.ts'
import type { TreeDriver } from '../tree/tree-driver.ts'
import type { Runtime } from './create-agent-runtime.ts'

// Reads the events of a tree, driven by this or another process.
//
// 1. No event is missed or repeated, and reading changes nothing in the store.
// 2. A reader that leaves is released immediately, also while it waits; nothing is watched or kept alive after.
// 3. Following another process ends with this runtime, and with that process.
// 4. A reader until `closed` stays while nobody drives the tree, and follows the next driver, in any process.

/** Events that wait for a reader. One that is further behind reads the journal again. */
const maxQueued = 1_024

/** How often to check whether the driver still lives: its death wakes nobody. */
const pollMs = 2_000

interface Follower {
  readonly host: Runtime
  readonly treeId: TreeId
  /** Fires when the reader leaves, or the tree is deleted. */
  readonly left: Interrupt
  readonly live: boolean
}

type Until = NonNullable<EventsOptions['until']>

export function sessionEvents(
  host: Runtime,
  treeId: TreeId,
  { after = 0, until = 'idle', live = true }: EventsOptions,
): AsyncIterableIterator<StreamEvent> {
  const left = new Interrupt()
  const follower = { host, treeId, left, live }
  const events = until === 'closed' ? untilDeleted(follower, after) : follow(follower, after, until)
  return {
    next: () => events.next(),
    // A generator can only return between two events: this ends its wait.
    return() {
      left.fire('left')
      return events.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Waits until a tree that another process drives is idle or suspended, or has lost its driver. */
export async function untilRest(host: Runtime, treeId: TreeId): Promise<void> {
  for await (const _ of followed({ host, treeId, left: new Interrupt(), live: false }, Number.MAX_SAFE_INTEGER));
}

/** Waits for a change of a journal that is not there yet, or for a while. `false`: the runtime was closed first. */
export async function nextChange(host: Runtime, treeId: TreeId): Promise<boolean> {
  const changes = watched({ host, treeId, left: new Interrupt() })
  try {
    // It may have changed before it was watched.
    return (await host.parts.options.store.trees.get(treeId)) !== undefined || (await changes.next(pollMs))
  } finally {
    changes.stop()
  }
}

async function* untilDeleted(follower: Follower, after: number): AsyncGenerator<StreamEvent> {
  const { host, treeId, left } = follower
  const unwatch = host.deletions.watch(treeId, () => {
    host.pages.forget(treeId)
    left.fire('deleted')
  })
  try {
    yield* follow(follower, after, 'closed')
  } finally {
    unwatch()
  }
}

async function* follow(follower: Follower, after: number, until: Until): AsyncGenerator<StreamEvent> {
  const { host, treeId, left } = follower
  let cursor = after
  for (;;) {
    const driver = await driverHere(follower)
    for await (const event of driver ? replayThenTail(follower, driver, cursor) : followed(follower, cursor)) {
      if ('seq' in event) cursor = event.seq
      yield event
    }
    if (left.reason !== undefined) return
    if (driver ? await host.drivers.continuesAfter(driver) : await driverHere(follower)) continue
    // Read before the journal: a driver that continued since then has recorded that.
    const status = await statusOf(follower)
    const [more] = await host.parts.options.store.journal.read(treeId, cursor, 1)
    if (more) continue
    const isOver = until === 'turn' || (until === 'idle' && status !== 'suspended')
    if (isOver || !(await comesMore(follower, cursor))) return
  }
}

/** An opened session that waits for input is at rest. */
async function driverHere({ host, treeId }: Pick<Follower, 'host' | 'treeId'>): Promise<TreeDriver | undefined> {
  const driver = await host.drivers.find(treeId)
  return driver?.isWaiting ? undefined : driver
}

/** Waits for more in the journal. `false`: the reader has left, the tree was deleted, or the runtime was closed first. */
async function comesMore(follower: Follower, cursor: number): Promise<boolean> {
  const { host, treeId } = follower
  const changes = watched(follower)
  try {
    for (;;) {
      const [more] = await host.parts.options.store.journal.read(treeId, cursor, 1)
      if (more) return true
      if (!(await changes.next())) return false
    }
  } finally {
    changes.stop()
  }
}

/** The journal, then the feed, until suspended or idle. */
async function* replayThenTail(follower: Follower, driver: TreeDriver, after: number): AsyncGenerator<StreamEvent> {
  const { host, treeId } = follower
  let cursor = after
  for (let tail: Tail | undefined; !tail || tail.events.isBehind; ) {
    tail = undefined
    try {
      for await (const event of host.pages.read(treeId, cursor)) {
        cursor = event.seq
        // Nothing that was published is missing: the feed continues from here. One that has published nothing may begin later.
        if (driver.feed.seq > 0 && driver.feed.seq <= cursor) tail = tailOf(follower, driver, cursor)
        yield event
        if (tail) break
      }
      if (!tail && driver.feed.seq > cursor) {
        // More was published meanwhile, or the tree was deleted.
        if (await host.parts.options.store.trees.get(treeId)) continue
        return
      }
      tail ??= tailOf(follower, driver, cursor)
      for await (const event of tail.events) {
        if ('seq' in event) cursor = event.seq
        yield event
      }
    } finally {
      tail?.release()
    }
  }
}

interface Tail {
  readonly events: Subscription
  release(): void
}

/** Ends when the reader leaves. Of a tree that was deleted, what has been published is still read. */
function tailOf({ left, live }: Follower, { feed }: TreeDriver, after: number): Tail {
  const events = feed.subscribe({ after, live, maxQueued })
  const leaving = new Interrupt(left)
  leaving.listen(() => (left.reason === 'deleted' ? events.close() : void events.return()))
  return {
    events,
    release() {
      leaving.close()
      void events.return()
    },
  }
}

/** For a tree that is not driven here, until it is idle or driven here: its durable events, by watching the journal. */
async function* followed(follower: Follower, after: number): AsyncGenerator<StreamEvent> {
  const { host, treeId } = follower
  const { trees } = host.parts.options.store
  const changes = watched(follower)
  let cursor = after
  try {
    if (!(await trees.get(treeId)) && follower.left.reason === undefined) throw unknownTree(treeId)
    for (;;) {
      // Checked before reading: a tree that is idle now is read to its end.
      const isLast = await isAtRest(follower)
      for await (const event of host.pages.read(treeId, cursor)) {
        yield event
        cursor = event.seq
      }
      // A turn that has begun here since then has live events, too.
      if (isLast || (await driverHere(follower)) || !(await changes.next(pollMs))) return
    }
  } finally {
    changes.stop()
  }
}

/** Nobody drives it, or its driver is idle and its inbox is empty. */
async function isAtRest(follower: Follower): Promise<boolean> {
  const { host, treeId } = follower
  const { trees, inbox } = host.parts.options.store
  if ((await trees.driver(treeId)) === undefined) return true
  if ((await statusOf(follower)) === 'running') return false
  const { inboxCursor } = await host.parts.trees.stateOf(treeId)
  const waiting = await inbox.read(treeId, inboxCursor)
  return waiting.length === 0
}

async function statusOf({ host, treeId }: Follower): Promise<TreeEntry['status'] | undefined> {
  const entry = await host.parts.options.store.trees.get(treeId)
  return entry?.status
}

interface Changes {
  /** Resolves at the next change, or after `ms`. `false`: the reader has left, or the runtime is closed. */
  next(ms?: number): Promise<boolean>
  stop(): void
}

/** The changes of a journal as promises; a change between two waits is not lost. Keeps the process alive. */
function watched({ host, treeId, left }: Pick<Follower, 'host' | 'treeId' | 'left'>): Changes {
  const { clock, store } = host.parts.options
  let { promise, resolve } = Promise.withResolvers<void>()
  const wake = (): void => resolve()
  const unwatch = store.journal.watch(treeId, wake)
  const [closed, leaving] = [new Interrupt(host.closed), new Interrupt(left)]
  closed.listen(wake)
  leaving.listen(wake)
  const release = keepAlive()
  return {
    async next(ms) {
      const cancel = ms === undefined ? undefined : clock.after(ms, wake)
      await promise
      cancel?.()
      ;({ promise, resolve } = Promise.withResolvers<void>())
      return left.reason === undefined && closed.reason === undefined
    },
    stop() {
      release()
      closed.close()
      leaving.close()
      if (typeof unwatch === 'function') unwatch()
    },
  }
}
