import type { CallRecord, InteractionEvent, ItemIntent, ItemRecord, Severity, StreamEvent } from '../../contracts/index.ts'
import { changesOf, exitCodeOf, requestSummary, shownFor } from '../../view/index.ts'
import { duration } from '../terminal/format-numbers.ts'
import { printable } from '../terminal/paint.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { isFailedExit } from '../tree/call-texts.ts'
import { requestLabel } from '../tree/leaf-rows.ts'

interface Entry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly msg: string
  /** Numbers and names, never content of messages and results. */
  readonly fields?: object
}

export interface LogContext {
  /** Time of events that have none. */
  readonly now: number
  /** Label of the child. */
  readonly source?: string
  /** Name of the agent or call, for people. */
  readonly name?: string
}

/** One line of the JSON log. Streamed text is not logged. */
export function logLine(event: StreamEvent, { now, source, name }: LogContext): string | undefined {
  const entry = entryOf(event, name)
  if (!entry) return undefined
  const { type, treeId, sessionId, agentPath, turnId, stepId, itemId } = event
  const time = new Date('at' in event ? event.at : now).toISOString()
  const seq = 'seq' in event ? event.seq : undefined
  const { level, msg, fields } = entry
  // The log may be read on a terminal.
  return safeJson({ time, level, msg, source, event: type, treeId, sessionId, agentPath, turnId, stepId, itemId, seq, ...fields })
}

function entryOf(event: StreamEvent, name: string | undefined): Entry | undefined {
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured': {
      const { agent, tools } = event
      const what = event.type === 'interaction.session.created' ? 'session created' : 'session configured'
      return info(`${what}: ${name ?? agent.toolName}`, { agent: agent.name, models: agent.models, tools })
    }
    case 'interaction.session.resumed':
      return info('session resumed', { epoch: event.epoch, diagnostics: event.diagnostics })
    case 'interaction.session.idle':
      return { level: 'debug', msg: 'session idle' }
    case 'interaction.input.accepted':
      return info('input accepted', { mode: event.mode, parts: event.parts.length })
    case 'interaction.turn.started':
      return info('turn started')
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      return turnEntry(event)
    case 'interaction.turn.suspended':
      return { level: 'warn', msg: 'turn suspended', fields: { reason: event.reason, approvals: event.approvals } }
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      return stepEntry(event)
    case 'interaction.item.started':
      return startedEntry(event.item, name)
    case 'interaction.item.updated':
      return updatedEntry(event.update)
    case 'interaction.item.completed':
      return endedEntry(event.item)
    case 'interaction.item.delta':
      return event.kind === 'progress' ? { level: 'debug', msg: printable(event.text) } : undefined
    case 'interaction.queue.joined':
    case 'interaction.queue.left': {
      const { queue, since } = event
      const what = event.type === 'interaction.queue.joined' ? 'waiting' : 'no longer waiting'
      return { level: 'debug', msg: `${what} for queue ${printable(queue)}`, fields: { queue, since: new Date(since).toISOString() } }
    }
    default:
      return otherEntry(event, name)
  }
}

type Other = InteractionEvent<
  | 'interaction.approval.requested'
  | 'interaction.approval.resolved'
  | 'interaction.approval.granted'
  | 'interaction.approval.revoked'
  | 'interaction.subagent.selected'
  | 'interaction.subagent.started'
  | 'interaction.subagent.completed'
  | 'interaction.subagent.failed'
  | 'interaction.hook.completed'
  | 'interaction.context.added'
  | 'interaction.context.compacted'
  | 'interaction.cancel.requested'
  | 'interaction.diagnostic'
>

