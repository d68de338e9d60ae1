import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'

/**
 * One supervisor for a folder. The lock is a socket: the system releases it when its process ends, whatever happens, and another process
 * that has got the same id cannot be mistaken for the owner. In the temporary folder, because paths of sockets are short.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\troupe-${shortHash(folder)}` : join(tmpdir(), `troupe-${shortHash(folder)}.sock`)
  const server = createServer((socket) => socket.destroy())
  if (!(await listens(server, path))) {
    if (await answers(path)) throw inUse()
    await rm(path, { force: true })
    if (!(await listens(server, path))) throw inUse()
  }
  server.unref()
  return async () => {
    server.close()
    await once(server, 'close')
  }
}

const inUse = (): TroupeError =>
  new TroupeError('usage', 'Another `troupe up` runs in this folder.', { remedy: 'Stop it first, or use another folder.' })

function listens(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error))
    server.once('error', fail)
    server.listen(path, () => {
      server.off('error', fail)
      resolve(true)
    })
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
