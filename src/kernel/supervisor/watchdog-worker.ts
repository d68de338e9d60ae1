// A thread of the kernel process. It works while the main thread is blocked.
// 1. If the main thread does not tick, it reads its stack and records whose code runs. When the main thread ticks again, the record is
//    removed: the supervisor finds it only if it had to kill the process, or if the process died on the way, such as out of memory.
// 2. If the supervisor has died and the kernel does not end by itself, it ends the process with everything in its group.
import { Session } from 'node:inspector'
import { parentPort, workerData } from 'node:worker_threads'
import { removeCrashFile, writeCrashFile } from './crash-files.ts'
import { type ExtensionFolder, findSuspect } from './find-suspect.ts'

export interface WatchdogSetup {
  readonly folder: string
  /** One number, which the main thread increments. */
  readonly ticks: Int32Array
  readonly beatMs: number
  readonly captureMs: number
  /** The supervisor. */
  readonly parent: number
  readonly leader: number
}

/** For a clean stop after the supervisor has died. */
const orphanMs = 3_000

const { folder, ticks, beatMs, captureMs, parent, leader } = workerData as WatchdogSetup
let folders: readonly ExtensionFolder[] = []
let [seen, quietMs, orphanedMs] = [-1, 0, 0]

parentPort?.on('message', (loaded: readonly ExtensionFolder[]) => {
  folders = loaded
})

setInterval(() => {
  if (process.ppid !== parent) orphanedMs += beatMs
  if (orphanedMs > orphanMs) killGroup()
  const current = Atomics.load(ticks, 0)
  const wasCaptured = quietMs >= captureMs
  quietMs = current === seen ? quietMs + beatMs : 0
  seen = current
  if (quietMs >= captureMs && !wasCaptured) captureStack()
  if (quietMs === 0 && wasCaptured) removeCrashFile(folder, 'blocked')
}, beatMs)

/** In a loop of microtasks, the stack is often that of Node alone. */
const maxSteps = 200

/**
 * Stops the main thread for a moment, and goes on in steps until code of an extension runs. A blocking call outside of JavaScript cannot be
 * stopped: then there is no stack, and no record.
 */
function captureStack(): void {
  const session = new Session()
  const scripts = new Map<string, string>()
  let [steps, functionName] = [0, '']
  let isCode = false
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', ({ params }) => void scripts.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const files = callFrames.map(({ location }) => scripts.get(location.scriptId) ?? '')
    const extension = findSuspect(files, folders)
    isCode ||= files.some((file) => file !== '' && !file.startsWith('node:'))
    const name = callFrames.find((frame) => frame.functionName !== '')?.functionName ?? ''
    if (steps === 0 || extension !== undefined) functionName = name
    if (extension === undefined && quietMs > 0 && ++steps < maxSteps) return session.post('Debugger.stepInto')
    const reason = `it blocked the event loop in ${functionName || 'code'}`
    if (quietMs > 0 && isCode) writeCrashFile(folder, 'blocked', { reason, ...(extension !== undefined && { extension }) })
    session.post('Debugger.resume')
    session.disconnect()
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

function killGroup(): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    process.kill(leader, 'SIGKILL')
  }
}