function otherEntry(event: Other, name: string | undefined): Entry {
  switch (event.type) {
    case 'interaction.approval.requested': {
      const { id, tool, scope } = event.request
      return {
        level: 'warn',
        msg: `${requestLabel(scope)}: ${printable(requestSummary(event.request))}`,
        fields: { approvalId: id, tool, scope },
      }
    }
    case 'interaction.approval.resolved':
      return info(`approval: ${event.decision.kind}`, { approvalId: event.approvalId, decision: event.decision.kind, by: event.by })
    case 'interaction.approval.granted':
      return info('approved for the session', { keys: event.keys.map(({ key }) => key), from: event.from, by: event.by })
    case 'interaction.approval.revoked':
      return info('approvals revoked', { keys: event.keys, by: event.by })
    case 'interaction.subagent.selected':
      return info(`agent selected: ${name ?? event.agent}`, { agent: event.agent, scores: event.scores })
    case 'interaction.subagent.started':
      return info(`child started: ${name ?? event.agent}`, { childId: event.childId, agent: event.agent })
    case 'interaction.subagent.completed':
      return info(`child ${event.status}: ${name ?? event.agent}`, { childId: event.childId, ...event.totals })
    case 'interaction.subagent.failed':
      return {
        level: 'warn',
        msg: `child ${event.status}: ${name ?? event.agent}`,
        fields: { childId: event.childId, failure: event.failure, ...event.totals },
      }
    case 'interaction.hook.completed': {
      const { hook, verdict, message } = event
      return { level: verdict === 'failed' ? 'warn' : 'info', msg: `hook ${hook}: ${verdict}`, fields: { hook, verdict, message } }
    }
    case 'interaction.context.added':
      return info(`context added: ${printable(event.source)}`, { source: event.source, characters: event.text.length })
    case 'interaction.context.compacted': {
      const { tokensBefore, tokensAfter, kept } = event
      return info('history compacted', { tokensBefore, tokensAfter, kept })
    }
    case 'interaction.cancel.requested':
      return { level: 'warn', msg: `${event.mode} requested`, fields: { mode: event.mode, by: event.by } }
    case 'interaction.diagnostic': {
      const { code, severity, message, remedy } = event.diagnostic
      return { level: levels[severity], msg: printable(message), fields: { code, remedy } }
    }
    default:
      return event satisfies never
  }
}

function updatedEntry(update: InteractionEvent<'interaction.item.updated'>['update']): Entry {
  if (update.kind === 'plan') return info('plan changed', { steps: update.plan.steps })
  const { reason, attempt, by } = update
  const msg = reason === 'unsandboxed' ? 'call retried outside the sandbox' : `call retried: ${reason}`
  return { level: reason === 'unsandboxed' ? 'warn' : 'info', msg, fields: { attempt, reason, by } }
}

const levels: { readonly [S in Severity]: Entry['level'] } = { info: 'info', warning: 'warn', error: 'error' }
const info = (msg: string, fields?: object): Entry => ({ level: 'info', msg, ...(fields && { fields }) })

function turnEntry({
  ending,
  totals,
}: InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>): Entry {
  const { status } = ending
  const level = status === 'failed' ? 'error' : status === 'completed' ? 'info' : 'warn'
  const why = status === 'failed' ? `: ${printable(ending.message)}` : 'reason' in ending ? `: ${ending.reason}` : ''
  return { level, msg: `turn ${status}${why}`, fields: { ...ending, ...totals } }
}

function stepEntry(event: InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>): Entry {
  if (event.type === 'interaction.step.started') {
    const { model, modelId, attempt, last } = event
    return info(`model request: ${model}`, { model, modelId, attempt, last: last?.reason })
  }
  const { usage, cost, latencyMs } = event
  if (event.type === 'interaction.step.completed') {
    const problems = event.output?.ok === false ? event.output.problems : undefined
    const fields = { finish: event.finish, usage, cost, latencyMs, problems }
    const msg = `model answered in ${duration(latencyMs)}`
    return problems ? { level: 'warn', msg: `${msg}: ${printable(problems[0] ?? '')}`, fields } : info(msg, fields)
  }
  const { failure, delayMs } = event
  const msg = `model failed: ${failure.class}: ${printable(failure.message)}`
  return { level: 'warn', msg, fields: { failure, delayMs, usage, cost, latencyMs } }
}

function startedEntry(item: ItemIntent, name: string | undefined): Entry | undefined {
  if (item.kind === 'plan') return info('plan created', { steps: item.plan.steps })
  if (item.kind !== 'call') return undefined
  const { tool, namespace, title, effect, approved } = item
  const about = cut(printable(shownFor(item) ?? ''))
  return info(`call started: ${name ?? tool}`, { tool, namespace, about, title: printable(title), effect, approvedBy: approved?.by })
}

/** The journal has the complete text. */
const cut = (text: string): string | undefined =>
  text === '' ? undefined : text.length > maxSubjectLength ? `${text.slice(0, maxSubjectLength)}…` : text
const maxSubjectLength = 300

function endedEntry(item: ItemRecord): Entry | undefined {
  if (item.kind !== 'call') return undefined
  const { status, latencyMs, bytesIn, bytesOut, error } = item
  const exitCode = exitCodeOf(item)
  const why = error ? `: ${error.class}: ${printable(error.message)}` : isFailedExit(exitCode) ? `: exit code ${exitCode}` : ''
  return {
    level: status === 'completed' ? 'info' : 'warn',
    msg: `call ${status}${why}`,
    fields: { status, latencyMs, bytesIn, bytesOut, error, exitCode, changes: changed(item) },
  }
}

/** Files and line counts, without content. */
function changed(item: CallRecord): readonly object[] | undefined {
  const changes = changesOf(item).map(({ diff: _, ...change }) => change)
  return changes.length > 0 ? changes : undefined
}
