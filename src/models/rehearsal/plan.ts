// What to do next, from the request alone.
//
// 1. Only the person's words choose tools; results fill arguments and answers.
// 2. Planning again over a longer history gives the same plan, so the calls that were made show how far it is.
// 3. A call that succeeded is never made again in its turn; one that failed at most once more.
import type { JsonObject, ModelRequest } from '../../contracts/index.ts'
import { canonicalJson } from '../../util/json-values.ts'
import { indexTools } from './choose-tools.ts'
import { type Exchange, emptyTurn, readConversation, type Turn } from './conversation.ts'
import { fillArguments } from './fill-arguments.ts'
import { type Field, reasonField } from './parameters.ts'
import { resultText } from './results.ts'
import { type ToolTask, toolTasks } from './tool-tasks.ts'
import { clip } from './words.ts'

interface PlannedCall {
  readonly tool: string
  readonly input: JsonObject
}

export type Move =
  | { readonly kind: 'call'; readonly calls: readonly PlannedCall[] }
  | {
      readonly kind: 'answer'
      readonly turn: Turn
      /** Tools that cannot be called before the person says more. */
      readonly questions: readonly { readonly tool: string; readonly missing: readonly Field[] }[]
      /** Tools that were not called, because an earlier call failed. */
      readonly leftOut: readonly string[]
      /** Tools for which no step was left. */
      readonly notReached: readonly string[]
    }

const maxSteps = 6
const maxCalls = 8

export function plan({ messages, tools, toolChoice }: Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice'>): Move {
  const turns = readConversation(messages)
  const turn = turns.at(-1) ?? emptyTurn()
  const tasks = toolTasks(turns, indexTools(tools))
  const answer = {
    kind: 'answer',
    turn,
    questions: [] as { tool: string; missing: readonly Field[] }[],
    leftOut: [],
    notReached: [],
  } as const
  const lastStage = tasks.at(-1)?.stage ?? -1
  let results: readonly string[] = []
  for (let stage = 0; stage <= lastStage; stage++) {
    const later = tasks.filter((task) => task.stage > stage).map(({ tool }) => tool.name)
    const planned: Planned[] = []
    for (const task of tasks.filter((each) => each.stage === stage)) {
      const { missing, inputs } = fillArguments(task.tool, { ...task.material, results: stage === 0 ? task.carried : results })
      if (missing.length > 0) answer.questions.push({ tool: task.tool.name, missing })
      else planned.push(...inputs.map((input) => ({ task, input })))
    }
    const calls = distinct(planned).flatMap((each) => nextCall(each, turn.exchanges))
    const mayCall = toolChoice === 'auto' && turn.steps < maxSteps && turn.rejections === 0
    if (calls.length > 0 && mayCall) return { kind: 'call', calls: calls.slice(0, maxCalls) }
    if (calls.length > 0) return { ...answer, notReached: turn.rejections > 0 ? [] : [...calls.map(({ tool }) => tool), ...later] }
    const made = planned.map((each) => sameCalls(each, turn.exchanges).at(-1))
    if (made.length === 0 || made.some((exchange) => !exchange?.ok)) return { ...answer, leftOut: later }
    results = made.flatMap((exchange) => (exchange ? [resultText(exchange)] : []))
  }
  return answer
}

interface Planned {
  readonly task: ToolTask
  readonly input: JsonObject
}

/** A call that is asked for twice is made once. */
function distinct(planned: readonly Planned[]): readonly Planned[] {
  const byKey = new Map(planned.toReversed().map((each) => [`${each.task.tool.name} ${canonicalJson(each.input)}`, each]))
  const first = new Set(byKey.values())
  return planned.filter((each) => first.has(each))
}

/** The call, unless it was made; once more, where its failure suggests a retry. */
function nextCall(planned: Planned, exchanges: readonly Exchange[]): readonly PlannedCall[] {
  const made = sameCalls(planned, exchanges)
  const isRetry = made.length === 1 && made.every(suggestsRetry)
  if (made.length > 0 && !isRetry) return []
  const { task, input } = planned
  const field = reasonField(task.tool)
  const reason = `${isRetry ? 'Second try' : 'Asked for'}: ${clip(task.said, 70)}`
  return [{ tool: task.tool.name, input: field === undefined ? input : { ...input, [field]: reason } }]
}

function sameCalls({ task: { tool }, input }: Planned, exchanges: readonly Exchange[]): readonly Exchange[] {
  const wanted = canonicalJson(input)
  return exchanges.filter((exchange) => {
    const { [reasonField(tool) ?? '']: _, ...made } = exchange.input
    return exchange.tool === tool.name && canonicalJson(made) === wanted
  })
}

/** A broken connection may work the next time. A failure that asks to wait, or for something else, is not retried. */
function suggestsRetry({ ok, content }: Exchange): boolean {
  if (ok || content.startsWith('Error (invalid_input)') || /\b(?:later|wait)\b/i.test(content)) return false
  return content.startsWith('Error (network)') || /\b(?:try|call|send) (?:it |this )?again\b|\bretry\b/i.test(content)
}
