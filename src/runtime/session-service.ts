import type { InputPart, SessionService, StreamEvent, TreeEntry, TreeId } from '../contracts/index.ts'
import type { RunInput } from './agent-runtime.ts'
import { checkAnswer, checkCancel, checkList, checkRevoke, checkSend } from './check-call.ts'
import { keepAlive } from './keep-alive.ts'
import { openRequestsOf } from './open-requests.ts'
import { outcomeOf } from './outcome.ts'
import type { TreeHost } from './tree-host.ts'
import { unknownTree } from './tree-memory.ts'

/** The narrow door that surfaces use; the handle of a run goes through it too. */
export function sessionService(host: TreeHost): SessionService {
  return {
    async start(input, options = {}) {
      const { treeId, started } = host.begin(input, options, 'start')
      const driver = await started
      await driver.durable()
      return treeId
    },
    async send(treeId, input, options = {}) {
      checkSend(input, options)
      const { mode = 'queue', clientId } = options
      return host.deliver(treeId, { kind: 'input', parts: partsOf(input), mode }, clientId)
    },
    events: (treeId, after = 0) => untilIdle(host, treeId, after),
    async requests(treeId) {
      const { store } = host.parts.options
      if (!(await store.trees.get(treeId))) throw unknownTree(treeId)
      return openRequestsOf(store, treeId)
    },
    async approve(treeId, answer) {
      checkAnswer(answer)
      const { approvalId, decision, by = 'caller' } = answer
      await host.deliver(treeId, { kind: 'approval', approvalId, decision, by })
    },
    async revoke(treeId, keys, by = 'caller') {
      checkRevoke(keys, by)
      await host.deliver(treeId, { kind: 'revoke', keys, by })
    },
    async cancel(treeId, mode, by = 'caller') {
      checkCancel(mode, by)
      await host.deliver(treeId, { kind: 'cancel', mode, by })
    },
    async outcome(treeId) {
      const driver = await host.driverOf(treeId)
      if (driver) return driver.isWaiting ? driver.outcome : outcomeOf(await driver.settled)
      if (await host.isDrivenElsewhere(treeId)) for await (const _ of replayThenTail(host, treeId, Number.MAX_SAFE_INTEGER));
      const { root, children } = await host.parts.trees.stateOf(treeId)
      return outcomeOf({ state: root, children, halt: undefined })
    },
    async list(options = {}) {
      checkList(options)
      return host.parts.options.store.trees.list(options)
    },
  }
}

export function partsOf(input: RunInput): readonly InputPart[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input
}

const pageSize = 512

/** Over every suspension: a session that waits for a person is not idle, whoever will answer, and however late. */
async function* untilIdle(host: TreeHost, treeId: TreeId, after: number): AsyncGenerator<StreamEvent> {
  let cursor = after
  for (;;) {
    for await (const event of replayThenTail(host, treeId, cursor)) {
      if ('seq' in event) cursor = event.seq
      yield event
    }
    // Asked before looking for more: whoever has gone on since has written that down.
    const status = await statusOf(host, treeId)
    const [more] = await host.parts.options.store.journal.read(treeId, cursor, 1)
    if (more) continue
    if (status !== 'suspended' || !(await goesOn(host, treeId, cursor))) return
  }
}

/** Waits until there is more in the journal. `false`: the runtime was closed before. */
async function goesOn(host: TreeHost, treeId: TreeId, cursor: number): Promise<boolean> {
  const { journal } = host.parts.options.store
  const changes = watched((wake) => journal.watch(treeId, wake))
  const release = keepAlive()
  try {
    for (;;) {
      const [more] = await journal.read(treeId, cursor, 1)
      if (more) return true
      if ((await Promise.race([changes.next(), host.closed])) === 'closed') return false
    }
  } finally {
    release()
    changes.stop()
  }
}

/**
 * Until the tree rests, suspended or idle. The journal first, then the feed. Subscribed before the journal is read, so that nothing falls between; what both
 * have is told once. Where another process drives the tree, its durable events are followed by watching the journal.
 */
async function* replayThenTail(host: TreeHost, treeId: TreeId, after: number): AsyncGenerator<StreamEvent> {
  const { journal, trees } = host.parts.options.store
  const driver = await host.driverOf(treeId)
  const tail = driver?.feed.subscribe()
  const changes = tail ? undefined : watched((wake) => journal.watch(treeId, wake))
  // Whoever follows another process has nothing else to keep this one alive.
  const release = changes && keepAlive()
  let cursor = after
  try {
    if (!driver && !(await trees.get(treeId))) throw unknownTree(treeId)
    for (;;) {
      // Asked before reading: what rested then is read to its end.
      const isLast = changes === undefined || (await statusOf(host, treeId)) !== 'running'
      const page = await journal.read(treeId, cursor, pageSize)
      for (const event of page) yield event
      cursor = page.at(-1)?.seq ?? cursor
      if (page.length === pageSize) continue
      if (isLast) break
      await changes?.next()
    }
    if (!tail) return
    for await (const event of tail) {
      if ('seq' in event) {
        if (event.seq <= cursor) continue
        cursor = event.seq
      }
      yield event
    }
  } finally {
    release?.()
    changes?.stop()
    await tail?.return()
  }
}

async function statusOf(host: TreeHost, treeId: TreeId): Promise<TreeEntry['status'] | undefined> {
  const entry = await host.parts.options.store.trees.get(treeId)
  return entry?.status
}

/** Turns wake-ups into something to await; a wake-up between two waits is not lost. */
function watched(watch: (wake: () => void) => () => void): { next(): Promise<void>; stop(): void } {
  let { promise, resolve } = Promise.withResolvers<void>()
  const stop = watch(() => resolve())
  return {
    async next() {
      await promise
      ;({ promise, resolve } = Promise.withResolvers<void>())
    },
    stop,
  }
}
