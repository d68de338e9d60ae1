import type {
  BlobId,
  Diagnostic,
  InputPart,
  InteractionEvent,
  JournalDamagedError,
  Outcome,
  Report,
  Store,
  TreeEntry,
  TurnOperation,
  TurnTotals,
} from '../../../contracts/index.ts'
import { recordedRun } from '../../../runtime/index.ts'
import { type SessionTotals, sessionTotals } from './session-totals.ts'
import { damagedState, type StoredSession, stateFromStatus } from './stored-sessions.ts'
import type { WaitingRequest } from './waiting-requests.ts'

/** A session with everything that its journal contains. */
export interface LoadedSession extends StoredSession {
  readonly events: readonly InteractionEvent[]
  /** Outcome of the last turn; of an open turn, the results so far. */
  readonly outcome: Outcome
  readonly requests: readonly WaitingRequest[]
  readonly turns: readonly LoadedTurn[]
  readonly operations: readonly TurnOperation[]
  readonly totals: SessionTotals
  /** The file of an output that was too large for the journal. */
  readonly fileOf: (handle: BlobId) => string | undefined
  /** Input of the last turn, or the pending input if no turn has begun. */
  readonly asked: string
  /** Messages that an interrupt found unread. */
  readonly held: readonly string[]
  readonly damage?: JournalDamagedError
}

export interface LoadedTurn {
  readonly asked: string
  /** Present in an ended turn. */
  readonly report?: Report
  readonly totals?: TurnTotals
}

/** Reads a session without claiming it. */
export async function loadSession(store: Store, entry: TreeEntry): Promise<LoadedSession> {
  const { treeId } = entry
  // Read before the journal: a session that ends meanwhile is not taken for unfinished.
  const driver = await store.trees.driver(treeId)
  const { events, status, outcome, turns: operations, open: requests, waitsForClient, origin, damage } = await recordedRun(store, treeId)
  const standing = damage ? damagedState(damage) : stateFromStatus(status, { driver, requests, waitsForClient })
  const { turns, waiting } = turnsIn(events)
  const asked = turns.at(-1)?.asked ?? waiting.join('\n\n')
  const held = standing.kind === 'ended' ? waiting : []
  const ended = turns.flatMap((turn) => turn.totals ?? [])
  const totals = sessionTotals(operations, ended.length === turns.length && ended.length > 0 ? ended : [...ended, outcome])
  const base = { run: damage ? entry : { ...entry, status }, ...(origin && { origin }), standing }
  const fileOf = (handle: BlobId): string | undefined => store.blobs.pathOf?.(treeId, handle)
  return { ...base, events, outcome, requests, turns, operations, totals, asked, held, fileOf, ...(damage && { damage }) }
}

/** The turns of the root, and input that no turn has taken yet. */
function turnsIn(events: readonly InteractionEvent[]): { readonly turns: readonly LoadedTurn[]; readonly waiting: readonly string[] } {
  const turns: LoadedTurn[] = []
  const inputs = new Map<string, string>()
  const rootId = events[0]?.sessionId
  for (const event of events) {
    if (event.sessionId !== rootId) continue
    switch (event.type) {
      case 'interaction.input.accepted':
        if (!event.endsHandoff) inputs.set(event.clientId, textOf(event.parts))
        break
      case 'interaction.turn.started':
        turns.push({ asked: event.inputs.map((each) => inputs.get(each) ?? '').join('\n\n') })
        for (const each of event.inputs) inputs.delete(each)
        break
      case 'interaction.step.started':
        for (const each of event.absorbs) inputs.delete(each)
        break
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted': {
        const turn = turns.pop()
        const { report, totals } = event
        if (turn) turns.push({ ...turn, ...(report && { report }), totals })
        break
      }
    }
  }
  return { turns, waiting: [...inputs.values()] }
}

const textOf = (parts: readonly InputPart[]): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'file' && part.name !== undefined ? part.name : part.mediaType))
    .join('\n')

/** Diagnostics of many children are grouped. */
export function countRepeats(diagnostics: readonly Diagnostic[]): readonly (readonly [Diagnostic, number])[] {
  const groups = Map.groupBy(diagnostics, ({ code, message }) => `${code}\n${message}`)
  return [...groups.values()].flatMap(([first, ...others]) => (first ? [[first, others.length + 1] as const] : []))
}
