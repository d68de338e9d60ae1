import type { CallRecord, InteractionEvent, ItemIntent, ItemRecord, QueueEvent, Severity, StreamEvent } from '../../contracts/index.ts'
import { changesOf, duration, exitCodeOf, requestSummary, shownFor } from '../../view/index.ts'
import { printable } from '../terminal/printable.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { isFailedExit } from './tree/call-texts.ts'
import { requestLabel } from './tree/leaf-rows.ts'

interface Entry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly msg: string
  /** Numbers and names, never content of messages and results. */
  readonly fields?: object
}

interface LogContext {
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
  const entry = entries[event.type] as (event: StreamEvent, name: string | undefined) => Entry | undefined
  return entry(event, name)
}

const entries: {
  readonly [T in StreamEvent['type']]: (event: StreamEvent & { readonly type: T }, name: string | undefined) => Entry | undefined
} = {
  'interaction.session.created': (event, name) => agentEntry('session created', event, name),
  'interaction.session.configured': (event, name) => agentEntry('session configured', event, name),
  'interaction.session.resumed': ({ epoch, diagnostics }) => info('session resumed', { epoch, diagnostics }),
  'interaction.session.idle': () => debug('session idle'),
  'interaction.input.accepted': ({ mode, parts }) => info('input accepted', { mode, parts: parts.length }),
  'interaction.held.sent': ({ by }) => info('held messages sent', { by }),
  'interaction.history.added': ({ messages }) => info('history added', { messages: messages.length }),
  'interaction.turn.started': () => info('turn started'),
  'interaction.turn.completed': turnEntry,
  'interaction.turn.failed': turnEntry,
  'interaction.turn.interrupted': turnEntry,
  'interaction.turn.suspended': ({ reason, approvals }) => warn('turn suspended', { reason, approvals }),
  'interaction.step.started': ({ model, modelId, attempt, last }) =>
    info(`model request: ${model}`, { model, modelId, attempt, last: last?.reason }),
  'interaction.step.completed': answerEntry,
  'interaction.step.failed': ({ failure, delayMs, usage, cost, latencyMs }) =>
    warn(`model failed: ${failure.class}: ${printable(failure.message)}`, { failure, delayMs, usage, cost, latencyMs }),
  'interaction.item.started': ({ item }, name) => startedEntry(item, name),
  'interaction.item.updated': ({ update }) => updatedEntry(update),
  'interaction.item.completed': ({ item }) => endedEntry(item),
  'interaction.item.delta': ({ kind, text }) => (kind === 'progress' ? debug(printable(text)) : undefined),
  'interaction.queue.joined': (event) => queueEntry('waiting', event),
  'interaction.queue.left': (event) => queueEntry('no longer waiting', event),
  'interaction.approval.requested': ({ request }) => {
    const { id, tool, scope } = request
    return warn(`${requestLabel(scope)}: ${printable(requestSummary(request))}`, { approvalId: id, tool, scope })
  },
  'interaction.approval.resolved': ({ approvalId, decision: { kind }, by }) =>
    info(`approval: ${kind}`, { approvalId, decision: kind, by }),
  'interaction.approval.granted': ({ keys, from, by }) => info('approved for the session', { keys: keys.map(({ key }) => key), from, by }),
  'interaction.approval.revoked': ({ keys, by }) => info('approvals revoked', { keys, by }),
  'interaction.subagent.selected': ({ agent, scores }, name) => info(`agent selected: ${name ?? agent}`, { agent, scores }),
  'interaction.subagent.started': ({ childId, agent, turn }, name) => info(`child started: ${name ?? agent}`, { childId, agent, turn }),
  'interaction.subagent.completed': ({ childId, agent, status, totals, turn }, name) =>
    info(`child ${status}: ${name ?? agent}`, { childId, turn, ...totals }),
  'interaction.subagent.failed': ({ childId, agent, status, failure, totals, turn }, name) =>
    warn(`child ${status}: ${name ?? agent}`, { childId, turn, failure, ...totals }),
  'interaction.subagent.closed': ({ childId, agent }, name) => info(`child closed: ${name ?? agent}`, { childId }),
  'interaction.handoff.started': ({ childId, agent }, name) => info(`${name ?? agent} talks to the person`, { childId, agent }),
  'interaction.handoff.completed': ({ childId, agent, reason }, name) =>
    info(`${name ?? agent} no longer talks to the person: ${reason}`, { childId, agent, reason }),
  'interaction.offer.recorded': () => undefined,
  'interaction.hook.completed': ({ hook, verdict, message }) =>
    (verdict === 'failed' ? warn : info)(`hook ${hook}: ${verdict}`, { hook, verdict, message }),
  'interaction.context.added': ({ source, text }) => info(`context added: ${printable(source)}`, { source, characters: text.length }),
  'interaction.context.compacted': ({ tokensBefore, tokensAfter, kept }) => info('history compacted', { tokensBefore, tokensAfter, kept }),
  'interaction.cancel.requested': ({ mode, by }) => warn(`${mode} requested`, { mode, by }),
  'interaction.diagnostic': ({ diagnostic: { code, severity, message, remedy } }) => ({
    level: levels[severity],
    msg: printable(message),
    fields: { code, remedy },
  }),
}

