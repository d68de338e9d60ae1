import {
  type AgentSpec,
  type ChildTask,
  type InputPart,
  type JsonSchema,
  type MaybePromise,
  type SchemaValidator,
  type ToolFailure,
  TroupeError,
} from '../../contracts/index.ts'
import { plainJson } from '../../util/copy-json.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import { wellFormed } from '../../util/well-formed.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import { currentAgents } from '../selection/agent-lookup.ts'
import { childRefusal } from './child-refusal.ts'
import type { OpenSession } from './open-session.ts'

// Tools are other people's code: what they want a child to do is looked at before anything is begun.

type Checked<T> = { readonly kind: 'fine'; readonly value: T } | Refused
interface Refused {
  readonly kind: 'refused'
  readonly failure: ToolFailure
}

/** The task as it may be begun below a session; children that are begun meanwhile count. */
export function checkTask(task: unknown, parent: OpenSession, parts: RuntimeParts): MaybePromise<Checked<ChildTask>> {
  const caller = parent.session?.state.agent
  if (!caller) throw new TroupeError('internal', 'Only a session has children.')
  const agent = checkAgent(task, caller, currentAgents(parts))
  if (agent.kind === 'refused') return agent
  const { name } = agent.value
  const input = checkInput((task as ChildTask).input, agent.value, parts.options.validator)
  const whole = (checked: Checked<readonly InputPart[]>): Checked<ChildTask> => {
    if (checked.kind === 'refused') return checked
    const failure = childRefusal(parent, name)
    return failure ? { kind: 'refused', failure } : { kind: 'fine', value: { agent: name, input: checked.value } }
  }
  return input instanceof Promise ? input.then(whole) : whole(input)
}

/** Whom a task is for: one that the caller may call, and that there still is. */
function checkAgent(task: unknown, caller: AgentSpec, now: ReadonlyMap<string, AgentSpec>): Checked<AgentSpec> {
  if (typeof task !== 'object' || task === null)
    return wrong('startChild', `expected a task, found ${showValue(task)}`, 'Give { agent, input: [{ type: "text", text }] }.')
  const { agent } = task as { readonly agent?: unknown }
  const isAllowed = typeof agent === 'string' && caller.agents.includes(agent)
  const found = isAllowed ? now.get(agent) : undefined
  if (found) return { kind: 'fine', value: found }
  const names = caller.agents.filter((name) => now.has(name))
  const list = names.length > 0 ? `There are: ${names.join(', ')}.` : 'Name its children in `agents`.'
  if (typeof agent !== 'string') return wrong('startChild.agent', `expected the name of a child, found ${showValue(agent)}`, list)
  const message = isAllowed ? `The agent "${agent}" is no longer there.` : `${caller.name} has no child "${agent}".`
  const [near] = nearestNames(agent, names)
  return { kind: 'refused', failure: { class: 'config', message, remedy: near === undefined ? list : `Did you mean "${near}"? ${list}` } }
}

/** What a child is given, as a copy that nobody else can change. */
function checkInput(given: unknown, agent: AgentSpec, validator: SchemaValidator): MaybePromise<Checked<readonly InputPart[]>> {
  if (!Array.isArray(given) || given.length === 0)
    return wrong(place, `expected a list of parts for ${agent.name}, found ${showValue(given)}`, partsRemedy)
  const parts: InputPart[] = []
  for (const [index, each] of given.entries()) {
    const part = partOf(each)
    if (!part)
      return wrong(
        `${place}[${index}]`,
        `expected a part of type text, image or file, that is plain JSON, found ${showValue(each)}`,
        partsRemedy,
      )
    parts.push(part)
  }
  if (parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    return wrong(place, `expected a task for ${agent.name}, found an empty text`, 'Say what it is to do, with all that it has to know.')
  return agent.input.format === 'json'
    ? checkJson(parts, { name: agent.name, schema: agent.input.schema }, validator)
    : { kind: 'fine', value: parts }
}

async function checkJson(
  parts: readonly InputPart[],
  { name, schema }: { readonly name: string; readonly schema: JsonSchema },
  validator: SchemaValidator,
): Promise<Checked<readonly InputPart[]>> {
  const remedy = 'Give one part of type text with JSON that fits its schema.'
  const [part] = parts
  if (parts.length !== 1 || part?.type !== 'text') return wrong(place, `expected one text with the JSON that ${name} takes`, remedy)
  let value: unknown
  try {
    value = JSON.parse(part.text)
  } catch {
    return wrong(`${place}[0].text`, `expected the JSON that ${name} takes, found ${showValue(part.text)}`, remedy)
  }
  const found = (await validator.compile(schema))(value)
  if (found.ok) return { kind: 'fine', value: parts }
  return wrong(`${place}[0].text`, `the input of ${name} does not fit: ${found.problems.join('; ')}`, remedy)
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
const partsRemedy = 'Give parts such as { type: "text", text: "…" }.'

const wrong = (where: string, message: string, remedy: string): Refused => ({
  kind: 'refused',
  failure: { class: 'invalid_input', message: `${where}: ${message}.`, remedy },
})
