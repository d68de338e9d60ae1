import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createKernel, type ProjectKernel } from '../../src/kernel/index.ts'
import { loadProject } from '../../src/project/index.ts'
import type { AccessEntry } from '../../src/server/http/index.ts'
import { createServer, type Server, type ServerOptions } from '../../src/server/index.ts'

// A kernel behind a real server on loopback, with extensions on the disk. Models rehearse.

export interface ServedKernelScene {
  readonly folder: string
  readonly kernel: ProjectKernel
  readonly server: Server
  readonly url: string
  /** What the server and the kernel have said. */
  readonly log: string[]
  readonly access: AccessEntry[]
  fetch(path: string, init?: RequestInit): Promise<Response>
}

export interface ServedKernelFiles {
  /** The code of trusted extensions, by id: `export class Main { … }`. */
  readonly extensions: { readonly [id: string]: string }
  /** What their manifests have besides. */
  readonly manifests?: { readonly [id: string]: string }
  /** The configuration of the person. Default: models rehearse. */
  readonly config?: object
  readonly files?: { readonly [path: string]: string }
  readonly env?: { readonly [name: string]: string }
  readonly server?: Partial<Pick<ServerOptions, 'settings' | 'basePath' | 'reloads'>>
  /** Continue in this folder. */
  readonly folder?: string
}

export function kernelFolder({ extensions, manifests = {}, config = {}, files = {} }: ServedKernelFiles): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-served-kernel-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  put('.ai-agent/.ai-agent.json', JSON.stringify({ defaults: { models: 'rehearsal' }, ...config }))
  for (const [id, code] of Object.entries(extensions)) {
    const manifest = `id: ${id}\nname: ${id}\nversion: "1"\ndescription: test\nentrypoint: main:Main\n${manifests[id] ?? ''}`
    put(`.ai-agent/extensions/${id}/manifest.yaml`, manifest)
    put(`.ai-agent/extensions/${id}/main.js`, code)
  }
  for (const [path, text] of Object.entries(files)) put(path, text)
  return folder
}

export async function servedKernel(given: ServedKernelFiles): Promise<ServedKernelScene> {
  const folder = given.folder ?? kernelFolder(given)
  const [log, access]: [string[], AccessEntry[]] = [[], []]
  const say = (text: string): void => void log.push(text)
  const project = await loadProject({ cwd: folder, env: { HOME: folder, PATH: process.env.PATH, ...given.env } })
  const failure = (error: unknown): void => say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  const kernel = await createKernel({ project, log: { debug: say, note: say, warn: say, failure } })
  const server = await createServer({
    ...{ kernel, reloads: false, log: { note: say, warn: say, failure, access: (entry) => void access.push(entry) } },
    ...given.server,
  })
  onTestFinished(async () => void (await server.close({ drain: 0 })))
  const { url } = await server.listen({ port: 0 })
  await kernel.start()
  return { folder, kernel, server, url, log, access, fetch: (path, init) => fetch(`${url}${path}`, init) }
}