function agentEntry(
  what: string,
  { agent, tools }: InteractionEvent<'interaction.session.created' | 'interaction.session.configured'>,
  name: string | undefined,
): Entry {
  return info(`${what}: ${name ?? agent.toolName}`, { agent: agent.name, models: agent.models, tools })
}

function queueEntry(what: string, { queue, since }: QueueEvent): Entry {
  return debug(`${what} for queue ${printable(queue)}`, { queue, since: new Date(since).toISOString() })
}

function updatedEntry(update: InteractionEvent<'interaction.item.updated'>['update']): Entry {
  if (update.kind === 'plan') return info('plan changed', { steps: update.plan.steps })
  if (update.kind === 'asked') return info('call asked questions', { questions: update.ask.questions })
  const { reason, attempt, by } = update
  const msg = reason === 'unsandboxed' ? 'call retried outside the sandbox' : `call retried: ${reason}`
  return (reason === 'unsandboxed' ? warn : info)(msg, { attempt, reason, by })
}

const levels: { readonly [S in Severity]: Entry['level'] } = { info: 'info', warning: 'warn', error: 'error' }
const at =
  (level: Entry['level']) =>
  (msg: string, fields?: object): Entry => ({ level, msg, ...(fields && { fields }) })
const debug = at('debug')
const info = at('info')
const warn = at('warn')

function turnEntry({
  ending,
  totals,
}: InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>): Entry {
  const { status } = ending
  const level = status === 'failed' ? 'error' : status === 'completed' ? 'info' : 'warn'
  const why = status === 'failed' ? `: ${printable(ending.message)}` : 'reason' in ending ? `: ${ending.reason}` : ''
  return { level, msg: `turn ${status}${why}`, fields: { ...ending, ...totals } }
}

function answerEntry({ finish, usage, cost, latencyMs, output }: InteractionEvent<'interaction.step.completed'>): Entry {
  const problems = output?.ok === false ? output.problems : undefined
  const fields = { finish, usage, cost, latencyMs, problems }
  const msg = `model answered in ${duration(latencyMs)}`
  return problems ? warn(`${msg}: ${printable(problems[0] ?? '')}`, fields) : info(msg, fields)
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
  const fields = { status, latencyMs, bytesIn, bytesOut, error, exitCode, changes: changed(item) }
  return (status === 'completed' ? info : warn)(`call ${status}${why}`, fields)
}

/** Files and line counts, without content. */
function changed(item: CallRecord): readonly object[] | undefined {
  const changes = changesOf(item).map(({ diff: _, ...change }) => change)
  return changes.length > 0 ? changes : undefined
}
