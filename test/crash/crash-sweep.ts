import { existsSync, readFileSync } from 'node:fs'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import type { Life } from './subject-process.ts'
import type { Subject, Verdict } from './sweep.ts'
import { wrongEnds } from './wrong-ends.ts'

const writes = ['w-1', 'w-2', 'w-3', 'w-4', 'w-5', 'w-6', 'k-1', 'k-2', 'm-1', 'd-1']

export const oneSession: Subject = { file: 'subject.mjs', mostFurtherLives: 3, judge }

function judge(file: string, lives: readonly Life[]): Verdict {
  const last = lives.at(-1)
  if (last?.kind !== 'ended') return { repeated: [], lost: [], unknown: [], wrong: ['the last process was killed'] }
  const { outcome, events, lostBlobs } = last
  const effects = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const times = (token: string) => effects.filter((line) => line === token).length
  const status = statuses(events)
  const unknown = writes.filter((token) => status.get(token) === 'unknown')
  const flagged = outcome.diagnostics.filter((diagnostic) => diagnostic.code === 'call_unknown').length
  return {
    repeated: writes.filter((token) => times(token) > 1),
    lost: writes.filter((token) => times(token) === 0 && status.get(token) !== 'unknown'),
    unknown,
    wrong: [
      ...(flagged === unknown.length ? [] : [`${unknown.length} unknown, ${flagged} flagged`]),
      ...(outcome.status === 'completed' && outcome.report?.text === 'All done.'
        ? []
        : [`ended ${outcome.status}: ${outcome.message ?? outcome.report?.text}`]),
      ...(new Set(effects.filter((line) => line.startsWith('i-1'))).size === 1
        ? []
        : ['the idempotent call ran under several ids, or never']),
      ...lostBlobs.map((part) => `lost: ${JSON.stringify(part)}`),
      ...(status.get('d-1') === 'unknown' || partsIn(events) === 3 ? [] : [`${partsIn(events)} parts on record`]),
      ...(times('r-1') >= 1 ? [] : ['the read call never ran']),
      ...shape(events),
      ...wrongEnds(events),
    ],
  }
}

function statuses(events: readonly InteractionEvent[]): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>()
  const found = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'interaction.item.started' && event.item.kind === 'call') tokens.set(event.item.id, String(event.item.input.token))
    if (event.type === 'interaction.item.completed') found.set(tokens.get(event.item.id) ?? event.item.id, event.item.status)
  }
  return found
}

const partsIn = (events: readonly InteractionEvent[]): number =>
  events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? (event.item.parts ?? []) : []))
    .length

/** Gap-free numbers, everything that began has ended once, nothing after the end. */
function shape(events: readonly InteractionEvent[]): readonly string[] {
  const wrong: string[] = []
  const open = new Set<string>()
  const ended = new Set<string>()
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) wrong.push(`seq ${event.seq} stands at place ${index + 1}`)
    if (event.type === 'interaction.item.started') open.add(event.item.id)
    if (event.type === 'interaction.item.completed') {
      if (!open.delete(event.item.id) || ended.has(event.item.id)) wrong.push(`item ${event.item.id} ended twice, or never began`)
      ended.add(event.item.id)
    }
  }
  if (open.size > 0) wrong.push(`never ended: ${[...open].join(', ')}`)
  const ends = events.filter((event) => event.type === 'interaction.turn.completed').length
  if (ends !== 1) wrong.push(`the turn ended ${ends} times`)
  return wrong
}
