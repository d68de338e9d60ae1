import type { AgentChanges, AgentSpec, Message, OutputContract, Principal, TreeIdentity } from '../../contracts/index.ts'
import type { Redactor } from '../../util/redact.ts'
import { withChanges } from '../resume/reconfigure-session.ts'
import { redactMessage } from './redact-message.ts'

/** What the caller of `sessions.start` sets for a new session. */
export interface Opening {
  readonly principal: Principal | undefined
  readonly identity: TreeIdentity
  /** Its id follows from an id of the client: another process may start the same tree. */
  readonly hasClientId: boolean
  readonly history: readonly Message[]
  readonly changes: AgentChanges | undefined
  readonly output: OutputContract | undefined
}

/** Everything in it is stored and shown. */
export function withoutSecrets(opening: Opening, redactor: Redactor): Opening {
  if (!redactor.stream()) return opening
  const { changes, history } = opening
  const { instructions } = changes ?? {}
  return {
    ...opening,
    history: history.map((message) => redactMessage(message, redactor)),
    changes: instructions === undefined ? changes : { ...changes, instructions: redactor.text(instructions) },
  }
}

export function openingAgent(agent: AgentSpec, { changes, output }: Opening): AgentSpec {
  const changed = changes ? withChanges(agent, changes) : agent
  return output ? { ...changed, output, saysOutput: true } : changed
}
