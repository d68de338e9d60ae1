import { type InboxMessage, type InputPart, type TreeId, TroupeError } from '../../contracts/index.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { storeInput } from '../inputs/store-input.ts'
import type { Variables } from '../parts/session-overlays.ts'
import type { Runtime } from './create-agent-runtime.ts'

// A client id that comes again must mean the same. What is compared is what was recorded: secrets are redacted in both.

export const isSameMessage = (stored: InboxMessage, message: InboxMessage): boolean =>
  stored.kind === message.kind && (stored.kind !== 'input' || message.kind !== 'input' || haveSameJson(stored.parts, message.parts))

export const clientIdTaken = (clientId: string, what: string): TroupeError =>
  new TroupeError('client_id_taken', `The client id ${JSON.stringify(clientId)} belongs to ${what}.`, {
    remedy: 'Repeat the identical request, or use a new client id.',
  })

interface Repeated {
  readonly clientId: string
  readonly agent: string | undefined
  readonly input: readonly InputPart[]
  readonly overlay: Variables | undefined
}

/** @throws TroupeError `client_id_taken` if the session was started with another agent or input. */
export async function requireSameStart(
  { parts, pages }: Pick<Runtime, 'parts' | 'pages'>,
  treeId: TreeId,
  { clientId, agent, input, overlay }: Repeated,
): Promise<void> {
  for await (const event of pages.read(treeId, 0)) {
    if (event.type === 'interaction.session.created' && agent !== undefined && event.agent.name !== agent)
      throw clientIdTaken(clientId, `a session of the agent "${event.agent.name}"`)
    if (event.type !== 'interaction.input.accepted') continue
    const again = await storeInput(parts, { treeId }, parts.withoutSecrets(input, parts.overlays.over(overlay)))
    if (!haveSameJson(event.parts, again)) throw clientIdTaken(clientId, 'a session with another input')
    return
  }
}
