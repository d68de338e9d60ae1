import { hookPoints, type JsonObject } from '../../contracts/index.ts'
import { checkHook, hookExample, type hookKeys, requiredHookKeys } from '../../policy/check-hook.ts'
import type { FieldConflict, Shape } from './shape.ts'

const literal = (example: string): Shape => ({ kind: 'text', example, isLiteral: true })

/** Read as other times are: what is written becomes milliseconds. */
const timeout: Shape = {
  kind: 'option',
  option: { type: { kind: 'duration' }, summary: 'how long it may think, an hour at most', default: '1m', example: '"30s"' },
}

const fields: { readonly [Key in (typeof hookKeys)[number]]: Shape } = {
  name: literal('guard'),
  on: { kind: 'list', of: { kind: 'choice', of: hookPoints }, example: '["before_call"]', least: 1 },
  tools: { kind: 'list', of: literal('shell'), example: '["shell", "write_*"]', least: 1 },
  command: { kind: 'list', of: literal('./guard.sh'), example: '["./guard.sh", "--strict"]', least: 1 },
  module: literal('./guard.mjs'),
  onFailure: { kind: 'choice', of: ['closed', 'open'] },
  timeout,
}

export const hooksShape: Shape = {
  kind: 'list',
  of: { kind: 'fields', of: fields, required: requiredHookKeys, together: faultsOf },
  example: `[${hookExample}]`,
  uniqueBy: 'name',
}

/** What shapes cannot say. */
function faultsOf(hook: JsonObject): readonly FieldConflict[] {
  return checkHook(hook).flatMap(({ key, message, remedy }) =>
    isReportedByShape(key, hook[key]) ? [] : [{ key, message: `is wrong: \`${key}\` ${message}`, remedy }],
  )
}

/** What is needed and not there, and a list of which nothing was right. */
const isReportedByShape = (key: string, value: unknown): boolean =>
  value === undefined ? requiredHookKeys.some((needed) => needed === key) : Array.isArray(value) && value.length === 0
