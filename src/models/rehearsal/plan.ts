/*
 * What to do next, from the request alone.
 *
 * 1. Only the person's words choose tools; results fill arguments and answers.
 * 2. Planning again over a longer history gives the same plan, so the calls that have been made tell how far it is.
 * 3. A call that brought something is never made again in its turn; one that failed at most once more.
 */
import type { JsonObject, ModelRequest, ToolSpec } from '../../contracts/index.ts'
import { canonicalJson } from '../../util/canonical-json.ts'
import { type Exchange, readConversation, type Turn } from './conversation.ts'
import { type Errand, errandsOf } from './errands.ts'
import type { Field } from './fields.ts'
import { fillArguments } from './fill-arguments.ts'
import { reasonField } from './parameters.ts'
import { resultText } from './results.ts'
import { indexTools } from './tool-index.ts'
import { clip } from './words.ts'

interface PlannedCall {
  readonly tool: string
  readonly input: JsonObject
}

/** Something that cannot be done before the person says more. */
interface OpenQuestion {
  readonly tool: string
  readonly missing: readonly Field[]
}

export type Move =
  | { readonly kind: 'call'; readonly calls: readonly PlannedCall[] }
  | {
      readonly kind: 'answer'
      readonly turn: Turn
      readonly questions: readonly OpenQuestion[]
      /** Tools that were not called, because what they build on did not come. */
      readonly leftOut: readonly string[]
      /** Tools for which there was no step left. */
      readonly notReached: readonly string[]
    }

const mostSteps = 6
const mostCalls = 8

export function plan({ messages, tools, toolChoice }: Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice'>): Move {
  const turns = readConversation(messages)
  const turn = turns.at(-1) ?? { request: '', attachments: [], exchanges: [], steps: 0, answer: undefined, complaints: 0 }
  const errands = errandsOf(turns, indexTools(tools))
  const questions: OpenQuestion[] = []
  let results: readonly string[] = []
  for (const stage of stagesOf(errands)) {
    const fillings = stage.map((errand) => ({
      errand,
      ...fillArguments(errand.tool, { ...errand.material, results: errand.stage === 0 ? errand.carried : results }),
    }))
    questions.push(...fillings.flatMap(({ errand, missing }) => (missing.length > 0 ? [{ tool: errand.tool.name, missing }] : [])))
    const inputs = fillings.flatMap((filling) => (filling.missing.length > 0 ? [] : inputsOf(filling)))
    const calls = distinct(inputs).flatMap((each) => next(each, turn.exchanges))
    const mayCall = toolChoice === 'auto' && turn.steps < mostSteps && turn.complaints === 0
    if (calls.length > 0 && mayCall) return { kind: 'call', calls: calls.slice(0, mostCalls) }
    if (calls.length > 0) {
      const notReached = turn.complaints > 0 ? [] : [...calls.map(({ tool }) => tool), ...after(errands, stage)]
      return { kind: 'answer', turn, questions, leftOut: [], notReached }
    }
    const made = inputs.map((each) => latest(each, turn.exchanges))
    const isStuck = made.length === 0 || made.some((exchange) => !exchange?.ok)
    if (isStuck) return { kind: 'answer', turn, questions, leftOut: after(errands, stage), notReached: [] }
    results = made.flatMap((exchange) => (exchange ? [resultText(exchange)] : []))
  }
  return { kind: 'answer', turn, questions, leftOut: [], notReached: [] }
}

function stagesOf(errands: readonly Errand[]): readonly (readonly Errand[])[] {
  const last = errands.at(-1)?.stage ?? -1
  return Array.from({ length: last + 1 }, (_, stage) => errands.filter((errand) => errand.stage === stage))
}

const after = (errands: readonly Errand[], stage: readonly Errand[]): readonly string[] =>
  errands.filter((errand) => errand.stage > (stage[0]?.stage ?? 0)).map(({ tool }) => tool.name)

interface Planned {
  readonly tool: ToolSpec
  readonly said: string
  readonly input: JsonObject
}

function inputsOf({ errand, input, more }: { errand: Errand; input: JsonObject; more: readonly JsonObject[] }): readonly Planned[] {
  return [input, ...more].map((each) => ({ tool: errand.tool, said: errand.said, input: each }))
}

/** Whoever says the same thing twice wants it once. */
function distinct(planned: readonly Planned[]): readonly Planned[] {
  const known = new Map(planned.toReversed().map((each) => [`${each.tool.name} ${canonicalJson(each.input)}`, each]))
  return planned.filter((each) => known.get(`${each.tool.name} ${canonicalJson(each.input)}`) === each)
}

/** The call, unless it has been made; once more, where its failure invites that. */
function next(planned: Planned, exchanges: readonly Exchange[]): readonly PlannedCall[] {
  const made = same(planned, exchanges)
  const [failed] = made
  const isRetry = made.length === 1 && failed !== undefined && invitesRetry(failed)
  if (made.length > 0 && !isRetry) return []
  const { tool, input, said } = planned
  const field = reasonField(tool)
  const reason = `${isRetry ? 'Second try' : 'Asked for'}: ${clip(said, 70)}`
  return [{ tool: tool.name, input: field === undefined ? input : { ...input, [field]: reason } }]
}

const latest = (planned: Planned, exchanges: readonly Exchange[]): Exchange | undefined => same(planned, exchanges).at(-1)

function same({ tool, input }: Planned, exchanges: readonly Exchange[]): readonly Exchange[] {
  const wanted = canonicalJson(input)
  return exchanges.filter((exchange) => exchange.tool === tool.name && canonicalJson(bare(tool, exchange.input)) === wanted)
}

function bare(tool: ToolSpec, input: JsonObject): JsonObject {
  const { [reasonField(tool) ?? '']: _, ...rest } = input
  return rest
}

/** A broken connection may hold the next time. What asks to wait, or for something else, is left alone. */
function invitesRetry({ ok, content }: Exchange): boolean {
  if (ok || content.startsWith('Error (invalid_input)') || /\b(?:later|wait)\b/i.test(content)) return false
  return content.startsWith('Error (network)') || /\b(?:try|call|send) (?:it |this )?again\b|\bretry\b/i.test(content)
}
