import { type InboxMessage, type InputPart, type TreeId, TroupeError } from '../../contracts/index.ts'
import { haveSameJson } from '../../util/json-values.ts'
import type { Variables } from '../tree/session-overlays.ts'
import { storeInput } from '../tree/store-input.ts'
import type { RuntimeParts } from './runtime-parts.ts'

// A client id that comes again must mean the same. What is compared is what was recorded: secrets are redacted in both.

export const isSameMessage = (stored: InboxMessage, message: InboxMessage): boolean =>
  stored.kind === message.kind && (stored.kind !== 'input' || message.kind !== 'input' || haveSameJson(stored.parts, message.parts))

export const clientIdTaken = (clientId: string, what: string): TroupeError =>
  new TroupeError('client_id_taken', `The client id ${JSON.stringify(clientId)} belongs to ${what}.`, {
    remedy: 'Repeat a request with everything in it, or use a new client id.',
  })

interface Repeated {
  readonly clientId: string
  readonly agent: string | undefined
  readonly input: readonly InputPart[]
  readonly overlay: Variables | undefined
}

/** The first batch of a journal has the agent and the input. */
const firstEvents = 16

/** @throws TroupeError `client_id_taken` if the session was started with another agent or input. */
export async function requireSameStart(parts: RuntimeParts, treeId: TreeId, { clientId, agent, input, overlay }: Repeated): Promise<void> {
  for (const event of await parts.options.store.journal.read(treeId, 0, firstEvents)) {
    if (event.type === 'interaction.session.created' && agent !== undefined && event.agent.name !== agent)
      throw clientIdTaken(clientId, `a session of the agent "${event.agent.name}"`)
    if (event.type !== 'interaction.input.accepted') continue
    const again = await storeInput(parts, { treeId }, parts.withoutSecrets(input, parts.overlays.over(overlay)))
    if (!haveSameJson(event.parts, again)) throw clientIdTaken(clientId, 'a session with another input')
    return
  }
}
