import type { DriverId, InteractionEvent, Store } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'

/** A store as a driver left it that died after these events. */
export async function storeOf(events: readonly InteractionEvent[]): Promise<Store> {
  const store = memoryStore()
  const treeId = events[0]?.treeId
  if (treeId === undefined) throw new Error('a journal has events')
  const claim = await store.journal.claim(treeId, 'dead' as DriverId)
  if (!claim.ok) throw new Error(`the tree belongs to ${claim.driver}`)
  const summary = { agent: 'clerk', title: 't', status: 'running', openRequests: 0 } as const
  await store.journal.append({ treeId, expectedSeq: 0, epoch: claim.epoch, events, summary })
  await store.journal.release(treeId, claim.epoch)
  return store
}

/** The beginning of a journal up to what was asked, with a text that the session is told before that. */
export function toldFirst(events: readonly InteractionEvent[], source: string, text: string): readonly InteractionEvent[] {
  const end = events.findIndex(({ type }) => type === 'interaction.input.accepted') + 1
  return events.slice(0, end).flatMap((event): InteractionEvent[] => {
    if (event.type !== 'interaction.session.created') return [{ ...event, seq: event.seq + 1 }]
    const { treeId, sessionId, agentPath, at, seq } = event
    return [event, { type: 'interaction.context.added', seq: seq + 1, treeId, sessionId, agentPath, at, source, text }]
  })
}
