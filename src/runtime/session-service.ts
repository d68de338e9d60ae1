import type { InputPart, Outcome, SessionService, StreamEvent, TreeId } from '../contracts/index.ts'
import { outcomeOf } from './outcome.ts'
import type { TreeHouse } from './tree-house.ts'
import type { RunInput } from './types.ts'

/** The narrow door that surfaces use; the handle of a run goes through it too. */
export function sessionService(house: TreeHouse): SessionService {
  return {
    async open(input) {
      const { treeId, started } = house.begin(input, house.agent())
      const tree = await started
      await tree.durable()
      return treeId
    },
    send: (treeId, input, { mode = 'queue', clientId } = {}) =>
      house.deliver(treeId, { kind: 'input', parts: partsOf(input), mode }, clientId),
    events: (treeId, after = 0) => replayThenTail(house, treeId, after),
    approve: (treeId, approvalId, decision) => house.deliver(treeId, { kind: 'approval', approvalId, decision, by: 'caller' }),
    revoke: (treeId, keys) => house.deliver(treeId, { kind: 'revoke', keys, by: 'caller' }),
    cancel: (treeId, mode) => house.deliver(treeId, { kind: 'cancel', mode, by: 'caller' }),
    async outcome(treeId): Promise<Outcome> {
      return house.live(treeId)?.settled ?? outcomeOf(await house.workshop.stateOf(treeId))
    },
    list: async (options) => house.workshop.options.store.trees.list(options),
  }
}

export function partsOf(input: RunInput): readonly InputPart[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input
}

const pageSize = 512

/**
 * The journal first, then the feed. Subscribed before the journal is read, so that nothing falls between; what both
 * have is told once.
 */
async function* replayThenTail(house: TreeHouse, treeId: TreeId, after: number): AsyncGenerator<StreamEvent> {
  const { journal } = house.workshop.options.store
  const tail = house.live(treeId)?.feed.subscribe()
  let cursor = after
  try {
    for (;;) {
      const page = await journal.read(treeId, cursor, pageSize)
      for (const event of page) yield event
      cursor = page.at(-1)?.seq ?? cursor
      if (page.length < pageSize) break
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
    await tail?.return()
  }
}
