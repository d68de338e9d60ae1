import type { ModelAbility, Problem, Tool } from '../../contracts/index.ts'
import { offeredName } from '../../steps/index.ts'
import { directoryNames, readOutputName } from '../../tools/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'

const keys: { readonly [Key in keyof Required<Tool>]: true } = {
  name: true,
  description: true,
  instructions: true,
  inputSchema: true,
  effect: true,
  concurrency: true,
  timeoutMs: true,
  graceMs: true,
  repeatable: true,
  requires: true,
  namespace: true,
  unavailable: true,
  approval: true,
  view: true,
  execute: true,
}
const effects = ['read', 'idempotent', 'write']
const abilities: readonly unknown[] = ['tools', 'images', 'files', 'reasoning', 'json_schema'] satisfies ModelAbility[]

/** Everything that is wrong with a list of tools. A label that is misspelt would be worse than none: it decides what runs twice. */
export function checkTools(tools: readonly Tool[], place: string): readonly Problem[] {
  const taken = new Map<string, number>()
  return tools.flatMap((tool, index) => {
    const here = `${place}[${index}]`
    if (typeof tool !== 'object' || tool === null)
      return [
        {
          place: here,
          message: `expected a tool, found ${showValue(tool)}`,
          remedy: 'Give an object with name, description, inputSchema and execute.',
        },
      ]
    const named = nameProblems(tool, here, { taken, place })
    if (typeof tool.name === 'string') taken.set(offeredName(tool.name), index)
    return [...named, ...fieldProblems(tool, here), ...checkSchema(tool.inputSchema, `${here}.inputSchema`)]
  })
}

function nameProblems(
  { name }: Tool,
  here: string,
  { taken, place }: { taken: ReadonlyMap<string, number>; place: string },
): readonly Problem[] {
  const at = `${here}.name`
  if (typeof name !== 'string' || name.trim() === '') {
    return [
      {
        place: at,
        message: `expected a name, found ${showValue(name)}`,
        remedy: 'Models are offered it with letters, digits, "_" and "-"; anything else is mapped.',
      },
    ]
  }
  if ([readOutputName, ...directoryNames].includes(offeredName(name)))
    return [{ place: at, message: `"${name}" is the name of a tool that every session has`, remedy: 'Choose another name.' }]
  const other = taken.get(offeredName(name))
  return other === undefined
    ? []
    : [{ place: at, message: `"${name}" is already the name of ${place}[${other}]`, remedy: 'Tool names are unique.' }]
}

function fieldProblems(tool: Tool, here: string): readonly Problem[] {
  const found: Problem[] = []
  const tell: Tell = (key, message, remedy) => void found.push({ place: `${here}.${key}`, message, remedy })
  const { description, execute, effect, concurrency, timeoutMs } = tool
  if (typeof description !== 'string' || description.trim() === '')
    tell('description', `expected a description, found ${showValue(description)}`, 'Models choose tools by their description.')
  if (typeof execute !== 'function') tell('execute', `expected a function, found ${showValue(execute)}`, 'Give execute(input, context).')
  if (effect !== undefined && !effects.includes(effect))
    tell('effect', `expected one of ${effects.join(', ')}, found ${showValue(effect)}`, 'Leave it out for "write", which never runs twice.')
  const isConcurrency =
    concurrency === undefined || concurrency === 'shared' || concurrency === 'exclusive' || typeof concurrency?.key === 'function'
  if (!isConcurrency)
    tell(
      'concurrency',
      `expected "shared", "exclusive" or { key(input) }, found ${showValue(concurrency)}`,
      'Leave it out for "exclusive".',
    )
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    tell('timeoutMs', `expected milliseconds above 0, found ${showValue(timeoutMs)}`, 'Leave it out for the limit of the agent.')
  for (const key of ['unavailable', 'approval', 'view'] as const) {
    if (tool[key] !== undefined && typeof tool[key] !== 'function')
      tell(key, `expected a function, found ${showValue(tool[key])}`, 'Leave it out where there is none.')
  }
  for (const key of Object.keys(tool)) {
    // Tools may be objects of other people's classes; only what looks like one of ours is held to be misspelt.
    const near = key in keys ? undefined : nearestNames(key, Object.keys(keys), 1)[0]
    if (near !== undefined) tell(key, 'unknown key', `Did you mean "${near}"?`)
  }
  checkRare(tool, tell)
  return found
}

type Tell = (key: string, message: string, remedy: string) => void

/** What few tools have. */
function checkRare(tool: Tool, tell: Tell): void {
  const { graceMs, repeatable, requires } = tool
  if (graceMs !== undefined && !(Number.isFinite(graceMs) && graceMs >= 0))
    tell('graceMs', `expected milliseconds, found ${showValue(graceMs)}`, 'Leave it out where a call needs no time to end.')
  if (repeatable !== undefined && typeof repeatable !== 'boolean')
    tell('repeatable', `expected true or false, found ${showValue(repeatable)}`, 'Leave it out for false.')
  for (const key of ['instructions', 'namespace'] as const) {
    if (tool[key] !== undefined && typeof tool[key] !== 'string')
      tell(key, `expected a text, found ${showValue(tool[key])}`, 'Leave it out where there is none.')
  }
  if (requires !== undefined && !(Array.isArray(requires) && requires.every(isGate)))
    tell('requires', `expected a list of { ability } or { flag }, found ${showValue(requires)}`, 'Leave it out where nothing is required.')
}

function isGate(gate: unknown): boolean {
  if (typeof gate !== 'object' || gate === null) return false
  return 'ability' in gate ? abilities.includes(gate.ability) : 'flag' in gate && typeof gate.flag === 'string'
}
