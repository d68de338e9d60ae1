import { existsSync, readFileSync } from 'node:fs'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import type { Subject, Verdict } from './sweep.ts'

type WrongIn = (outcome: Outcome, events: readonly InteractionEvent[]) => readonly string[]

/** Each token is written once; one whose call ended as unknown may be missing. `wrongIn` checks the rest of the last process. */
export const judgeWrites =
  (tokens: readonly string[], wrongIn: WrongIn): Subject['judge'] =>
  (effectsFile, lives): Verdict => {
    const last = lives.at(-1)
    if (last?.kind !== 'ended') return { repeated: [], lost: [], unknown: [], wrong: ['the last process was killed'] }
    const { outcome, events } = last
    const effects = existsSync(effectsFile) ? readFileSync(effectsFile, 'utf8').split('\n').filter(Boolean) : []
    const times = (token: string) => effects.filter((line) => line === token).length
    const unknown = unknownWrites(events)
    return {
      repeated: tokens.filter((token) => times(token) > 1),
      lost: tokens.filter((token) => times(token) === 0 && !unknown.includes(token)),
      unknown,
      wrong: wrongIn(outcome, events),
    }
  }

/** Tokens of calls that ended as unknown. */
export function unknownWrites(events: readonly InteractionEvent[]): readonly string[] {
  const inputs = new Map<string, string>()
  return events.flatMap((event) => {
    if (event.type === 'interaction.item.started' && event.item.kind === 'call')
      inputs.set(`${event.sessionId} ${event.item.id}`, String(event.item.input.token))
    if (event.type !== 'interaction.item.completed' || event.item.kind !== 'call' || event.item.status !== 'unknown') return []
    return [inputs.get(`${event.sessionId} ${event.item.id}`) ?? '?']
  })
}
