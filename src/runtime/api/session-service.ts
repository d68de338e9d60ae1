import type { ApprovalId, ClientId, SessionService } from '../../contracts/index.ts'
import { changesOfSettings } from '../changes/reconfigure-session.ts'
import { outcomeOf } from '../journal/outcome.ts'
import { clientCallsOf, openRequestsOf } from '../journal/pending-approvals.ts'
import { checkedTreeId } from '../journal/tree-cache.ts'
import { storedSessions } from '../sessions/stored-sessions.ts'
import { checkAnswer, checkCancel, checkEvents, checkRevoke, checkSend, checkSendHeld } from '../validation/check-arguments.ts'
import type { Runtime } from './create-agent-runtime.ts'
import { sessionEvents, untilRest } from './follow-session.ts'
import { partsOf } from './input-parts.ts'
import { startSession } from './start-session.ts'

/** Handles of runs use it, too. */
export function sessionService(host: Runtime): SessionService {
  return {
    ...storedSessions(host),
    start: (input, options = {}) => startSession(host, input, options),
    async send(sessionId, input, options = {}) {
      checkSend(input, options)
      const { mode = 'queue', clientId, to, traceContext, endsHandoff } = options
      const changes = changesOfSettings(options)
      const message = {
        kind: 'input',
        parts: partsOf(input),
        mode,
        ...(to !== undefined && { to }),
        ...(endsHandoff && { endsHandoff: true as const }),
        ...(changes && { changes }),
        ...(traceContext && { traceContext }),
      } as const
      return host.deliver(checkedTreeId(sessionId), message, clientId as ClientId | undefined)
    },
    events(sessionId, options = {}) {
      checkEvents(options)
      return sessionEvents(host, checkedTreeId(sessionId), typeof options === 'number' ? { after: options } : options)
    },
    async requests(sessionId) {
      return openRequestsOf(host.parts.options.store, await host.storedId(sessionId))
    },
    async clientCalls(sessionId) {
      return clientCallsOf(host.parts.options.store, await host.storedId(sessionId))
    },
    async approve(sessionId, answer) {
      checkAnswer(answer)
      const { approvalId, decision, by = 'caller', settings, message } = answer
      const changes = settings && changesOfSettings(settings)
      return host.deliver(checkedTreeId(sessionId), {
        kind: 'approval',
        approvalId: approvalId as ApprovalId,
        decision,
        by,
        ...(message && { message: { clientId: message.clientId as ClientId, parts: message.input } }),
        ...(changes && { changes }),
      })
    },
    async revoke(sessionId, keys, by = 'caller') {
      checkRevoke(keys, by)
      return host.deliver(checkedTreeId(sessionId), { kind: 'revoke', keys, by })
    },
    async cancel(sessionId, mode, by = 'caller') {
      checkCancel(mode, by)
      return host.deliver(checkedTreeId(sessionId), { kind: 'cancel', mode, by })
    },
    async sendHeld(sessionId, by = 'caller') {
      checkSendHeld(by)
      return host.deliver(checkedTreeId(sessionId), { kind: 'send_held', by })
    },
    async outcome(sessionId) {
      const treeId = checkedTreeId(sessionId)
      for (;;) {
        const driver = await host.drivers.find(treeId)
        if (!driver) break
        await driver.caughtUp()
        if (driver.isWaiting) return driver.outcome
        const rest = await driver.settled
        if (!(await host.drivers.continuesAfter(driver))) return outcomeOf(rest)
      }
      if (await host.isDrivenElsewhere(treeId)) await untilRest(host, treeId)
      const { root, children } = await host.parts.trees.stateOf(treeId)
      const stopped = root.turn.kind === 'open' ? host.drivers.failureOf(treeId) : undefined
      return outcomeOf({ state: root, children, stopped })
    },
  }
}
