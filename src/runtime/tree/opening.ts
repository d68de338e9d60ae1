import type { AgentChanges, AgentSpec, Message, Principal, TraceContext, TreeIdentity } from '../../contracts/index.ts'
import type { Redactor } from '../../util/redact.ts'
import type { OwnerAccounts } from '../owners/owner-accounts.ts'
import type { TreeAccount } from '../owners/tree-account.ts'
import { withChanges } from '../resume/reconfigure-session.ts'
import { redactChanges, redactMessage } from './redact-message.ts'

/** What a caller sets for a new session. */
export interface Opening {
  readonly principal: Principal | undefined
  readonly identity: TreeIdentity
  /** Its id follows from an id of the client: another process may start the same tree. */
  readonly hasClientId: boolean
  readonly history: readonly Message[]
  readonly changes: AgentChanges | undefined
  readonly traceContext?: TraceContext | undefined
  /** Of the owner, if it has a budget. Opened before anything is asked or stored. */
  account?: TreeAccount | undefined
}

/** For a run. */
export const openedBy = ({ id, kind, name }: Principal): Opening => ({
  principal: { id, kind, ...(name !== undefined && { name }) },
  identity: { owner: id },
  hasClientId: false,
  history: [],
  changes: undefined,
})

/** Opens the account of the owner. `sessions.start` refuses a session if nothing is left today; a run ends with that reason. */
export async function openAccount(opening: Opening, accounts: OwnerAccounts, isStart: boolean): Promise<void> {
  opening.account = opening.principal && (await accounts.open(opening.principal.id))
  if (isStart) opening.account?.refuseIfExhausted()
}

/** Everything in it is stored and shown. */
export function withoutSecrets(opening: Opening, redactor: Redactor): Opening {
  const { changes, history, identity } = opening
  const { labels } = identity
  return {
    ...opening,
    identity: labels ? { ...identity, labels: labels.map((label) => redactor.text(label)) } : identity,
    history: history.map((message) => redactMessage(message, redactor)),
    changes: redactChanges(changes, redactor),
  }
}

export const openingAgent = (agent: AgentSpec, { changes }: Opening): AgentSpec => (changes ? withChanges(agent, changes) : agent)
