import type { DisplayOptions } from '../terminal/display-options.ts'
import type { ProjectArguments } from './project-invocations.ts'

export interface ChatInvocation {
  readonly kind: 'chat'
  /** A file, or the name of an agent of the project. */
  readonly agent?: string | undefined
  readonly display: DisplayOptions
  readonly models: readonly string[]
  /** The last session of this folder. */
  readonly continues: boolean
  readonly resume?: string | undefined
  /** The address of a server. */
  readonly connect?: string | undefined
  readonly isPlain: boolean
  readonly dataDir?: string | undefined
  readonly configFile?: string | undefined
  readonly isTrusted: boolean
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export function chatInvocation({ rest, display, has, flagValue, flagValues }: ProjectArguments): ChatInvocation {
  const model = flagValue('model')
  return {
    kind: 'chat',
    agent: rest[0],
    display,
    models: model === undefined ? [] : [model],
    continues: has('continue'),
    resume: flagValue('resume'),
    connect: flagValue('connect'),
    isPlain: has('plain'),
    dataDir: flagValue('data-dir'),
    configFile: flagValue('config'),
    isTrusted: has('trust'),
    allow: flagValues('allow').map((pattern) => pattern.trim()),
    deny: flagValues('deny').map((pattern) => pattern.trim()),
  }
}
