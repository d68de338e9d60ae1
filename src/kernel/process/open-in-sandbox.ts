import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Clock, TroupeError } from '../../contracts/index.ts'
import type { RunningCommand } from '../../tools/sandbox/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { entryFile } from '../manifest/entry-file.ts'
import { extensionError } from '../shared/extension-failure.ts'
import type { OpenExtension } from '../shared/kernel-types.ts'
import { list, oneOf, text } from '../shared/value-shapes.ts'
import { ContextRequests } from './context-requests.ts'
import { ExtensionProcess } from './extension-process.ts'
import type { ExtensionSandbox, OpenableExtension } from './extension-sandbox.ts'
import { heapMegabytes, loadMs } from './process-limits.ts'
import { type CallOwner, remoteInstance } from './remote-instance.ts'
import { type ExtensionMethod, extensionMethods, inputDescriptor, outputDescriptor } from './runner/wire.ts'

interface OpenInSandboxOptions {
  readonly sandbox: Pick<ExtensionSandbox, 'start'>
  readonly clock: Clock
  /** The folder that an extension may write to. */
  dataDir(id: string): string
}

/** Runs extensions that are not trusted, each in a sandboxed process. */
export function openInSandbox(options: OpenInSandboxOptions): OpenExtension {
  return async (found) => {
    const { manifest } = found
    if (!manifest.entrypoint) return { runs: 'sandbox', instance: {}, close: async () => {} }
    const entry = entryFile(found.folder, manifest.entrypoint)
    const running = await startRunner(found, { ...options, entry, className: manifest.entrypoint.className })
    const opened = Promise.withResolvers<ReadonlySet<ExtensionMethod>>()
    const requests = new ContextRequests((params, deadlineMs) => connection.call('event', params, { deadlineMs }), options.clock)
    const connection = new ExtensionProcess<CallOwner>(running, {
      clock: options.clock,
      events: {
        request: (...given) => requests.request(...given),
        notification(method, params, owner) {
          if (method === 'hello') opened.resolve(new Set(list(oneOf(extensionMethods))(params.implements, 'hello')))
          else if (method === 'failed') connection.fail(`it cannot be loaded: ${text(8_000)(params.message, 'failed')}`)
          else requests.notification(method, params, owner)
        },
      },
    })
    const cancel = options.clock.after(loadMs, () => connection.fail(`it did not load within ${loadMs} ms`))
    let isClosing = false
    const ended = Promise.withResolvers<string>()
    void connection.ended.then((reason) => {
      requests.close()
      opened.reject(extensionError(entry, reason, 'Fix the file.'))
      if (!isClosing) ended.resolve(reason)
    })
    const implemented = await opened.promise.finally(cancel)
    return {
      runs: 'sandbox',
      instance: remoteInstance({ process: connection, manifest, implemented, connect: (context) => requests.connect(context) }),
      ended: ended.promise,
      async close() {
        isClosing = true
        requests.close()
        await connection.close()
      },
    }
  }
}

interface RunnerStart extends OpenInSandboxOptions {
  readonly entry: string
  readonly className: string
}

async function startRunner(found: OpenableExtension, { sandbox, dataDir, entry, className }: RunnerStart): Promise<RunningCommand> {
  const flags = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON']
  const node = [process.execPath, ...flags, `--max-old-space-size=${heapMegabytes}`, runner.file, entry, className]
  const started = await sandbox
    .start(found, { argv: ['/bin/sh', '-c', withOwnDescriptors, 'sh', ...node], dataDir: dataDir(found.id), readable: [runner.folder] })
    .catch((error: unknown) => {
      if (error instanceof TroupeError) throw error
      throw extensionError(found.folder, `its process could not be started: ${messageOf(error)}`, 'Check its files and its data folder.')
    })
  if (started.ok) return started.running
  const { message, remedy } = started.failure
  const trust = `Or trust it: troupe extensions trust ${found.id}`
  throw extensionError(
    found.folder,
    `it is not trusted, and the sandbox cannot be used: ${message}`,
    [remedy, trust].filter(Boolean).join(' '),
  )
}

/** What the code prints must not become a message, and what it reads must not be one. */
const withOwnDescriptors = `exec "$@" ${outputDescriptor}>&1 1>&2 ${inputDescriptor}<&0 0</dev/null`

const runner = runnerFile()

/** As source beside this file, or compiled into one file. */
function runnerFile(): { readonly file: string; readonly folder: string } {
  const isSource = extname(fileURLToPath(import.meta.url)) === '.ts'
  const name = isSource ? './runner/extension-runner.ts' : '../parts/extension-runner.mjs'
  const file = fileURLToPath(new URL(name, import.meta.url))
  return { file, folder: isSource ? dirname(file) : file }
}
