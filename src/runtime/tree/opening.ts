import type { AgentChanges, AgentSpec, Message, Principal, TraceContext, TreeIdentity } from '../../contracts/index.ts'
import { apply, type Session, turnIdOf } from '../../core/index.ts'
import type { Redactor } from '../../util/redact.ts'
import type { OwnerAccounts } from '../owners/owner-accounts.ts'
import type { TreeAccount } from '../owners/tree-account.ts'
import { withChanges } from '../resume/reconfigure-session.ts'
import { redactChanges, redactMessage } from './redact-message.ts'

/** What a caller sets for a new session. */
export interface Opening {
  readonly principal: Principal | undefined
  readonly identity: TreeIdentity
  /** By `sessions.start`, which refuses a session that its owner cannot pay. A run ends with that reason. */
  readonly isStart: boolean
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
  isStart: false,
  hasClientId: false,
  history: [],
  changes: undefined,
})

/** Opens the account of the owner. */
export async function openAccount(opening: Opening, accounts: OwnerAccounts): Promise<void> {
  opening.account = opening.principal && (await accounts.open(opening.principal.id))
  if (opening.isStart) opening.account?.account.refuseIfExhausted()
}

/**
 * For a session whose input is recorded and not stored yet. Its turn is begun with a copy of its state.
 *
 * @throws BudgetExhaustedError if the budget of the owner pays no answer to it.
 */
export function refuseIfTooLittle({ isStart, account }: Opening, session: Session): void {
  if (!isStart || !account) return
  const { turns, inputs } = session.state
  const started = { type: 'interaction.turn.started', inputs: inputs.map(({ clientId }) => clientId) } as const
  account.account.refuseIfTooLittle(apply(session.state, { ...session.nextEnvelope(), ...started, turnId: turnIdOf(turns + 1) }))
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
