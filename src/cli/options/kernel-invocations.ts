import { type EventsAction, eventsActions, type KernelCommandName } from './kernel-command-specs.ts'
import type { Common, ProjectArguments } from './project-invocations.ts'

/** Values are as written; `kernel/` parses them. */
export interface EventsInvocation extends Common {
  readonly kind: 'events'
  readonly action: EventsAction
  readonly id?: string | undefined
  readonly isDead: boolean
  readonly isAll: boolean
  readonly name?: string | undefined
  readonly limit?: string | undefined
  readonly dataDir?: string | undefined
}
export type KernelInvocation = EventsInvocation

export function kernelInvocation(name: KernelCommandName, { rest, display, has, flagValue }: ProjectArguments): KernelInvocation {
  const common: Common = { output: has('json') ? 'json' : 'answer', display, configFile: flagValue('config') }
  switch (name) {
    case 'events': {
      const [action, id] = rest
      return {
        kind: name,
        action: eventsActions.find((known) => known === action) ?? 'list',
        id,
        isDead: has('dead'),
        isAll: has('all'),
        name: flagValue('name'),
        limit: flagValue('limit'),
        dataDir: flagValue('data-dir'),
        ...common,
      }
    }
    default:
      return name satisfies never
  }
}
