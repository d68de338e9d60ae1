import type { JsonObject } from '../../contracts/index.ts'
import { parseDuration } from '../../util/parse-duration.ts'
import type { Shape, TogetherFault } from './shape.ts'

/** Where in a turn a hook is asked. */
export const hookPoints = ['before_call', 'after_call', 'before_request', 'at_stop'] as const
export type HookPoint = (typeof hookPoints)[number]

const longestMs = 3_600_000
const isTime = (written: string): boolean => {
  const ms = parseDuration(written)
  return ms !== undefined && ms > 0 && ms <= longestMs
}
const literal = (example: string, fault?: (text: string) => string | undefined): Shape => ({
  kind: 'text',
  example,
  isLiteral: true,
  ...(fault && { fault }),
})

const hook: Shape = {
  kind: 'fields',
  of: {
    name: literal('guard'),
    on: { kind: 'list', of: { kind: 'choice', of: hookPoints }, example: '["before_call"]', least: 1 },
    tools: { kind: 'list', of: literal('shell'), example: '["shell", "write_*"]', least: 1 },
    command: { kind: 'list', of: literal('./guard.sh'), example: '["./guard.sh", "--strict"]', least: 1 },
    module: literal('./guard.mjs'),
    onFailure: { kind: 'choice', of: ['closed', 'open'] },
    timeout: literal('30s', (written) => (isTime(written) ? undefined : 'must be a time of at most an hour')),
  },
  required: ['name', 'on', 'onFailure'],
  together: hookFaults,
}

export const hooksShape: Shape = {
  kind: 'list',
  of: hook,
  example: '[{ "name": "guard", "on": ["before_call"], "command": ["./guard.sh"], "onFailure": "closed" }]',
  uniqueBy: 'name',
}

function hookFaults({ on, tools, command, module }: JsonObject): readonly TogetherFault[] {
  const faults: TogetherFault[] = []
  if (command !== undefined && module !== undefined)
    faults.push({ key: 'module', message: 'has both `command` and `module`', remedy: 'Leave one of them out.' })
  if (command === undefined && module === undefined)
    faults.push({ key: 'command', message: 'needs `command` or `module`', remedy: 'Write `"command": ["./guard.sh"]`.' })
  const points: readonly unknown[] = Array.isArray(on) ? on : []
  if (tools !== undefined && points.length > 0 && !points.includes('before_call') && !points.includes('after_call'))
    faults.push({
      key: 'tools',
      message: 'has `tools`, and is not asked about calls',
      remedy: 'Leave it out, or add `"before_call"` to `on`.',
    })
  return faults
}
