import {
  type EventsAction,
  type ExtensionsAction,
  eventsActions,
  extensionsActions,
  type KernelCommandName,
  type SchedulesAction,
  schedulesActions,
} from './kernel-command-specs.ts'
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
export interface ExtensionsInvocation extends Common {
  readonly kind: 'extensions'
  readonly action: ExtensionsAction
  readonly ids: readonly string[]
  readonly template?: string | undefined
  /** `setup --set`: `NAME=VALUE`. */
  readonly set: readonly string[]
  /** `setup --secrets`: standard input has secrets. */
  readonly readsSecrets: boolean
  /** `trust --sandboxed`: gives permissions only. */
  readonly isSandboxed: boolean
  readonly dataDir?: string | undefined
}
export interface SchedulesInvocation extends Common {
  readonly kind: 'schedules'
  readonly action: SchedulesAction
  readonly ids: readonly string[]
  readonly dataDir?: string | undefined
}
export type KernelInvocation = EventsInvocation | ExtensionsInvocation | SchedulesInvocation

export function kernelInvocation(
  name: KernelCommandName,
  { rest, display, has, flagValue, flagValues }: ProjectArguments,
): KernelInvocation {
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
    case 'extensions': {
      const [action, ...ids] = rest
      return {
        kind: name,
        action: extensionsActions.find((known) => known === action) ?? 'list',
        ids,
        template: flagValue('kind'),
        set: flagValues('set'),
        readsSecrets: has('secrets'),
        isSandboxed: has('sandboxed'),
        dataDir: flagValue('data-dir'),
        ...common,
      }
    }
    case 'schedules': {
      const [action, ...ids] = rest
      const known = schedulesActions.find((each) => each === action) ?? 'list'
      return { kind: name, action: known, ids, dataDir: flagValue('data-dir'), ...common }
    }
    default:
      return name satisfies never
  }
}
