import {
  type Diagnostic,
  type InputPart,
  type InteractionEvent,
  type Outcome,
  type Report,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { recordedRun } from '../../runtime/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { dataDirFlag } from '../approvals/answer-command.ts'
import type { Place } from '../approvals/go-on-command.ts'
import { sessionsOf, type WaitingRequest } from '../approvals/waiting-requests.ts'
import { type KeptSession, standingBy } from './kept-sessions.ts'

/** A run with all that its journal says at this moment. */
export interface ShownSession extends KeptSession {
  readonly events: readonly InteractionEvent[]
  /** Of its last turn; where that goes on or was left, what there is so far. */
  readonly outcome: Outcome
  readonly requests: readonly WaitingRequest[]
  readonly turns: readonly ShownTurn[]
  /** By the last turn, or for it where none has begun. */
  readonly asked: string
}

export interface ShownTurn {
  readonly asked: string
  readonly startedAt: number
  /** Of one that has ended. */
  readonly report?: Report
  readonly durationMs?: number
}

/** Looks at a run without claiming it: whoever drives it does not notice. */
export async function shownSession(store: Store, id: string, place: Place): Promise<ShownSession> {
  const treeId = id as TreeId
  const entry = await store.trees.get(treeId)
  if (!entry) throw unknownSession(id, await idsIn(store), place)
  // Asked before the journal is read: what has ended by then is not taken for left.
  const driver = await store.trees.driver(treeId)
  const { events, status, outcome, open: requests, origin } = await recordedRun(store, treeId)
  const standing = standingBy(status, { driver, requests })
  const { turns, waiting } = turnsIn(events)
  const asked = turns.at(-1)?.asked ?? waiting
  return { run: { ...entry, status }, ...(origin && { origin }), standing, events, outcome, requests, turns, asked }
}

/** Ids are written in full, as behind --resume: whoever has only a part of one is told the rest. */
export function unknownSession(id: string, known: readonly string[], { folder, dataDir }: Place): TroupeError {
  const begun = id === '' ? [] : known.filter((each) => each.startsWith(id))
  const meant = begun.length > 0 ? begun : nearestNames(id, known)
  const list = `troupe sessions list --everywhere${dataDirFlag(dataDir)}`
  return new TroupeError('usage', `There is no session ${id} in ${folder}.`, {
    problems: meant.slice(0, mostNamed).map((each) => ({
      place: each,
      message: begun.length > 0 ? 'begins so; an id is written in full.' : 'is near.',
      remedy: `troupe sessions show ${each}${dataDirFlag(dataDir)}`,
    })),
    remedy: `See them all: ${list}`,
  })
}

const mostNamed = 5

async function idsIn(store: Store): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { treeId } of sessionsOf(store)) ids.push(treeId)
  return ids
}

/** The turns of the root, and what was said and has come into none of them. */
function turnsIn(events: readonly InteractionEvent[]): { readonly turns: readonly ShownTurn[]; readonly waiting: string } {
  const turns: ShownTurn[] = []
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
        if (turn) turns.push({ ...turn, ...(report && { report }), durationMs: totals.durationMs })
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
export function counted(diagnostics: readonly Diagnostic[]): readonly (readonly [Diagnostic, number])[] {
  const groups = Map.groupBy(diagnostics, ({ code, message }) => `${code}\n${message}`)
  return [...groups.values()].flatMap(([first, ...others]) => (first ? [[first, others.length + 1] as const] : []))
}
