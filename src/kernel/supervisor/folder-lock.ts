import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'

const reloadRequest = 'reload\n'

/**
 * One supervisor for a folder. The lock is a socket: the system releases it when its process ends, whatever happens, and another process
 * that has got the same id cannot be mistaken for the owner. In the temporary folder, because paths of sockets are short.
 * `reload`: what `requestReload` of another process asks for.
 */
export async function lockFolder(folder: string, reload: () => Promise<boolean>): Promise<() => void> {
  const path = socketOf(folder)
  const inUse = new TroupeError('usage', 'Another `troupe up` runs in this folder.', { remedy: 'Stop it first, or use another folder.' })
  if (await isAnswered(path)) throw inUse
  await rm(path, { force: true })
  const server = createServer((socket) => answer(socket.unref(), reload)).unref()
  await new Promise<void>((resolve, reject) => {
    // Without a temporary folder, the lease of the kernel in the store has to do.
    server.once('error', ({ code }: NodeJS.ErrnoException) => (code === 'EADDRINUSE' ? reject(inUse) : resolve()))
    server.listen(path, resolve)
  })
  return () => void server.close()
}

/** Restarts the kernel of a folder. `undefined`: it has no supervisor. `false`: it did not start again. */
export function requestReload(folder: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    let answered: boolean | undefined
    const socket = connect(socketOf(folder), () => {
      answered = false
      socket.write(reloadRequest)
    })
    socket.on('data', (data) => {
      answered = data.toString().startsWith('ready')
    })
    socket.once('error', () => resolve(answered))
    socket.once('close', () => resolve(answered))
  })
}

function answer(socket: Socket, reload: () => Promise<boolean>): void {
  socket.on('error', () => socket.destroy())
  socket.once('data', (data) => {
    if (data.toString() !== reloadRequest) socket.destroy()
    else void reload().then((isReady) => socket.end(isReady ? 'ready\n' : 'failed\n'))
  })
}

function socketOf(folder: string): string {
  const name = `troupe-${shortHash(folder)}`
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
