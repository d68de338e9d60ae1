import { realpathSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { JsonObject, JsonSchema, ToolFailure } from '../../../contracts/index.ts'
import { isInside } from '../../../util/is-inside.ts'

const defaultSeconds = 120
export const mostSeconds = 600

export const shellSchema: JsonSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', minLength: 1, description: 'The shell command.' },
    cwd: { type: 'string', description: 'Working folder, relative to the workspace. Default: the workspace.' },
    timeout: {
      type: 'number',
      minimum: 1,
      maximum: mostSeconds,
      description: `Timeout in seconds. Default ${defaultSeconds}, or the tool timeout of the session; at most ${mostSeconds}.`,
    },
    stdin: { type: 'string', description: 'Standard input. Empty by default.' },
  },
  required: ['command'],
  additionalProperties: false,
}

export interface ShellInput {
  readonly command: string
  readonly cwd: string
  readonly timeoutMs: number
  readonly stdin: string | undefined
}

interface WrittenInput {
  readonly command: string
  readonly cwd?: string
  readonly timeout?: number
  readonly stdin?: string
}

export function readShellInput(
  input: JsonObject,
  { root, toolTimeout = defaultSeconds * 1000 }: { readonly root: string; readonly toolTimeout?: number | undefined },
): { readonly ok: true; readonly input: ShellInput } | { readonly ok: false; readonly failure: ToolFailure } {
  const { command, cwd = '.', timeout = toolTimeout / 1000, stdin } = input as unknown as WrittenInput
  if (command.trim() === '') return invalid('"command" is empty.', 'Give a command line.')
  if (command.includes('\0')) return invalid('"command" contains a zero byte.', 'Remove it, or write it to a file.')
  const folder = placeIn(root, cwd)?.absolute
  if (folder === undefined) return invalid(`"${cwd}" is not a folder in the workspace.`, `Use a folder in ${root}, or omit "cwd".`)
  // The timeout of the session has other bounds than the schema.
  const timeoutMs = Math.min(Math.max(timeout, 1), mostSeconds) * 1000
  return { ok: true, input: { command, cwd: folder, timeoutMs, stdin } }
}

/** The real path of a folder in the workspace, absolute and relative. */
export function placeIn(root: string, cwd: string): { readonly absolute: string; readonly relative: string } | undefined {
  try {
    const absolute = realpathSync(resolve(root, cwd))
    const real = realpathSync(root)
    return isInside(real, absolute) && statSync(absolute).isDirectory() ? { absolute, relative: relative(real, absolute) } : undefined
  } catch {
    return undefined
  }
}

const invalid = (message: string, remedy: string) => ({ ok: false, failure: { class: 'invalid_input', message, remedy } }) as const
