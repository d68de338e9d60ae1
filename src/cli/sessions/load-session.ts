import type {
  BlobId,
  Diagnostic,
  InputPart,
  InteractionEvent,
  JournalDamagedError,
  Outcome,
  Report,
  Store,
  TurnOperation,
  TurnTotals,
} from '../../contracts/index.ts'
import { recordedRun } from '../../runtime/index.ts'
import type { WaitingRequest } from '../approvals/waiting-requests.ts'
import { findSession, type SessionPlace } from './find-session.ts'
import { type SessionTotals, sessionTotals } from './session-totals.ts'
import { damagedState, type StoredSession, stateFromStatus } from './stored-sessions.ts'

/** A run with all that its journal says at this moment. */
export interface LoadedSession extends StoredSession {
  readonly events: readonly InteractionEvent[]
  /** Of its last turn; where that goes on or was left, what there is so far. */
  readonly outcome: Outcome
  readonly requests: readonly WaitingRequest[]
  readonly turns: readonly LoadedTurn[]
  /** What happened in each of them. */
  readonly operations: readonly TurnOperation[]
  readonly totals: SessionTotals
  /** Where an output is that was too large for the journal. */
  readonly fileOf: (handle: BlobId) => string | undefined
  /** By the last turn, or for it where none has begun. */
  readonly asked: string
  /** Where its journal cannot be read any further. */
  readonly damage?: JournalDamagedError
}

export interface LoadedTurn {
  readonly asked: string
  readonly startedAt: number
  /** Of one that has ended. */
  readonly report?: Report
  readonly totals?: TurnTotals
}

/** Looks at a run without claiming it: whoever drives it does not notice. */
export async function loadSession(store: Store, id: string, place: SessionPlace): Promise<LoadedSession> {
  const entry = await findSession(store, id, place)
  const { treeId } = entry
  // Asked before the journal is read: what has ended by then is not taken for left.
  const driver = await store.trees.driver(treeId)
  const { events, status, outcome, turns: operations, open: requests, origin, damage } = await recordedRun(store, treeId)
  const standing = damage ? damagedState(damage) : stateFromStatus(status, { driver, requests })
  const { turns, waiting } = turnsIn(events)
  const asked = turns.at(-1)?.asked ?? waiting
  const ended = turns.flatMap((turn) => turn.totals ?? [])
  const totals = sessionTotals(operations, ended.length === turns.length && ended.length > 0 ? ended : [...ended, outcome])
  const base = { run: damage ? entry : { ...entry, status }, ...(origin && { origin }), standing }
  const fileOf = (handle: BlobId): string | undefined => store.blobs.pathOf?.(treeId, handle)
  return { ...base, events, outcome, requests, turns, operations, totals, asked, fileOf, ...(damage && { damage }) }
}

/** The turns of the root, and what was said and has come into none of them. */
function turnsIn(events: readonly InteractionEvent[]): { readonly turns: readonly LoadedTurn[]; readonly waiting: string } {
  const turns: LoadedTurn[] = []
  const inputs = new Map<string, string>()
  const rootId = events[0]?.sessionId
  for (const event of events) {
    if (event.sessionId !== rootId) continue
    switch (event.type) {
      case 'interaction.input.accepted':
        inputs.set(event.clientId, textOf(event.parts))
        break
      case 'interaction.turn.started':
        turns.push({ asked: event.inputs.map((each) => inputs.get(each) ?? '').join('\n\n'), startedAt: event.at })
        for (const each of event.inputs) inputs.delete(each)
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
  return { turns, waiting: [...inputs.values()].join('\n\n') }
}

const textOf = (parts: readonly InputPart[]): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'file' && part.name !== undefined ? part.name : part.mediaType))
    .join('\n')

/** The same thing said of many children is told once, with how often. */
export function countRepeats(diagnostics: readonly Diagnostic[]): readonly (readonly [Diagnostic, number])[] {
  const groups = Map.groupBy(diagnostics, ({ code, message }) => `${code}\n${message}`)
  return [...groups.values()].flatMap(([first, ...others]) => (first ? [[first, others.length + 1] as const] : []))
}
