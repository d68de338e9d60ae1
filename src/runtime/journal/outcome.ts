import { type ErrorCode, type Outcome, type Report, type SessionId, TroupeError, type TurnReason } from '../../contracts/index.ts'
import { type SessionState, speakerOf, type Waiting } from '../../core/index.ts'
import { reportOf } from '../../steps/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { accountingOf, diagnosticsOf, operationOf, operationSoFar, spentSoFar } from './operations.ts'
import { snapshotOf } from './session-snapshot.ts'

/** Why a turn that is still open is not being driven any more. */
export type StopCause = Pick<Outcome, 'status' | 'reason' | 'message' | 'remedy' | 'code'>

export const suspended: StopCause = {
  status: 'suspended',
  reason: 'approval',
  message: 'The turn waits for an approval or an answer.',
  remedy: 'Approve or deny it; the turn then continues.',
}

const awaitingInput: StopCause = {
  status: 'suspended',
  reason: 'input',
  message: 'The turn waits for input to one of its children.',
  remedy: 'Send it: sessions.send(id, input, { to }).',
}

const awaitingClient: StopCause = {
  status: 'suspended',
  reason: 'client',
  message: 'The turn waits for results of tools that its client runs.',
  remedy: 'The client sends them. Without it, interrupt the turn or delete the session.',
}

/** A child talks to the person. */
const awaitingMessage = (agent: string): StopCause => ({
  ...awaitingInput,
  message: `${agent} waits for a message.`,
  remedy: 'Send it: sessions.send(id, input).',
})

/** Its driver was released or has died. */
export const released: StopCause = {
  status: 'suspended',
  reason: 'released',
  message: 'The turn has not ended, and this process does not drive it.',
  remedy: 'Open the session to continue.',
}

/** How a drive ended: everything that the outcome is computed from. */
export interface DriveResult {
  readonly state: SessionState
  readonly children: ReadonlyMap<SessionId, SessionState>
  readonly stopped: StopCause | undefined
}

export function outcomeOf({ state, children, stopped }: DriveResult): Outcome {
  const { turn, sessionId, trace } = state
  const base = { sessionId, snapshot: snapshotOf(state) }
  if (turn.kind === 'none') {
    const nothing = { ...state.spent, accounting: [], operations: undefined, diagnostics: state.diagnostics, trace }
    return { ...base, ...nothing, ...(stopped ?? released) }
  }
  // `stopped` wins over an ending: an ending that could not be stored was never reached.
  const stoppedOr =
    stopped ?? (turn.kind === 'ended' ? turn.ending : turn.waiting.kind === 'suspended' ? suspensionOf(turn.waiting) : released)
  const speaking = speakingChild(state, children)
  const ending = speaking && 'reason' in stoppedOr && stoppedOr.reason === 'input' ? awaitingMessage(speaking.agent.name) : stoppedOr
  const report = turn.kind === 'ended' ? turn.report : speaking ? lastReport(speaking) : reportOf(turn, state.agent)
  const { usage, cost } = turn.kind === 'ended' ? turn.totals : spentSoFar(state, turn, children)
  return {
    ...base,
    ...ending,
    turnId: turn.id,
    ...(report && { report }),
    ...(speaking && { speaker: { sessionId: speaking.sessionId, agentPath: speaking.agentPath, agent: speaking.agent.name } }),
    usage,
    cost,
    accounting: accountingOf(state, children),
    operations:
      turn.kind === 'ended'
        ? { ...operationOf(state, turn, children), status: ending.status }
        : operationSoFar({ state, turn }, ending.status, children),
    trace: { ...trace, turnPath: trace.turnPath === '' ? turn.id : `${trace.turnPath}/${turn.id}` },
    diagnostics: diagnosticsOf(state, turn, children),
  }
}

/** The innermost child that talks to the person. */
function speakingChild(state: SessionState, children: DriveResult['children']): SessionState | undefined {
  const child = speakerOf(state)
  const found = child && children.get(child.childId)
  return found && (speakingChild(found, children) ?? found)
}

const lastReport = ({ turn, agent }: SessionState): Report | undefined =>
  turn.kind === 'ended' ? turn.report : turn.kind === 'open' ? reportOf(turn, agent) : undefined

/** Why a suspended turn waits. */
export function suspensionOf(waiting: Waiting): StopCause {
  if (waiting.kind !== 'suspended' || waiting.for === undefined) return suspended
  return waiting.for === 'input' ? awaitingInput : awaitingClient
}

const reasons: { readonly [Code in ErrorCode]?: TurnReason } = {
  store_failed: 'store',
  store_invalid: 'store',
  session_moved: 'store',
  session_driven: 'store',
  internal: 'internal',
}

/** Remedies for errors without one: if nothing was started, and if a tree is open. */
export const runAgain = 'Nothing was stored. Fix the error and run it again.'
export const openAgain = 'Open the session again to continue.'

export function stopCauseOf(error: unknown, remedy: typeof runAgain | typeof openAgain): StopCause {
  if (!(error instanceof TroupeError)) return { status: 'failed', reason: 'internal', message: messageOf(error), remedy }
  const { code, message } = error
  return { status: 'failed', reason: reasons[code] ?? 'config', message, remedy: error.remedy ?? remedy, code }
}
