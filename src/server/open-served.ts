import { resolve } from 'node:path'
import { type Store, TroupeError } from '../contracts/index.ts'
import { checkServedNames, type Drained, openRuntime, type Project, type ProjectReport } from '../project/index.ts'
import type { AgentRuntime } from '../runtime/index.ts'
import type { ServedKernel, ServedWebhooks, ServerOptions, ServesKernel, ServesProject, ServesRuntime } from './server-options.ts'

/** The runtime that a server makes reachable, and what belongs to it. */
export interface Served {
  readonly runtime: AgentRuntime
  readonly store: Store
  /** Absent for the runtime of a program. */
  readonly project?: Project
  readonly kernel?: ServedKernel
  /** For files of the server. */
  readonly folder: string | undefined
  /** Refuses agents that have the name of a route, before anything is applied. */
  check(reserved: ReadonlySet<string>, project?: Project): void
  /** What a changed project becomes before it is applied. */
  extend(project: Project): Promise<Project>
  /** Running turns may continue for a while. Absent for the runtime of a program, which is not closed. */
  drain?(ms: number): Promise<Drained>
  /** Absent without outgoing webhooks. */
  readonly webhooks?: ServedWebhooks | undefined
  /** What was opened here. Can be repeated. */
  close(): Promise<void>
}

export async function openServed(options: ServerOptions): Promise<Served> {
  const { kernel, project, runtime, store, dataDir } = options as Partial<ServesKernel & ServesProject & ServesRuntime>
  if (kernel) return fromKernel(kernel)
  if (project) return fromProject(project, options)
  if (!runtime || !store) throw new TroupeError('internal', 'The options were not checked.')
  return {
    ...{ runtime, store },
    folder: dataDir === undefined ? undefined : resolve(dataDir),
    check: (reserved) => refuseReserved(runtime, reserved),
    extend: async (project) => project,
    async close() {},
  }
}

function fromKernel(kernel: ServedKernel): Served {
  const { project, runtime, store, webhooks } = kernel
  return {
    ...{ kernel, runtime, store, webhooks, ...ofProject(project) },
    extend: (changed) => kernel.extend(changed),
    drain: (ms) => kernel.drain(ms),
    async close() {
      await kernel.close()
    },
  }
}

async function fromProject(given: ProjectReport | Project, { demo }: Pick<ServerOptions, 'demo'>): Promise<Served> {
  const opened = 'open' in given ? await given.open({ serves: true }) : given
  if (opened.options.serves !== true)
    throw new TroupeError('usage', 'The project was not opened for a server.', {
      remedy: 'Open it with `serves: true`, or pass the report.',
    })
  const extend = async (project: Project): Promise<Project> => (demo ? demo.extend(project) : project)
  try {
    const project = await extend(opened)
    const store = await project.openStore()
    const { runtime, webhooks, drain, close } = openRuntime(project, { store, origin: { command: 'serve' } })
    return {
      ...{ runtime, store, webhooks, extend, drain, ...ofProject(project) },
      async close() {
        await close()
        await project.close()
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const ofProject = (project: Project): Pick<Served, 'project' | 'folder' | 'check'> => ({
  ...{ project, folder: project.folder },
  check: (reserved, { agents, served } = project) => checkServedNames(agents, served, reserved),
})

function refuseReserved({ sessions }: AgentRuntime, reserved: ReadonlySet<string>): void {
  const problems = sessions
    .agents()
    .filter(({ name }) => reserved.has(name))
    .map(({ name }) => ({
      place: `agent ${name}`,
      message: `an agent with the name \`${name}\` cannot be served: /v1/${name} is a route`,
      remedy: 'Rename the agent.',
    }))
  if (problems.length > 0) throw new TroupeError('config_invalid', 'Some agents cannot be served.', { problems })
}
