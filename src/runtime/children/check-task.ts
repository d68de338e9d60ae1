import {
  type AgentSpec,
  type ChildTask,
  type InputPart,
  type JsonSchema,
  type MaybePromise,
  type SchemaValidator,
  type ToolFailure,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { plainJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import { wellFormed } from '../../util/well-formed.ts'
import type { OpenSession } from '../budgets/open-sessions.ts'
import { storeInput } from '../inputs/store-input.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { changeProblems } from '../validation/check-changes.ts'
import { outputProblems } from '../validation/check-output-contract.ts'

// Any tool can start a child: its task is checked before anything starts.

type Checked<T> = { readonly kind: 'ok'; readonly value: T } | Refused
interface Refused {
  readonly kind: 'refused'
  readonly failure: ToolFailure
}

/** The checked task. Limits are checked apart, by `childRefusal`: other children may start while the input is checked. */
export function checkTask(task: unknown, parent: OpenSession, parts: RuntimeParts): MaybePromise<Checked<ChildTask>> {
  const state = parent.session?.state
  if (!state) throw new TroupeError('internal', 'Only an open session can start children.')
  const agent = checkAgent(task, state.agent, parts.agents)
  if (agent.kind === 'refused') return agent
  const { name } = agent.value
  const changes = checkChanges(task as ChildTask)
  if (changes.kind === 'refused') return changes
  const given = checkInput((task as ChildTask).input, agent.value, parts.options.validator)
  // JSON input is text.
  const input = given instanceof Promise || given.kind === 'refused' ? given : storeMedia(given, parts, state.treeId)
  const taskOf = (checked: Checked<readonly InputPart[]>): Checked<ChildTask> =>
    checked.kind === 'refused' ? checked : { kind: 'ok', value: { agent: name, input: checked.value, ...changes.value } }
  return input instanceof Promise ? input.then(taskOf) : taskOf(input)
}

function storeMedia(
  checked: Extract<Checked<readonly InputPart[]>, { kind: 'ok' }>,
  parts: RuntimeParts,
  treeId: TreeId,
): MaybePromise<Checked<readonly InputPart[]>> {
  const stored = storeInput(parts, { treeId }, checked.value)
  if (!(stored instanceof Promise)) return checked
  return stored.then(
    (value): Checked<readonly InputPart[]> => ({ kind: 'ok', value }),
    (error: unknown) => wrong(place, messageOf(error).replace(/\.$/, ''), 'Pass a smaller file.'),
  )
}

/** What the task changes in the agent, as a copy. */
function checkChanges({ instructions, output, limits }: ChildTask): Checked<Omit<ChildTask, 'agent' | 'input'>> {
  if (instructions === undefined && output === undefined && limits === undefined) return unchanged
  if (instructions !== undefined && typeof instructions !== 'string')
    return wrong('startChild.instructions', `expected a text, found ${showValue(instructions)}`, 'Omit it if there are none.')
  const [problem] = [...outputProblems(output), ...changeProblems({ ...(limits !== undefined && { limits }) })]
  if (problem)
    return wrong(
      problem.place.replace('options.', 'startChild.'),
      problem.message,
      problem.remedy ?? 'Omit it to leave the agent as it is.',
    )
  const changes = { ...(instructions !== undefined && { instructions }), ...(output && { output }), ...(limits && { limits }) }
  return { kind: 'ok', value: structuredClone(changes) }
}

const unchanged: Checked<Omit<ChildTask, 'agent' | 'input'>> = { kind: 'ok', value: {} }

/** The agent of the task: one that the caller may call, and that still exists. */
function checkAgent(task: unknown, caller: AgentSpec, now: ReadonlyMap<string, AgentSpec>): Checked<AgentSpec> {
  if (typeof task !== 'object' || task === null)
    return wrong('startChild', `expected a task, found ${showValue(task)}`, 'Pass { agent, input: [{ type: "text", text }] }.')
  const { agent } = task as { readonly agent?: unknown }
  const isAllowed = typeof agent === 'string' && caller.agents.includes(agent)
  const found = isAllowed ? now.get(agent) : undefined
  if (found) return { kind: 'ok', value: found }
  const names = caller.agents.filter((name) => now.has(name))
  const list = names.length > 0 ? `Available: ${names.join(', ')}.` : 'List its children in `agents`.'
  if (typeof agent !== 'string') return wrong('startChild.agent', `expected the name of a child, found ${showValue(agent)}`, list)
  const message = isAllowed ? `The agent "${agent}" no longer exists.` : `${caller.name} has no child "${agent}".`
  const [near] = nearestNames(agent, names)
  return { kind: 'refused', failure: { class: 'config', message, remedy: near === undefined ? list : `Did you mean "${near}"? ${list}` } }
}

/** The input of a child, as a copy. */
function checkInput(given: unknown, agent: AgentSpec, validator: SchemaValidator): MaybePromise<Checked<readonly InputPart[]>> {
  if (!Array.isArray(given) || given.length === 0)
    return wrong(place, `expected a list of parts for ${agent.name}, found ${showValue(given)}`, partsRemedy)
  const parts: InputPart[] = []
  for (const [index, each] of given.entries()) {
    const part = partOf(each)
    if (!part)
      return wrong(`${place}[${index}]`, `expected a part of type text, image or file in plain JSON, found ${showValue(each)}`, partsRemedy)
    parts.push(part)
  }
  if (parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    return wrong(
      place,
      `expected a task for ${agent.name}, found an empty text`,
      'Describe the task with everything the agent needs to know.',
    )
  return agent.input.format === 'json'
    ? checkJson(parts, { name: agent.name, schema: agent.input.schema }, validator)
    : { kind: 'ok', value: parts }
}

async function checkJson(
  parts: readonly InputPart[],
  agent: JsonAgent,
  validator: SchemaValidator,
): Promise<Checked<readonly InputPart[]>> {
  const problem = await jsonInputProblem(parts, agent, validator)
  return problem === undefined
    ? { kind: 'ok', value: parts }
    : wrong(parts.length === 1 ? `${place}[0].text` : place, problem, 'Pass one text part with JSON that matches its schema.')
}

interface JsonAgent {
  readonly name: string
  readonly schema: JsonSchema
}

/** Why an input is not the JSON that an agent takes. */
export async function jsonInputProblem(
  parts: readonly InputPart[],
  { name, schema }: JsonAgent,
  validator: SchemaValidator,
): Promise<string | undefined> {
  const [part] = parts
  if (parts.length !== 1 || part?.type !== 'text') return `expected one text part with the JSON input of ${name}`
  let value: unknown
  try {
    value = JSON.parse(part.text)
  } catch {
    return `expected the JSON input of ${name}, found ${showValue(part.text)}`
  }
  const found = await (await validator.compile(schema))(value)
  return found.ok ? undefined : `the input of ${name} does not match its schema: ${found.problems.join('; ')}`
}

function partOf(given: unknown): InputPart | undefined {
  const { type, text, data, mediaType, name, metadata } = (given ?? {}) as { readonly [key: string]: unknown }
  if (type === 'text' && typeof text === 'string') {
    const said = { type, text: wellFormed(text) } as const
    if (metadata === undefined) return said
    const plain = plainJson(metadata)
    return plain && { ...said, metadata: plain }
  }
  if (typeof data !== 'string' || typeof mediaType !== 'string') return undefined
  if (type === 'image') return { type, mediaType, data }
  return type === 'file' ? { type, mediaType, data, ...(typeof name === 'string' && { name }) } : undefined
}

const place = 'startChild.input'
const partsRemedy = 'Pass parts such as { type: "text", text: "…" }.'

const wrong = (where: string, message: string, remedy: string): Refused => ({
  kind: 'refused',
  failure: { class: 'invalid_input', message: `${where}: ${message}.`, remedy },
})
