import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import type { Problem } from '../../src/contracts/index.ts'
import { loadConfig, loadRegistry, nodeConfigFileSystem, type Registry, type RegistryOptions } from '../../src/project/index.ts'

/** A project on disk, gone after the tests. */
export interface Folder {
  readonly path: string
  write(files: { readonly [name: string]: string | Uint8Array | object }): void
  /** Loads agents as the command line does, with nothing of the machine. */
  load(roots: string | readonly string[], more?: Partial<RegistryOptions>): Promise<Registry>
}

const made: string[] = []
// Here, where the file is loaded: what a test registers while it runs is not called any more.
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

export function folder(files: { readonly [name: string]: string | Uint8Array | object } = {}): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-agents-')))
  made.push(path)
  const write: Folder['write'] = (more) => {
    for (const [name, content] of Object.entries(more)) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content))
    }
  }
  write(files)
  return {
    path,
    write,
    async load(roots, more = {}) {
      const config = await loadConfig({
        places: { workingDirectory: path, userFolder: join(path, '.user'), systemFolder: join(path, '.system') },
        files: nodeConfigFileSystem,
        trusted: typeof more.trusted === 'object' ? more.trusted : new Map(),
      })
      return loadRegistry({
        roots: typeof roots === 'string' ? [roots] : roots,
        scope: 'reachable',
        workingDirectory: path,
        config,
        environment: {},
        trusted: new Map(),
        ...more,
      })
    },
  }
}

/** An agent that others may call. */
export const child = (settings = '', prompt = 'Do it.'): string =>
  `---\ndescription: A test\nusage: anything\nmodels: a/b\noutput: { format: text }\n${settings}${settings === '' ? '' : '\n'}---\n${prompt}\n`

export const told = (problems: readonly Problem[]): readonly string[] => problems.map(({ place, message }) => `${place} ${message}`)

export function problemsOf(registry: Registry): readonly string[] {
  if (registry.ok) throw new Error('the agents are taken as right')
  return told(registry.problems)
}

export function agentsOf(registry: Registry): Extract<Registry, { readonly ok: true }>['agents'] {
  if (!registry.ok) throw new Error(JSON.stringify(registry.problems, null, 2))
  return registry.agents
}
