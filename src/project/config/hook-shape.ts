import { hookPoints, type JsonObject } from '../../contracts/index.ts'
import { checkHook, hookExample, type hookKeys, requiredHookKeys } from '../../policy/check-hook.ts'
import { choice, type FieldConflict, literal } from '../../policy/shape.ts'
import type { Shape } from './shape.ts'

const list = (of: Shape, example: string): Shape => ({ kind: 'list', of, example, isRequired: true })

const fields: { readonly [Key in (typeof hookKeys)[number]]: Shape } = {
  name: literal('guard'),
  on: list(choice(hookPoints), '["before_call"]'),
  tools: list(literal('shell'), '["shell", "write_*"]'),
  command: list(literal('./guard.sh'), '["./guard.sh", "--strict"]'),
  module: literal('./guard.mjs'),
  onFailure: choice(['closed', 'open']),
  timeout: { kind: 'value', type: { kind: 'duration' }, summary: 'how long it can run, at most an hour', example: '"30s"' },
}

export const hooksShape: Shape = {
  kind: 'list',
  of: { kind: 'fields', of: fields, required: requiredHookKeys, findConflicts },
  example: `[${hookExample}]`,
  uniqueBy: 'name',
}

function findConflicts(hook: JsonObject): readonly FieldConflict[] {
  return checkHook(hook).flatMap(({ key, message, remedy }) =>
    isReportedByShape(key, hook[key]) ? [] : [{ key, message: `is wrong: \`${key}\` ${message}`, remedy }],
  )
}

/** Missing keys, and lists without a valid entry. */
const isReportedByShape = (key: string, value: unknown): boolean =>
  value === undefined ? requiredHookKeys.some((needed) => needed === key) : Array.isArray(value) && value.length === 0
