import { type HookDefinition, hookPoints, type JsonObject } from '../contracts/index.ts'
import { choice, type FieldConflict, type FieldsShape, literal, type Shape } from './shape.ts'

const noNul = (text: string): string | undefined => (text.includes('\0') ? 'cannot have a NUL character' : undefined)
const list = (of: Shape, example: string): Shape => ({ kind: 'list', of, example, isRequired: true })

/** A hook of a configuration. */
export const hookShape = {
  kind: 'fields',
  of: {
    name: literal('guard', noNul),
    on: list(choice(hookPoints), '["before_call"]'),
    tools: list(literal('shell', noNul), '["shell", "write_*"]'),
    command: list({ ...literal('./guard.sh', noNul), mayBeEmpty: true }, '["./guard.sh", "--strict"]'),
    module: literal('./guard.mjs', noNul),
    onFailure: choice(['closed', 'open']),
    timeout: {
      kind: 'value',
      type: { kind: 'duration', max: 3_600_000 },
      summary: 'how long it can run, at most an hour',
      example: '"30s"',
    },
  } satisfies { readonly [Key in keyof Required<HookDefinition>]: Shape },
  required: ['name', 'on', 'onFailure'],
  findConflicts,
} as const satisfies FieldsShape

export const hooksShape: Shape = {
  kind: 'list',
  of: hookShape,
  example: '[{ "name": "guard", "on": ["before_call"], "command": ["./guard.sh"], "onFailure": "closed" }]',
  uniqueBy: 'name',
}

function findConflicts({ on, tools, command, module }: JsonObject): readonly FieldConflict[] {
  const conflicts: FieldConflict[] = []
  const isForCalls = Array.isArray(on) && on.some((point) => point === 'before_call' || point === 'after_call')
  if (tools !== undefined && !isForCalls)
    conflicts.push({
      key: 'tools',
      message: 'has `tools`, which is only for hooks before and after calls',
      remedy: 'Remove it, or add "before_call" to "on".',
    })
  if (command === undefined && module === undefined)
    conflicts.push({ key: 'command', message: 'has neither `command` nor `module`', remedy: 'Write "command": ["./guard.sh"].' })
  if (command !== undefined && module !== undefined)
    conflicts.push({ key: 'module', message: 'has both `command` and `module`', remedy: 'Keep one of the two.' })
  if (Array.isArray(command) && String(command[0]).trim() === '')
    conflicts.push({ key: 'command', message: 'has a `command` without a program', remedy: 'Write the program first, then its arguments.' })
  return conflicts
}
