import type { ModelAbility, Problem, Tool } from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { toolSearchNames } from '../../policy/tool-search.ts'
import { childControlNames, directoryNames, readOutputName } from '../../tools/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { aBoolean, aFunction, anything, aString, checkFields, type FieldType, oneOf, optional } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'

const abilities: readonly unknown[] = ['tools', 'images', 'files', 'reasoning', 'json_schema'] satisfies ModelAbility[]
const leaveOut = 'Omit it if there is none.'

const toolFields: { readonly [Key in keyof Required<Tool>]: FieldType } = {
  name: anything,
  inputSchema: anything,
  description: {
    expected: 'a description',
    remedy: 'Models choose tools by their description.',
    accepts: (value) => typeof value === 'string' && value.trim() !== '',
  },
  execute: { ...aFunction, remedy: 'Set execute(input, context).' },
  effect: optional(oneOf(['read', 'idempotent', 'write']), 'Omit it for "write": such a call never runs twice.'),
  concurrency: {
    expected: '"shared", "exclusive" or { key(input) }',
    remedy: 'Omit it for "exclusive".',
    accepts: (value) =>
      value === undefined || value === 'shared' || value === 'exclusive' || typeof (value as { key?: unknown } | null)?.key === 'function',
  },
  timeoutMs: optional(
    { expected: 'milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
    'Omit it to use the limit of the agent.',
  ),
  graceMs: optional(
    { expected: 'milliseconds', accepts: (value) => Number.isFinite(value) && (value as number) >= 0 },
    'Omit it if a call needs no time to end.',
  ),
  repeatable: optional(aBoolean, 'Omit it for false.'),
  controlsChildren: optional(aBoolean, 'Omit it for false.'),
  asksByRuleOnly: optional(aBoolean, 'Omit it for false.'),
  instructions: optional(aString, leaveOut),
  namespace: optional(aString, leaveOut),
  queue: optional(aString, leaveOut),
  unavailable: optional(aFunction, leaveOut),
  approval: optional(aFunction, leaveOut),
  view: optional(aFunction, leaveOut),
  requires: optional(
    { expected: 'a list of { ability } or { flag }', accepts: (value) => Array.isArray(value) && value.every(isGate) },
    'Omit it if the tool requires nothing.',
  ),
}

/** Everything that is wrong with a list of tools. */
export function checkTools(tools: readonly Tool[], place: string): readonly Problem[] {
  const taken = new Map<string, number>()
  return tools.flatMap((tool, index) => {
    const here = `${place}[${index}]`
    if (typeof tool !== 'object' || tool === null) {
      const remedy = 'Pass an object with name, description, inputSchema and execute.'
      return [{ place: here, message: `expected a tool, found ${showValue(tool)}`, remedy }]
    }
    const problems = [...nameProblems(tool, here, { taken, place })]
    if (typeof tool.name === 'string') taken.set(offeredName(tool.name), index)
    checkFields(problems, tool, { fields: toolFields, place: here })
    for (const key of Object.keys(tool)) {
      // Tools may be instances of other people's classes: only a key that resembles one of ours is a misspelling.
      const near = key in toolFields ? undefined : nearestNames(key, Object.keys(toolFields), 1)[0]
      if (near !== undefined) problems.push({ place: `${here}.${key}`, message: 'unknown key', remedy: `Did you mean "${near}"?` })
    }
    return [...problems, ...checkSchema(tool.inputSchema, `${here}.inputSchema`)]
  })
}

function nameProblems(
  { name }: Tool,
  here: string,
  { taken, place }: { taken: ReadonlyMap<string, number>; place: string },
): readonly Problem[] {
  const at = `${here}.name`
  if (typeof name !== 'string' || name.trim() === '') {
    const remedy = 'Use letters, digits, "_" and "-". Models see other characters replaced.'
    return [{ place: at, message: `expected a name, found ${showValue(name)}`, remedy }]
  }
  if ([readOutputName, ...directoryNames, ...childControlNames, ...toolSearchNames].includes(offeredName(name)))
    return [{ place: at, message: `"${name}" is reserved for a tool of the runtime`, remedy: 'Choose another name.' }]
  const other = taken.get(offeredName(name))
  if (other === undefined) return []
  return [{ place: at, message: `"${name}" is already the name of ${place}[${other}]`, remedy: 'Tool names are unique.' }]
}

function isGate(gate: unknown): boolean {
  if (typeof gate !== 'object' || gate === null) return false
  return 'ability' in gate ? abilities.includes(gate.ability) : 'flag' in gate && typeof gate.flag === 'string'
}
