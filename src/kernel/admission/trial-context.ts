import type { AgentResult, ExtensionContext, ScheduledTask } from '../../contracts/index.ts'
import type { OpenableExtension } from '../process/extension-sandbox.ts'

const nobody: AgentResult = { status: 'completed', content: '' }

/** A context for a trial: everything is accepted, and nothing happens. */
export function trialContext(
  { id, folder, manifest }: OpenableExtension,
  place: { readonly dataDir: string; readonly workspace: string; readonly now: number },
): ExtensionContext {
  const none = (): never => {
    throw new Error('not in a trial')
  }
  return {
    id,
    folder,
    config: manifest.config,
    dataDir: place.dataDir,
    workspace: place.workspace,
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    resolvedTools: [],
    schedules: {
      add: async (task): Promise<ScheduledTask> => ({ id: 'trial', kind: 'task', ...task, nextAt: place.now }),
      list: async () => [],
      cancel: async () => false,
    },
    now: () => place.now,
    startAgent: async () => nobody,
    invokeAgent: async () => nobody,
    onUserMessage: async () => {},
    notifyUser: async () => {},
    subscribe: () => () => {},
    publish: async () => {},
    secret: none,
    builtinTools: none,
    getExtension: none,
    requestRestart: async () => none(),
    requestShutdown: async () => none(),
  }
}
