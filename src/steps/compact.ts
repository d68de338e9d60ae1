import type { BlobId, Diagnostic, Message, ModelRequest, Plan } from '../contracts/index.ts'
import { sizeOf } from '../core/index.ts'
import { utf8Length } from '../util/fit-text.ts'
import type { ActiveSession } from './active-session.ts'
import { effectsIn } from './effects.ts'
import { digest, transcript } from './transcript.ts'

// Makes the history shorter, so that a long turn can go on. What was asked, the plan and what was done stay word for
// word; the rest is summed up, and kept as a whole where `read_output` finds it.

/** The parts of a window that the newest messages, and the list of what was done, may keep. */
const newestShare = 0.2
const effectsShare = 0.15
/** Of a window that is not known. */
const usualTokens = 100_000

/** `summary` is what the model said; without one the history is shortened by rule. */
export async function compact(session: ActiveSession, summary?: string): Promise<void> {
  const { state, turn, ports } = session
  const messages = state.history.toArray()
  const room = windowTokens(session) * state.charsPerToken
  const kept = newest(messages, room * newestShare)
  const [dropped, tail] = [messages.slice(0, messages.length - kept.length), kept]
  const whole = transcript(dropped)
  const handle = await ports.blobs.put(state.treeId, whole)
  const done = effectsIn(dropped, (name) => session.toolOf(name)?.effect ?? 'write')
  const effects = fitting([...state.compacted.effects, ...done], room * effectsShare)
  const said = turn.goal.filter((goal) => !tail.some((each) => JSON.stringify(each) === JSON.stringify(goal)))
  const head = [...said, instead({ summary: summary ?? digest(dropped), effects, plan: turn.plan?.plan, handle })]
  const [before, after] = [charsOf(messages), charsOf([...head, ...tail])]
  const shorter = { messages: head, kept: tail.length, output: { handle, bytes: utf8Length(whole) } }
  if (summary === undefined) session.note({ type: 'interaction.diagnostic', diagnostic: byRule })
  if (after >= before) session.note({ type: 'interaction.diagnostic', diagnostic: poor })
  session.note({
    type: 'interaction.context.compacted',
    ...(after < before ? shorter : { messages: [], kept: messages.length }),
    effects,
    tokensBefore: Math.ceil(before / state.charsPerToken),
    tokensAfter: Math.ceil(Math.min(before, after) / state.charsPerToken),
  })
}

/** Asks for a summary in place of the next step: the same beginning, so that it costs little where the provider keeps one. */
export function summaryRequest({ output: _, ...request }: ModelRequest): ModelRequest {
  const asked: Message = { role: 'user', parts: [{ type: 'text', text: summaryPrompt }] }
  return { ...request, messages: [...request.messages, asked], toolChoice: 'none' }
}

const summaryPrompt = `The conversation has become too long and is about to be shortened. Do not go on with the task now, and call no tools. \
Sum up for yourself what you will need to go on: what was found out, with names, paths and figures as they are; what was decided and why; \
what did not work; what is still to be done, and what comes next. What was asked, the plan and the list of calls that changed something are \
kept beside your summary; do not repeat them.`

interface Instead {
  readonly summary: string
  readonly effects: readonly string[]
  readonly plan: Plan | undefined
  readonly handle: BlobId
}

function instead({ summary, effects, plan, handle }: Instead): Message {
  const sections = [
    `The conversation so far was shortened. All of it is kept as "${handle}": read_output can page and search it.`,
    ...(plan ? [`The plan:\n${plan.steps.map(({ step, status }) => `- [${status}] ${step}`).join('\n')}`] : []),
    ...(effects.length > 0
      ? [`Calls that have already been made and may have changed something; do not repeat them:\n${effects.join('\n')}`]
      : []),
    `What is known so far:\n${summary}`,
  ]
  return { role: 'user', parts: [{ type: 'text', text: sections.join('\n\n') }] }
}

/** The last messages that there is room for. Results never stand without the calls that they answer. */
function newest(messages: readonly Message[], room: number): readonly Message[] {
  let start = messages.length
  let size = 0
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index]
    if (!message) break
    size += sizeOf(message)
    if (size > room) break
    if (message.role !== 'tool') start = index
  }
  return messages.slice(start)
}

/** Of a list that is too long the oldest go: they stand in what was kept. */
function fitting(effects: readonly string[], room: number): readonly string[] {
  let size = 0
  const first = effects.findLastIndex((line) => {
    size += line.length + 1
    return size > room
  })
  return first < 0
    ? effects
    : [`- (${countOf(effects.slice(0, first + 1))} earlier ones stand in what was kept)`, ...effects.slice(first + 1)]
}

const earlier = /^- \((\d+) earlier ones /
const countOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Number(earlier.exec(line)?.[1] ?? 1), 0)

function windowTokens({ state }: ActiveSession): number {
  const windows = state.agent.models.flatMap((model) => state.windows[model] ?? [])
  return windows.length > 0 ? Math.min(...windows) : usualTokens
}

const charsOf = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + sizeOf(message), 0)

const byRule: Diagnostic = {
  code: 'compaction_failed',
  severity: 'warning',
  message: 'No model summed up the conversation before it was shortened; it was done by rule.',
  remedy: 'What was left out is kept, and can be read with read_output.',
}
const poor: Diagnostic = {
  code: 'compaction_poor',
  severity: 'warning',
  message: 'The conversation could not be made shorter.',
  remedy: 'Take a model with a larger window, or ask for less at once.',
}
