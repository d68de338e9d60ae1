import type { ExtensionProblem, MaybePromise } from '../../contracts/index.ts'
import { scheduledResult } from '../shared/answer-shapes.ts'
import { problemsOf } from '../shared/extension-failure.ts'
import { optional } from '../shared/value-shapes.ts'
import { superviseService } from './background-service.ts'
import type { ExtensionCalls } from './extension-calls.ts'
import type { KernelPorts } from './extension-context.ts'
import type { ManagedExtension } from './managed-extension.ts'

interface Connection {
  readonly ports: KernelPorts
  readonly calls: ExtensionCalls
  report(problems: readonly ExtensionProblem[]): void
}

/** Connects a started extension: its channel, its schedules, its service. `undo` of the extension ends it. */
export async function connectExtension(each: ManagedExtension, { ports, calls, report }: Connection): Promise<void> {
  const { id, capabilities, instance, undo } = each
  const { clock, router, scheduler } = ports
  if (each.opened?.runs === 'kernel') undo.push(() => each.context?.closeRoutes())
  // `initialize` may have decided that it is none here.
  if (instance.sendToUser)
    undo.push(
      router.register(id, {
        sendToUser: (user, message) => calls.call(each, 'sendToUser', () => instance.sendToUser?.(user, message)),
        ...(instance.streamToUser && {
          streamToUser: (user, piece) => calls.call(each, 'streamToUser', () => instance.streamToUser?.(user, piece)),
        }),
        ...(instance.showProgress && {
          showProgress: (user, progress) => calls.call(each, 'showProgress', () => instance.showProgress?.(user, progress)),
        }),
        ...(instance.closeRequest && {
          closeRequest: (user, closed) => calls.call(each, 'closeRequest', () => instance.closeRequest?.(user, closed)),
        }),
        ...(instance.readFile && {
          // The router has the deadline.
          readFile: (file, signal) => calls.enter(each, 'readFile', () => instance.readFile?.(file, signal)) as MaybePromise<Uint8Array>,
        }),
        ...(instance.limitsOf && {
          limitsOf: (person) => calls.call(each, 'limitsOf', () => instance.limitsOf?.(person)),
        }),
      }),
    )
  for (const { id: name, task, ...schedule } of each.found.manifest?.schedules ?? [])
    undo.push(scheduler.register(`${id}:${name}`, schedule, (_at, run) => router.task({ text: task, from: id, id: run })))
  if (capabilities.has('scheduler')) {
    const schedule = await calls.call(each, 'getSchedule', () => instance.getSchedule?.())
    const execute = (_at: number, run: string): Promise<void> => runScheduled(each, run, { ports, calls })
    undo.push(scheduler.register(id, typeof schedule === 'object' ? schedule : { cron: schedule ?? '' }, execute))
  }
  if (capabilities.has('service'))
    undo.push(
      superviseService({
        clock,
        run: async (signal) => calls.enter(each, 'runBackground', () => instance.runBackground?.(signal)),
        onFailure: (error, delayMs) => report(problemsOf(each.found, `the service (started again in ${delayMs / 1000} s)`, error)),
      }),
    )
}

/** Without a deadline: it may run an agent. */
async function runScheduled(each: ManagedExtension, run: string, { ports, calls }: Omit<Connection, 'report'>): Promise<void> {
  const result = optional(scheduledResult)(await calls.enter(each, 'execute', () => each.instance.execute?.()), 'the result of `execute`')
  if (result) await ports.router.notify({ ...result, speaker: each.id, id: run })
}
