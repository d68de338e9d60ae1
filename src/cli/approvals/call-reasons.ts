import type { InteractionEvent, ItemId, SessionId } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/schema-values.ts'

/** Why calls are made, in the words of the model: a request for an approval has the arguments alone. */
export class CallReasons {
  /** The last step of each session: nobody is asked about an earlier one. */
  readonly #steps = new Map<SessionId, InteractionEvent<'interaction.step.completed'>>()

  hear(step: InteractionEvent<'interaction.step.completed'>): void {
    this.#steps.set(step.sessionId, step)
  }

  of(sessionId: SessionId, itemId: ItemId): string | undefined {
    const step = this.#steps.get(sessionId)
    const [, place, number] = /^(.+?)(?:r\d+)?\.(\d+)$/.exec(itemId) ?? []
    if (!step || place !== step.stepId) return undefined
    // Calls are the last items of their step, in the order of the reply.
    const texts = step.reply.filter(({ type }) => type === 'item').length
    const call = step.reply.filter((ref) => ref.type === 'call')[Number(number) - texts - 1]
    return call && reasonIn(call.input)
  }
}

function reasonIn(input: string): string | undefined {
  try {
    const given: unknown = JSON.parse(input)
    const reason = isPlainObject(given) ? (given.call_reason ?? given.reason) : undefined
    return typeof reason === 'string' && reason.trim() !== '' ? reason : undefined
  } catch {
    return undefined
  }
}
